// SPDX-License-Identifier: Apache-2.0
// gyre-plan simulate: a plan run by the executor on a simulated network, with failures if asked for.
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "gyre_plan/commands.h"
#include "gyre_plan/network_options.h"
#include "gyre_plan/plan_options.h"
#include "gyre_plan/run_report.h"
#include "simulation/experiment.h"

namespace gyre::tool {
namespace {

using simulation::Injection;
using simulation::Topology;

struct SimulateCommand {
  PlanOptions plan;
  NetworkOptions network;
  std::string topology = "star";
  std::vector<std::string> links, hosts;
  double notice_us = 1000;
  bool json = false;
};

// "17@250": rank 17, after 250 us.
Status add_injections(const std::vector<std::string>& texts, Injection::What what,
                      std::vector<Injection>& to) {
  for (const std::string& text : texts) {
    int rank = 0;
    double microseconds = 0;
    char rest = 0;
    if (std::sscanf(text.c_str(), "%d@%lf%c", &rank, &microseconds, &rest) != 2 ||
        microseconds < 0) {
      return fail(Code::invalid_argument,
                  fmt::format("\"{}\" names no failure: 17@250 is rank 17 after 250 us.", text));
    }
    to.push_back({what, rank, microseconds * 1e-6});
  }
  return {};
}

Status run_simulation(const SimulateCommand& options) {
  const auto subject = load_subject(options.plan);
  if (!subject) return Unexpected(subject.error());
  const auto network = parse(options.network);
  if (!network) return Unexpected(network.error());
  simulation::Experiment experiment{
      .plan = subject->description,
      .program_of = subject->program_of,
      .bytes = network->bytes,
      .slot_bytes = network->workload.slot_bytes,
      .channels = network->workload.channels,
      .slots = network->workload.slots,
      .topology = options.topology == "star" ? Topology::star : Topology::fat_tree,
      .bandwidth = 1 / network->link.per_byte,
      .latency = network->link.latency,
      .overhead = network->link.overhead,
      .reduce_per_byte = network->link.reduce_per_byte,
      .injections = {},
      .notice = options.notice_us * 1e-6};
  GYRE_TRY(add_injections(options.links, Injection::What::link, experiment.injections));
  GYRE_TRY(add_injections(options.hosts, Injection::What::host, experiment.injections));
  const auto result = simulation::simulate(experiment);
  if (!result) return Unexpected(result.error());
  RunReport report{.command = "simulate",
                   .topology = options.topology,
                   .seconds = result->seconds,
                   .rank_seconds = {},
                   .messages = result->messages,
                   .bytes = result->bytes};
  for (const simulation::RankReport& rank : result->ranks) {
    report.rank_seconds.push_back(rank.seconds);
    report.errors.push_back(rank.error);
  }
  print_report(report, *subject, *network, options.json);
  return {};
}

}  // namespace

void add_simulate_command(CLI::App& app) {
  CLI::App* const command = app.add_subcommand(
      "simulate", "Runs a plan on a simulated network, and checks what it computes");
  const auto options = std::make_shared<SimulateCommand>();
  add_plan_options(*command, options->plan);
  add_network_options(*command, options->network);
  command->add_option("--topology", options->topology, "Of the network")
      ->check(CLI::IsMember({"star", "fattree"}))
      ->capture_default_str();
  command->add_option("--fail-link", options->links,
                      "RANK@US: the link of a rank to its switch breaks after so many us");
  command->add_option("--fail-host", options->hosts, "RANK@US: the host of a rank dies");
  command->add_option("--notice", options->notice_us, "us until all ranks hear of a failure")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_flag("--json", options->json, "One line of JSON");
  set_body(*command, [options] { return run_simulation(*options); });
}

}  // namespace gyre::tool
