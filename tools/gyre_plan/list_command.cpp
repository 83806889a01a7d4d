// SPDX-License-Identifier: Apache-2.0
// gyre-plan list: what can be built, by collective.
#include <memory>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "collectives/layout.h"
#include "gyre_plan/commands.h"
#include "gyre_plan/plan_options.h"

namespace gyre::tool {
namespace {

Status list(int ranks) {
  fmt::print("{:<14} {:<12} {:<8} {:>7} {:>6} {:>9} {}\n", "collective", "algorithm", "protocol",
             "blocks", "slots", "in place", "root");
  for (const plan::Collective collective : plan::all_collectives) {
    for (const plan::Recipe& recipe : plan::recipes(collective, ranks)) {
      const plan::Plan plan = plan::describe(recipe);
      fmt::print("{:<14} {:<12} {:<8} {:>7} {:>6} {:>9} {}\n", plan::name_of(collective),
                 plan::name_of(recipe.algorithm), plan::name_of(recipe.protocol), plan.blocks,
                 plan.slots, plan.in_place_safe ? "yes" : "no",
                 plan::has_root(collective) ? "any" : "-");
    }
  }
  return {};
}

}  // namespace

void add_list_command(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("list", "Every plan that can be built");
  const auto ranks = std::make_shared<int>(4);
  command->add_option("-n,--ranks", *ranks, "Number of ranks")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  set_body(*command, [ranks] { return list(*ranks); });
}

}  // namespace gyre::tool
