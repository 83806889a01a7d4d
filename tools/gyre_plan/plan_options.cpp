// SPDX-License-Identifier: Apache-2.0
#include "gyre_plan/plan_options.h"

#include <map>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "collectives/algorithm.h"
#include "collectives/hierarchical.h"
#include "collectives/layout.h"
#include "collectives/plan_json.h"

namespace gyre::tool {
namespace {

// Takes the name of a value, in any case and with any underscores. CLI11's own transformers would
// also show users the number behind each name.
template <typename Value, std::size_t count>
CLI::Validator named(const Value (&values)[count]) {
  std::map<std::string, std::string> numbers;
  std::string names;
  for (const Value value : values) {
    const std::string name(plan::name_of(value));
    numbers.emplace(CLI::detail::to_lower(name), std::to_string(static_cast<int>(value)));
    names += (names.empty() ? "" : ", ") + name;
  }
  const auto to_number = [numbers, names](std::string& word) -> std::string {
    const auto found = numbers.find(CLI::detail::to_lower(CLI::detail::remove_underscore(word)));
    if (found == numbers.end()) return fmt::format("{} is none of {}.", word, names);
    word = found->second;
    return {};
  };
  return {to_number, names};
}

// Large enough for every plan, small enough for a computer.
constexpr int most_ranks = 65536;

// Elsewhere sizes that do not divide the ranks are made to; here they are a slip of the pen.
Status check_levels(const plan::Recipe& recipe) {
  int ranks = recipe.ranks;
  for (const int size : recipe.hierarchy.levels) {
    if (ranks % size != 0) {
      return fail(Code::invalid_argument,
                  fmt::format("The levels {} do not divide {} ranks.",
                              fmt::join(recipe.hierarchy.levels, ","), recipe.ranks));
    }
    ranks /= size;
  }
  return plan::check_hierarchy(recipe);
}

}  // namespace

void add_collective_options(CLI::App& command, PlanOptions& options) {
  command.add_option("-c,--collective", options.collective, "Collective, e.g. AllReduce")
      ->transform(named(plan::all_collectives))
      ->default_str("AllReduce");
  command.add_option("-n,--ranks", options.ranks, "Number of ranks")
      ->check(CLI::Range(1, most_ranks))
      ->capture_default_str();
  command.add_option("--root", options.root, "Root, of collectives that have one")
      ->check(CLI::Range(0, most_ranks - 1))
      ->capture_default_str();
}

void add_hierarchy_options(CLI::App& command, PlanOptions& options) {
  const CLI::Validator algorithm = named(plan::all_algorithms);
  command
      .add_option("--levels", options.hierarchy.levels,
                  "Of hierarchical plans, the innermost first: 4,2,8 are 4 ranks a socket, 2 "
                  "sockets a host, 8 hosts")
      ->delimiter(',')
      ->check(CLI::Range(1, most_ranks));
  command
      .add_option("--inside", options.hierarchy.inside, "Algorithm on all levels but the outermost")
      ->transform(algorithm)
      ->default_str("oneshot");
  command.add_option("--across", options.hierarchy.across, "Algorithm on the outermost level")
      ->transform(algorithm)
      ->default_str("ring");
}

void add_plan_options(CLI::App& command, PlanOptions& options) {
  add_collective_options(command, options);
  add_hierarchy_options(command, options);
  command.add_option("-a,--algorithm", options.algorithm, "Algorithm, as in GYRE_ALGO")
      ->transform(named(plan::all_algorithms))
      ->default_str("oneshot");
  command.add_option("-p,--protocol", options.protocol, "Protocol, as in GYRE_PROTO")
      ->transform(named(plan::all_protocols))
      ->default_str("staged");
  command.add_option("-f,--file", options.file, "A plan as JSON, instead of one by name");
}

Result<plan::Recipe> recipe_of(const PlanOptions& options) {
  if (!plan::exists(options.collective, options.algorithm, options.protocol)) {
    return fail(Code::invalid_argument,
                fmt::format("{} has no algorithm {}/{}. `gyre-plan list` shows what there is.",
                            plan::name_of(options.collective), plan::name_of(options.algorithm),
                            plan::name_of(options.protocol)));
  }
  const bool rooted = plan::has_root(options.collective);
  if (rooted && options.root >= options.ranks) {
    return fail(Code::invalid_argument,
                fmt::format("The root is {}: ranks are 0 to {}.", options.root, options.ranks - 1));
  }
  plan::Recipe recipe{options.collective, options.algorithm,          options.protocol,
                      options.ranks,      rooted ? options.root : -1, options.hierarchy};
  if (options.algorithm == plan::Algorithm::hierarchical) GYRE_TRY(check_levels(recipe));
  return recipe;
}

Result<plan::Plan> load_plan(const PlanOptions& options) {
  if (!options.file.empty()) return plan::read_plan_file(options.file);
  const auto recipe = recipe_of(options);
  if (!recipe) return Unexpected(recipe.error());
  return plan::make_plan(*recipe);
}

Result<plan::Plan> load_named_plan(const std::string& name, PlanOptions options) {
  const auto slash = name.find('/');
  const auto algorithm = plan::parse_algorithm(std::string_view(name).substr(0, slash));
  if (!algorithm) {
    options.file = name;
    return load_plan(options);
  }
  options.algorithm = *algorithm;
  if (slash != std::string::npos) {
    const auto protocol = plan::parse_protocol(std::string_view(name).substr(slash + 1));
    if (!protocol) {
      return fail(Code::invalid_argument,
                  fmt::format("{} names no protocol: there are inline, staged and direct.", name));
    }
    options.protocol = *protocol;
  }
  return load_plan(options);
}

void set_body(CLI::App& command, std::function<Status()> body) {
  command.callback([body = std::move(body)] {
    if (const Status status = body(); !status) {
      fmt::print(stderr, "gyre-plan: {}\n", status.error().message);
      throw CLI::RuntimeError(1);
    }
  });
}

}  // namespace gyre::tool
