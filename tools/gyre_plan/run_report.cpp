// SPDX-License-Identifier: Apache-2.0
#include "gyre_plan/run_report.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/parse.h"
#include "collectives/algorithm.h"

namespace gyre::tool {
namespace {

double gigabytes_per_second(const RunReport& report, const Subject& subject,
                            const Network& network) {
  return plan::bus_bandwidth(subject.description.collective, subject.description.ranks,
                             static_cast<double>(network.bytes), report.seconds) /
         1e9;
}

void print_json(const RunReport& report, const Subject& subject, const Network& network) {
  const plan::Plan& plan = subject.description;
  const nlohmann::json json = {
      {"command", report.command},
      {"collective", plan::name_of(plan.collective)},
      {"algorithm", plan.name},
      {"protocol", plan::name_of(plan.protocol)},
      {"ranks", plan.ranks},
      {"bytes", network.bytes},
      {"chunk", network.workload.slot_bytes},
      {"channels", network.workload.channels},
      {"slots", network.workload.slots},
      {"topology", report.topology},
      {"latency_seconds", network.link.latency},
      {"bandwidth_bytes_per_second", 1 / network.link.per_byte},
      {"seconds", report.seconds},
      {"busbw_gigabytes_per_second", gigabytes_per_second(report, subject, network)},
      {"messages", report.messages},
      {"bytes_sent", report.bytes},
      {"rank_seconds", report.rank_seconds},
      {"errors", report.errors}};
  fmt::print("{}\n", json.dump());
}

// Each different error once, with the number of ranks that have it.
void print_errors(const std::vector<std::string>& errors) {
  std::size_t failed = 0;
  for (std::size_t rank = 0; rank < errors.size(); ++rank) {
    constexpr std::size_t most = 8;
    if (errors[rank].empty()) continue;
    if (++failed <= most) fmt::print("  rank {}: {}\n", rank, errors[rank]);
    if (failed == most + 1) fmt::print("  ...\n");
  }
  fmt::print("{} of {} ranks failed\n", failed, errors.size());
}

}  // namespace

void print_report(const RunReport& report, const Subject& subject, const Network& network,
                  bool as_json) {
  if (as_json) {
    print_json(report, subject, network);
    return;
  }
  const plan::Plan& plan = subject.description;
  fmt::print("{} of {} by {} among {} ranks\n", plan::name_of(plan.collective),
             format_bytes(static_cast<std::int64_t>(network.bytes)), plan::title(plan), plan.ranks);
  const bool failed =
      std::ranges::any_of(report.errors, [](const std::string& error) { return !error.empty(); });
  if (failed) {
    print_errors(report.errors);
    return;
  }
  const auto first = std::ranges::min_element(report.rank_seconds);
  const auto last = std::ranges::max_element(report.rank_seconds);
  fmt::print("time      {:.3f} us; the first to end is rank {} after {:.3f} us, the last rank {}\n",
             report.seconds * 1e6, first - report.rank_seconds.begin(), *first * 1e6,
             last - report.rank_seconds.begin());
  fmt::print("bus       {:.3f} GB/s of {:.3f}\n", gigabytes_per_second(report, subject, network),
             1e-9 / network.link.per_byte);
  fmt::print("messages  {}, {} in all\n", report.messages,
             format_bytes(static_cast<std::int64_t>(report.bytes)));
}

}  // namespace gyre::tool
