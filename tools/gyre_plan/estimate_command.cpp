// SPDX-License-Identifier: Apache-2.0
// gyre-plan estimate: how long a plan takes on a network of links that are all alike.
#include <memory>

#include <CLI/CLI.hpp>

#include "collectives/estimate.h"
#include "gyre_plan/commands.h"
#include "gyre_plan/network_options.h"
#include "gyre_plan/plan_options.h"
#include "gyre_plan/run_report.h"

namespace gyre::tool {
namespace {

struct EstimateCommand {
  PlanOptions plan;
  NetworkOptions network;
  bool json = false;
};

Status run_estimate(const EstimateCommand& options) {
  const auto subject = load_subject(options.plan);
  if (!subject) return Unexpected(subject.error());
  const auto network = parse(options.network);
  if (!network) return Unexpected(network.error());
  const auto result = plan::estimate(subject->description, subject->program_of,
                                     {.classes = {network->link}}, network->workload);
  if (!result) return Unexpected(result.error());
  print_report({.command = "estimate",
                .topology = "none",
                .seconds = result->seconds,
                .rank_seconds = result->rank_seconds,
                .messages = result->messages,
                .bytes = result->bytes},
               *subject, *network, options.json);
  return {};
}

}  // namespace

void add_estimate_command(CLI::App& app) {
  CLI::App* const command =
      app.add_subcommand("estimate", "How long a plan takes, without running it");
  const auto options = std::make_shared<EstimateCommand>();
  add_plan_options(*command, options->plan);
  add_network_options(*command, options->network);
  command->add_flag("--json", options->json, "One line of JSON");
  set_body(*command, [options] { return run_estimate(*options); });
}

}  // namespace gyre::tool
