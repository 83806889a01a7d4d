// SPDX-License-Identifier: Apache-2.0
// One rank as an actor of SimGrid: its own program, the executor that Gyre runs everywhere, buffers.
//
// A rank has connections to its neighbours only, and its program and its executor number those from
// 0: what an executor holds for each of 4096 ranks would be sixteen million times as much in all.
#pragma once

#include <atomic>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "collectives/geometry.h"
#include "engine/combiner.h"
#include "engine/compiled_program.h"
#include "engine/executor.h"
#include "simulation/experiment.h"
#include "simulation/payload.h"
#include "simulation/simulated_connection.h"
#include "simulation/simulated_doorbell.h"
#include "transport/connection.h"

namespace gyre::simulation {

// Of all ranks of an experiment.
struct Common {
  plan::Plan plan;  // without programs
  plan::Geometry geometry;
  transport::Shape shape;
  Payload payload;
  std::uint64_t scale = 1;
  double reduce_per_byte = 0;
};

class SimulatedRank {
 public:
  SimulatedRank(int rank, plan::Program program, Common& common);

  [[nodiscard]] std::span<const int> neighbours() const { return neighbours_; }
  [[nodiscard]] SimulatedDoorbell& doorbell() { return doorbell_; }
  // To the next one of its neighbours.
  void connect(Lane& outgoing, Lane& incoming) { connections_.emplace_back(outgoing, incoming); }

  // The body of its actor. Only an actor that is killed does not return from it.
  void run(const std::atomic<std::uint32_t>& abort);

  [[nodiscard]] bool has_ended() const { return has_ended_; }
  [[nodiscard]] engine::Outcome outcome() const { return outcome_; }
  [[nodiscard]] double seconds() const { return seconds_; }
  // The neighbour that it waited for in vain, or -1.
  [[nodiscard]] int blamed() const { return blamed_; }
  // What is wrong with its output; empty where nothing is.
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  int rank_;
  Common& common_;
  std::vector<int> neighbours_;
  engine::CompiledProgram program_;
  SimulatedDoorbell doorbell_;
  std::deque<SimulatedConnection> connections_;
  bool has_ended_ = false;
  engine::Outcome outcome_ = engine::Outcome::aborted;
  double seconds_ = 0;
  int blamed_ = -1;
  std::string fault_;
};

}  // namespace gyre::simulation
