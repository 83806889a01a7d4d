// SPDX-License-Identifier: Apache-2.0
// On which network, and with how many bytes, a plan is estimated, simulated or exported.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/status.h"
#include "collectives/estimate.h"
#include "collectives/plan.h"
#include "gyre_plan/plan_options.h"

namespace gyre::tool {

struct NetworkOptions {
  std::string bytes = "1M";
  std::string chunk = "128K";
  int channels = 1;
  int slots = 8;
  double gigabytes_per_second = 12.5;  // of each link in each direction
  double latency_us = 2;
  double overhead_us = 0;
  double reduce_gigabytes_per_second = 0;  // 0: for nothing
};

// --bytes, --chunk, --channels, --slots; and with --bandwidth, --latency, --overhead, --reduce.
void add_workload_options(CLI::App& command, NetworkOptions& options);
void add_network_options(CLI::App& command, NetworkOptions& options);

// The options in the units of the library.
struct Network {
  plan::Workload workload;
  std::uint64_t bytes = 0;
  plan::LinkClass link;
};
[[nodiscard]] Result<Network> parse(const NetworkOptions& options);

// A plan whose programs are made one at a time.
struct Subject {
  plan::Plan description;
  std::function<plan::Program(int rank)> program_of;
};
// Plans of files are verified first.
[[nodiscard]] Result<Subject> load_subject(const PlanOptions& options);

}  // namespace gyre::tool
