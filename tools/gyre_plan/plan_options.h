// SPDX-License-Identifier: Apache-2.0
// Which plan a subcommand is about: one of the catalog by name, or a file.
#pragma once

#include <functional>
#include <string>

#include "base/status.h"
#include "collectives/catalog.h"

namespace CLI {  // NOLINT(readability-identifier-naming): as CLI11 names it
class App;
}

namespace gyre::tool {

struct PlanOptions {
  plan::Collective collective = plan::Collective::all_reduce;
  plan::Algorithm algorithm = plan::Algorithm::one_shot;
  plan::Protocol protocol = plan::Protocol::staged;
  int ranks = 4;
  int root = 0;                    // of collectives that have one
  plan::Hierarchy hierarchy = {};  // of hierarchical plans
  std::string file;                // instead of all that
};

// --collective, --ranks, --root; --levels, --inside, --across; and with all these, --algorithm,
// --protocol, --file.
void add_collective_options(CLI::App& command, PlanOptions& options);
void add_hierarchy_options(CLI::App& command, PlanOptions& options);
void add_plan_options(CLI::App& command, PlanOptions& options);

// What is in the catalog by that name.
[[nodiscard]] Result<plan::Recipe> recipe_of(const PlanOptions& options);
[[nodiscard]] Result<plan::Plan> load_plan(const PlanOptions& options);
// Of one word: a file, or "ring" or "ring/direct", for which `options` says the rest.
[[nodiscard]] Result<plan::Plan> load_named_plan(const std::string& name, PlanOptions options);

// Makes `body` what the subcommand does. A failure is printed; gyre-plan then exits with 1.
void set_body(CLI::App& command, std::function<Status()> body);

}  // namespace gyre::tool
