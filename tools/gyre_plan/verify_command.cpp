// SPDX-License-Identifier: Apache-2.0
// gyre-plan verify: whether a plan is right, and if not, why.
#include "collectives/verifier.h"

#include <memory>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "collectives/algorithm.h"
#include "gyre_plan/commands.h"
#include "gyre_plan/plan_options.h"

namespace gyre::tool {
namespace {

struct VerifyCommand {
  PlanOptions plan;
  plan::VerifyOptions verify;
};

Status verify(const VerifyCommand& options) {
  const auto plan = load_plan(options.plan);
  if (!plan) return Unexpected(plan.error());
  GYRE_TRY(plan::verify(*plan, options.verify));
  fmt::print("{} {} for {} ranks is right: {} tiles, {} slots\n", plan::name_of(plan->collective),
             plan::title(*plan), plan->ranks, options.verify.tiles,
             options.verify.slots == 0 ? plan->slots : options.verify.slots);
  return {};
}

}  // namespace

void add_verify_command(CLI::App& app) {
  CLI::App* const command =
      app.add_subcommand("verify", "Proves a plan right, or says what is wrong with it");
  const auto options = std::make_shared<VerifyCommand>();
  add_plan_options(*command, options->plan);
  command->add_option("--tiles", options->verify.tiles, "Runs of the program, one behind the other")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command
      ->add_option("--slots", options->verify.slots, "Slots of each FIFO; 0: as many as it needs")
      ->check(CLI::Range(0, 65536))
      ->capture_default_str();
  set_body(*command, [options] { return verify(*options); });
}

}  // namespace gyre::tool
