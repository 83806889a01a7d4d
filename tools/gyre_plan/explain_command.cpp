// SPDX-License-Identifier: Apache-2.0
// gyre-plan explain: what a call would run, why, and what it could run instead.
#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/parse.h"
#include "collectives/algorithm.h"
#include "collectives/chooser.h"
#include "collectives/geometry.h"
#include "collectives/layout.h"
#include "gyre_plan/commands.h"
#include "gyre_plan/measures.h"
#include "gyre_plan/plan_options.h"

namespace gyre::tool {
namespace {

struct ExplainCommand {
  PlanOptions plan;
  std::string bytes = "1M";
  std::string algorithm, protocol;
  plan::ChoiceInput input;  // but for what stands above
};

std::string name_of(const plan::Choice& choice) {
  return fmt::format("{}/{}", plan::name_of(choice.algorithm), plan::name_of(choice.protocol));
}

std::string sizes_of(const plan::Choice& choice) {
  if (choice.slot_bytes == plan::unbounded_slot) return "in one piece";
  return fmt::format("{} {}, pieces of up to {}", choice.channels,
                     choice.channels == 1 ? "channel" : "channels",
                     format_bytes(static_cast<std::int64_t>(choice.slot_bytes)));
}

struct RunnerUp {
  plan::Recipe recipe;
  Measures measures;
};

// All else that exists, those with the shortest chain first, then those that send least.
std::vector<RunnerUp> runners_up(const ExplainCommand& options, const plan::Choice& choice) {
  std::vector<RunnerUp> all;
  for (const plan::Recipe& recipe :
       plan::recipes(options.plan.collective, options.plan.ranks, options.plan.root)) {
    if (recipe.algorithm == choice.algorithm && recipe.protocol == choice.protocol) continue;
    all.push_back({recipe, measure(plan::make_plan(recipe))});
  }
  std::stable_sort(all.begin(), all.end(), [](const RunnerUp& a, const RunnerUp& b) {
    return std::pair(a.measures.chain, a.measures.sent) <
           std::pair(b.measures.chain, b.measures.sent);
  });
  return all;
}

std::string_view obstacle(const ExplainCommand& options, const plan::Recipe& recipe) {
  if (recipe.protocol != plan::Protocol::direct) return "";
  if (!options.input.direct_possible) return "needs mapped buffers on all ranks";
  return options.input.in_place && !plan::describe(recipe).in_place_safe ? "not in place" : "";
}

void print_row(std::string_view name, const Measures& measures, std::uint64_t bytes,
               std::string_view note) {
  const auto volume = [&](double buffers) {
    return format_bytes(static_cast<std::int64_t>(buffers * static_cast<double>(bytes)));
  };
  fmt::print("  {:<18} {:>5} {:>9} {:>10} {:>10} {:>6}  {}\n", name, measures.chain,
             measures.messages, volume(measures.sent), volume(measures.read_from_peers),
             measures.peers, note);
}

// The sizes at which another plan takes over, by powers of two.
void print_other_sizes(const ExplainCommand& options) {
  constexpr int largest = 30;  // 1 GiB
  std::string last;
  fmt::print("at other sizes:\n");
  for (int power = 0; power <= largest; ++power) {
    plan::ChoiceInput input = options.input;
    input.bytes = std::uint64_t{1} << power;
    const auto choice = plan::choose(options.plan.collective, input);
    const std::string name = choice ? name_of(*choice) : "refused";
    if (name == last) continue;
    last = name;
    fmt::print("  from {:>6}  {:<18} {}\n", format_bytes(static_cast<std::int64_t>(input.bytes)),
               name, choice ? choice->reason : std::string_view(choice.error().message));
  }
}

Status complete(ExplainCommand& options) {
  const auto bytes = parse_bytes(options.bytes);
  if (!bytes || *bytes < 0) {
    return fail(
        Code::invalid_argument,
        fmt::format("--bytes is \"{}\": a number of bytes; K, M, G may follow it.", options.bytes));
  }
  options.input.bytes = static_cast<std::uint64_t>(*bytes);
  options.input.ranks = options.plan.ranks;
  if (options.input.local_cpus == 0) options.input.local_cpus = options.plan.ranks;
  options.input.algorithm = plan::parse_algorithm(options.algorithm);
  options.input.protocol = plan::parse_protocol(options.protocol);
  if ((!options.algorithm.empty() && !options.input.algorithm) ||
      (!options.protocol.empty() && !options.input.protocol)) {
    return fail(Code::invalid_argument, "--algo or --proto names nothing that there is.");
  }
  if (plan::has_root(options.plan.collective) && options.plan.root >= options.plan.ranks) {
    return fail(Code::invalid_argument, fmt::format("The root is {}: ranks are 0 to {}.",
                                                    options.plan.root, options.plan.ranks - 1));
  }
  return {};
}

Status explain(ExplainCommand options) {
  GYRE_TRY(complete(options));
  const plan::Collective collective = options.plan.collective;
  const auto choice = plan::choose(collective, options.input);
  if (!choice) return Unexpected(choice.error());
  fmt::print("{} of {}{} among {} ranks on {} CPUs, elements of {} bytes{}{}\n",
             plan::name_of(collective),
             format_bytes(static_cast<std::int64_t>(options.input.bytes)),
             plan::layout_of(collective).sectioned ? " a section" : "", options.input.ranks,
             options.input.local_cpus, options.input.element_bytes,
             options.input.direct_possible ? ", in mapped buffers" : "",
             options.input.in_place ? ", in place" : "");
  fmt::print("runs {}: {}\n  {}\n", name_of(*choice), choice->reason, sizes_of(*choice));
  fmt::print("\n  {:<18} {:>5} {:>9} {:>10} {:>10} {:>6}\n", "of each rank", "chain", "messages",
             "sent", "read", "peers");
  const plan::Recipe chosen{collective, choice->algorithm, choice->protocol, options.plan.ranks,
                            plan::has_root(collective) ? options.plan.root : -1};
  print_row(name_of(*choice), measure(plan::make_plan(chosen)), options.input.bytes, "runs");
  for (const RunnerUp& other : runners_up(options, *choice)) {
    print_row(fmt::format("{}/{}", plan::name_of(other.recipe.algorithm),
                          plan::name_of(other.recipe.protocol)),
              other.measures, options.input.bytes, obstacle(options, other.recipe));
  }
  fmt::print("\n");
  print_other_sizes(options);
  return {};
}

}  // namespace

void add_explain_command(CLI::App& app) {
  CLI::App* const command =
      app.add_subcommand("explain", "What a call would run, why, and what else it could run");
  const auto options = std::make_shared<ExplainCommand>();
  options->input.element_bytes = 4;
  options->input.local_cpus = 0;
  add_collective_options(*command, options->plan);
  command->add_option("-b,--bytes", options->bytes, "Of the buffer, or of one section; K, M, G")
      ->capture_default_str();
  command->add_option("--element-bytes", options->input.element_bytes, "Of the element type")
      ->check(CLI::IsMember({1, 2, 4, 8}))
      ->capture_default_str();
  command->add_option("--cpus", options->input.local_cpus, "That the ranks share; 0: one each")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--mapped", options->input.direct_possible,
                    "All ranks' buffers are memory that the others can map");
  command->add_flag("--in-place", options->input.in_place, "Input and output are one buffer");
  command->add_flag("--in-order", options->input.keeps_order, "The operation does not commute");
  command->add_option("--algo", options->algorithm, "As GYRE_ALGO would force it");
  command->add_option("--proto", options->protocol, "As GYRE_PROTO would force it");
  set_body(*command, [options] { return explain(*options); });
}

}  // namespace gyre::tool
