// SPDX-License-Identifier: Apache-2.0
// gyre-plan print: a plan as text, or as JSON.
#include <memory>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "collectives/plan_json.h"
#include "collectives/text.h"
#include "gyre_plan/commands.h"
#include "gyre_plan/plan_options.h"

namespace gyre::tool {

void add_print_command(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("print", "A plan, step by step");
  const auto options = std::make_shared<PlanOptions>();
  const auto json = std::make_shared<bool>(false);
  add_plan_options(*command, *options);
  command->add_flag("--json", *json, "As JSON, for GYRE_PLAN_FILE and for --file");
  set_body(*command, [options, json]() -> Status {
    const auto plan = load_plan(*options);
    if (!plan) return Unexpected(plan.error());
    fmt::print("{}", *json ? plan::to_json(*plan) : plan::to_text(*plan));
    return {};
  });
}

}  // namespace gyre::tool
