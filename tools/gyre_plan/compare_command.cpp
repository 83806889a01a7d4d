// SPDX-License-Identifier: Apache-2.0
// gyre-plan compare: what two plans cost, side by side.
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "collectives/algorithm.h"
#include "collectives/layout.h"
#include "gyre_plan/commands.h"
#include "gyre_plan/measures.h"
#include "gyre_plan/plan_options.h"

namespace gyre::tool {
namespace {

struct CompareCommand {
  PlanOptions plan;
  std::string one, other;
};

template <typename Value>
void print_row(std::string_view what, Value one, Value other) {
  const std::string ratio =
      one > 0 && other >= 0
          ? fmt::format("{:.2f}", static_cast<double>(other) / static_cast<double>(one))
          : "";
  fmt::print("{:<44} {:>12} {:>12} {:>8}\n", what, fmt::format("{:.6g}", static_cast<double>(one)),
             fmt::format("{:.6g}", static_cast<double>(other)), ratio);
}

void print_table(const plan::Plan& one, const plan::Plan& other) {
  const Measures a = measure(one);
  const Measures b = measure(other);
  const char* const unit = plan::layout_of(one.collective).sectioned ? "section" : "buffer";
  fmt::print("{} of {} ranks; of the rank that has most, volumes as multiples of the {}\n",
             plan::name_of(one.collective), one.ranks, unit);
  fmt::print("{:<44} {:>12} {:>12} {:>8}\n", "", plan::title(one), plan::title(other), "ratio");
  print_row("longest chain of messages or signals", a.chain, b.chain);
  print_row("messages and signals sent", a.messages, b.messages);
  print_row("  by all ranks", a.total_messages, b.total_messages);
  print_row("volume sent", a.sent, b.sent);
  print_row("  by all ranks", a.total_sent, b.total_sent);
  print_row("volume read from peers", a.read_from_peers, b.read_from_peers);
  print_row("volume read to be combined", a.combined, b.combined);
  print_row("peers", a.peers, b.peers);
  print_row("steps", a.steps, b.steps);
  print_row("  of all ranks", a.total_steps, b.total_steps);
  print_row("blocks of a tile", one.blocks, other.blocks);
  print_row("slots that a FIFO must have", one.slots, other.slots);
  print_row("scratch blocks", one.scratch_blocks, other.scratch_blocks);
}

Status compare(const CompareCommand& options) {
  const auto one = load_named_plan(options.one, options.plan);
  if (!one) return Unexpected(one.error());
  const auto other = load_named_plan(options.other, options.plan);
  if (!other) return Unexpected(other.error());
  if (one->collective != other->collective || one->ranks != other->ranks) {
    return fail(Code::invalid_argument,
                fmt::format("{} of {} ranks and {} of {} ranks do different things: there is "
                            "nothing to compare.",
                            plan::name_of(one->collective), one->ranks,
                            plan::name_of(other->collective), other->ranks));
  }
  print_table(*one, *other);
  return {};
}

}  // namespace

void add_compare_command(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("compare", "What two plans cost, side by side");
  const auto options = std::make_shared<CompareCommand>();
  command->add_option("one", options->one, "A file, or a name: ring, twoshot/direct")->required();
  command->add_option("other", options->other, "Likewise")->required();
  add_collective_options(*command, options->plan);
  add_hierarchy_options(*command, options->plan);
  set_body(*command, [options] { return compare(*options); });
}

}  // namespace gyre::tool
