// SPDX-License-Identifier: Apache-2.0
// What will happen in a simulation at times that are known: ranks are woken, and lanes begin to
// transfer. All of it is done by SimGrid's own actor, between two runs of the ranks, so that neither
// an actor nor a timeout is needed for it: with thousands of ranks those cost more than all else.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "simulation/simulated_doorbell.h"

namespace gyre::simulation {

class Lane;

// Of one simulation, which outlives it: timers of SimGrid point to it.
class Agenda {
 public:
  Agenda() = default;
  Agenda(const Agenda&) = delete;
  Agenda& operator=(const Agenda&) = delete;

  void ring_at(double time, SimulatedDoorbell& doorbell);
  // At this very time, when the ranks that run now have stopped.
  void start(Lane& lane);

 private:
  struct Ring {
    double time;
    std::uint64_t number;  // rings at one time are in the order in which they were asked for
    SimulatedDoorbell* doorbell;
    friend bool operator>(const Ring& a, const Ring& b) {
      return a.time != b.time ? a.time > b.time : a.number > b.number;
    }
  };

  // Makes SimGrid call do_what_is_due() at that time, if it does not before.
  void wake_at(double time);
  void do_what_is_due();

  std::priority_queue<Ring, std::vector<Ring>, std::greater<>> rings_;
  std::vector<Lane*> starting_,
      started_;  // two, for no lane is added to the one that is gone through
  std::uint64_t rings_ever_ = 0;
  std::vector<double> timers_;  // of SimGrid, that are set: each earlier than the one before it
};

}  // namespace gyre::simulation
