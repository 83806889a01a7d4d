// SPDX-License-Identifier: Apache-2.0
// The simulated machine: a host for each rank, the switches between them, and one host more, which
// never fails, for what controls the experiment. Links have bandwidth only; lane.h says why latency
// is counted beside SimGrid.
#pragma once

#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

#include "simulation/experiment.h"

namespace gyre::simulation {

class Platform {
 public:
  // Before the engine runs. `engine` is made with engine_arguments().
  Platform(simgrid::s4u::Engine& engine, const Experiment& experiment);

  [[nodiscard]] simgrid::s4u::Host* host(int rank) const {
    return hosts_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] simgrid::s4u::Host* control_host() const { return control_; }

  // From one host to another, seconds.
  [[nodiscard]] double latency(int from, int to) const;

  // Cuts a rank off, in both directions. From an actor.
  void break_link_of(int rank) const;
  void break_host_of(int rank) const;
  [[nodiscard]] bool is_connected(int rank) const;

 private:
  void add_star(const Experiment& experiment);
  void add_fat_tree(const simgrid::s4u::Engine& engine, const Experiment& experiment);

  double latency_of_link_;
  std::vector<simgrid::s4u::Host*> hosts_;
  std::vector<std::vector<simgrid::s4u::Link*>> links_;  // by rank: up and down
  simgrid::s4u::Host* control_ = nullptr;
};

// The network model in which a transfer of b bytes takes b / bandwidth: none of SimGrid's corrections
// for TCP (windows, headers, traffic of acknowledgements).
[[nodiscard]] std::vector<std::string> engine_arguments();

}  // namespace gyre::simulation
