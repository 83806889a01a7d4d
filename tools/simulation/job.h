// SPDX-License-Identifier: Apache-2.0
// All ranks of an experiment in one simulation: who is connected to whom, what is broken when, and
// how ranks hear of it. Once in a process.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "simulation/agenda.h"
#include "simulation/experiment.h"
#include "simulation/lane.h"
#include "simulation/platform.h"
#include "simulation/simulated_rank.h"

namespace gyre::simulation {

class Job {
 public:
  // The experiment makes sense.
  Job(simgrid::s4u::Engine& engine, const Experiment& experiment, Common common);

  [[nodiscard]] Report run();

 private:
  struct Cause {
    int culprit = -1;
    std::string text;
  };

  void add_ranks();
  void connect_all();
  Lane& lane(int from, int to);
  void inject(const Injection& injection);
  // The first cause stands. All ranks hear of it after a while.
  void fail(int culprit, std::string text);
  void on_lost_message(int from, int to);
  [[nodiscard]] RankReport report_of(int rank);

  simgrid::s4u::Engine& engine_;
  const Experiment& experiment_;
  Common common_;
  std::atomic<std::uint32_t> abort_{0};  // relaxed would do: actors run one at a time
  Platform platform_;
  Agenda agenda_;
  LaneCosts costs_;
  Traffic traffic_;
  std::deque<SimulatedRank> ranks_;
  std::map<std::pair<int, int>, Lane> lanes_;  // by sender and receiver
  std::optional<Cause> cause_;
};

// Checks the experiment, and runs it in this process.
[[nodiscard]] Result<Report> simulate_here(const Experiment& experiment);

}  // namespace gyre::simulation
