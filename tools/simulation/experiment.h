// SPDX-License-Identifier: Apache-2.0
// One collective on a simulated machine: what is asked, and what came of it. The executor, the
// programs and the payload are real; time and the network are simulated.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "collectives/plan.h"

namespace gyre::simulation {

enum class Topology : std::uint8_t {
  star,      // every host at one switch that never blocks
  fat_tree,  // two levels: leaf switches, each connected to each of the spine switches
};

// From a moment on, the link of a rank to its switch is dead, or its whole host.
struct Injection {
  enum class What : std::uint8_t { link, host };
  What what = What::link;
  int rank = 0;
  double at = 0;  // seconds
};

struct Experiment {
  plan::Plan plan;  // without programs
  std::function<plan::Program(int rank)> program_of;
  std::uint64_t bytes = 0;  // of the buffer, or of one section (collectives/layout.h)
  std::uint64_t slot_bytes = std::uint64_t{128} * 1024;
  int channels = 1;
  int slots = 8;

  Topology topology = Topology::star;
  double bandwidth = 12.5e9;   // bytes a second, of each link in each direction
  double latency = 2e-6;       // seconds, between two hosts at one switch
  double overhead = 0;         // seconds of the sender, for each message
  double reduce_per_byte = 0;  // seconds, for each byte that is combined

  std::vector<Injection> injections;
  // Until all ranks have heard of a failure: the control channel's part.
  double notice = 1e-3;
};

struct RankReport {
  double seconds = 0;  // when it was done, or gave up
  std::string error;   // empty: done, and its output is right
  int culprit = -1;    // the rank that the error names
};

struct Report {
  double seconds = 0;          // until the last rank was done
  std::uint64_t messages = 0;  // of all ranks together
  std::uint64_t bytes = 0;     // that they carried in the simulation
  // Bytes that are simulated for each byte that is really carried and checked.
  std::uint64_t scale = 1;
  std::vector<RankReport> ranks;
};

// Runs in a process of its own, for SimGrid can be set up only once in a process. Fails where the
// experiment makes no sense; what happens to ranks is in the report.
[[nodiscard]] Result<Report> simulate(const Experiment& experiment);

}  // namespace gyre::simulation
