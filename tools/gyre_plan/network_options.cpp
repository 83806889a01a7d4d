// SPDX-License-Identifier: Apache-2.0
#include "gyre_plan/network_options.h"

#include <memory>
#include <utility>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "base/parse.h"
#include "collectives/catalog.h"
#include "collectives/verifier.h"

namespace gyre::tool {
namespace {

constexpr std::uint64_t element_bytes = 4;
constexpr double giga = 1e9;
constexpr double micro = 1e-6;

Result<std::uint64_t> positive_bytes(const char* option, const std::string& text) {
  const auto bytes = parse_bytes(text);
  if (!bytes || *bytes < static_cast<std::int64_t>(element_bytes)) {
    return fail(Code::invalid_argument,
                fmt::format("{} is \"{}\": it must be {} bytes or more; K, M, G may follow the "
                            "number.",
                            option, text, element_bytes));
  }
  return static_cast<std::uint64_t>(*bytes);
}

}  // namespace

void add_workload_options(CLI::App& command, NetworkOptions& options) {
  command.add_option("-b,--bytes", options.bytes, "Of the buffer, or of one section; K, M, G")
      ->capture_default_str();
  command.add_option("--chunk", options.chunk, "Largest message; K, M, G")->capture_default_str();
  command.add_option("--channels", options.channels, "Tiles that are under way at once")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command.add_option("--slots", options.slots, "Messages that fit between two ranks, by channel")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command
      .add_option("--reduce", options.reduce_gigabytes_per_second,
                  "GB/s at which a rank combines; 0: it takes no time")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

void add_network_options(CLI::App& command, NetworkOptions& options) {
  add_workload_options(command, options);
  command
      .add_option("--bandwidth", options.gigabytes_per_second,
                  "Of each link in each direction, GB/s")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--latency", options.latency_us, "Between two ranks at one switch, us")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_option("--overhead", options.overhead_us, "Of the sender for each message, us")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

Result<Network> parse(const NetworkOptions& options) {
  const auto bytes = positive_bytes("--bytes", options.bytes);
  if (!bytes) return Unexpected(bytes.error());
  const auto chunk = positive_bytes("--chunk", options.chunk);
  if (!chunk) return Unexpected(chunk.error());
  const double reduce = options.reduce_gigabytes_per_second;
  return Network{.workload = {.count = (*bytes + element_bytes - 1) / element_bytes,
                              .element_bytes = element_bytes,
                              .slot_bytes = *chunk,
                              .channels = options.channels,
                              .slots = options.slots},
                 .bytes = *bytes,
                 .link = {.latency = options.latency_us * micro,
                          .per_byte = 1 / (options.gigabytes_per_second * giga),
                          .reduce_per_byte = reduce > 0 ? 1 / (reduce * giga) : 0,
                          .overhead = options.overhead_us * micro}};
}

Result<Subject> load_subject(const PlanOptions& options) {
  if (options.file.empty()) {
    const auto recipe = recipe_of(options);
    if (!recipe) return Unexpected(recipe.error());
    return Subject{plan::describe(*recipe),
                   [recipe = *recipe](int rank) { return plan::program_of(recipe, rank); }};
  }
  auto plan = load_plan(options);
  if (!plan) return Unexpected(plan.error());
  GYRE_TRY(plan::verify(*plan));
  auto programs = std::make_shared<std::vector<plan::Program>>(std::move(plan->programs));
  plan->programs.clear();
  return Subject{*std::move(plan),
                 [programs](int rank) { return (*programs)[static_cast<std::size_t>(rank)]; }};
}

}  // namespace gyre::tool
