// SPDX-License-Identifier: Apache-2.0
// What an estimate or a simulation found, for people and as JSON (one line, for plot-ranks).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gyre_plan/network_options.h"

namespace gyre::tool {

struct RunReport {
  std::string_view command;   // "estimate", "simulate"
  std::string_view topology;  // "none" where links are all that there is
  double seconds = 0;
  std::vector<double> rank_seconds;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  // By rank; empty where it was done.
  std::vector<std::string> errors = {};
};

void print_report(const RunReport& report, const Subject& subject, const Network& network,
                  bool as_json);

}  // namespace gyre::tool
