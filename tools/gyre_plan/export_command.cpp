// SPDX-License-Identifier: Apache-2.0
// gyre-plan export: a plan for other simulators, as GOAL or as a Chakra execution trace.
#include <fstream>
#include <iostream>
#include <memory>
#include <string>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "collectives/layout.h"
#include "gyre_plan/commands.h"
#include "gyre_plan/exports.h"
#include "gyre_plan/network_options.h"
#include "gyre_plan/operations.h"
#include "gyre_plan/plan_options.h"

namespace gyre::tool {
namespace {

struct ExportCommand {
  PlanOptions plan;
  NetworkOptions workload;
  std::string format = "goal";
  std::string output;
};

Unrolling unrolling_of(const plan::Plan& plan, const plan::Workload& work) {
  const bool sectioned = plan::layout_of(plan.collective).sectioned;
  return {
      .geometry = plan::Geometry({.count = work.count,
                                  .element_bytes = work.element_bytes,
                                  .blocks = sectioned ? 1 : static_cast<std::uint64_t>(plan.blocks),
                                  .slot_bytes = work.slot_bytes,
                                  .channels = static_cast<std::uint64_t>(work.channels)}),
      .element_bytes = work.element_bytes,
      .channels = work.channels,
      .slots = std::max(work.slots, plan.slots)};
}

Status failed_to_write(const std::string& name) {
  return fail(Code::system_error, fmt::format("Cannot write \"{}\".", name));
}

using EachRank = std::function<Status(int rank, std::span<const Operation> operations)>;

Status for_each_rank(const Subject& subject, const Unrolling& how, const EachRank& write) {
  for (int rank = 0; rank < subject.description.ranks; ++rank) {
    const auto operations = unroll(subject.description, subject.program_of(rank), how);
    if (!operations) return Unexpected(operations.error());
    GYRE_TRY(write(rank, *operations));
  }
  return {};
}

Status export_goal(const Subject& subject, const Unrolling& how, double per_byte,
                   const std::string& output) {
  std::ofstream file;
  if (!output.empty()) file.open(output);
  std::ostream& to = output.empty() ? std::cout : file;
  write_goal_heading(to, subject.description.ranks);
  GYRE_TRY(for_each_rank(subject, how, [&](int rank, std::span<const Operation> operations) {
    write_goal_rank(to, rank, operations, per_byte);
    return Status();
  }));
  return to.flush() ? Status() : failed_to_write(output);
}

// One file for each rank: OUTPUT.0.et, OUTPUT.1.et, ...
Status export_chakra(const Subject& subject, const Unrolling& how, double per_byte,
                     const std::string& output) {
  return for_each_rank(subject, how, [&](int rank, std::span<const Operation> operations) {
    const std::string name = fmt::format("{}.{}.et", output, rank);
    std::ofstream to(name, std::ios::binary);
    write_chakra_rank(to, rank, operations, per_byte);
    return to.flush() ? Status() : failed_to_write(name);
  });
}

Status run_export(const ExportCommand& options) {
  const auto subject = load_subject(options.plan);
  if (!subject) return Unexpected(subject.error());
  const auto network = parse(options.workload);
  if (!network) return Unexpected(network.error());
  const Unrolling how = unrolling_of(subject->description, network->workload);
  const double per_byte = network->link.reduce_per_byte;
  if (options.format == "goal") return export_goal(*subject, how, per_byte, options.output);
  if (options.output.empty()) {
    return fail(Code::invalid_argument,
                "A Chakra trace is one file for each rank: --output says how their names begin.");
  }
  return export_chakra(*subject, how, per_byte, options.output);
}

}  // namespace

void add_export_command(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("export", "A plan for other simulators");
  const auto options = std::make_shared<ExportCommand>();
  add_plan_options(*command, options->plan);
  add_workload_options(*command, options->workload);
  command->add_option("--format", options->format, "goal (LogGOPSim) or chakra (ASTRA-sim)")
      ->check(CLI::IsMember({"goal", "chakra"}))
      ->capture_default_str();
  command->add_option("-o,--output", options->output,
                      "File of the schedule; of a Chakra trace, what its files' names begin with");
  set_body(*command, [options] { return run_export(*options); });
}

}  // namespace gyre::tool
