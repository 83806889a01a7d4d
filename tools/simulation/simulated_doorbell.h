// SPDX-License-Identifier: Apache-2.0
// How a simulated rank waits: its actor is suspended until somebody rings, which happens at the time
// when what it may be waiting for is there (agenda.h). All actors run one at a time, so nothing here is
// atomic.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

#include <simgrid/s4u.hpp>

#include "base/clock.h"
#include "transport/doorbell.h"

namespace gyre::simulation {

[[nodiscard]] inline double now() {
  return simgrid::s4u::Engine::get_clock();
}

inline constexpr double never = std::numeric_limits<double>::infinity();

// SimGrid does not tell times apart that are closer than this (its surf/precision).
inline constexpr double time_precision = 1e-12;

[[nodiscard]] inline bool is_past(double time) {
  return time <= now() + time_precision;
}

class SimulatedClock final : public Clock {
 public:
  std::int64_t now_ns() override { return static_cast<std::int64_t>(now() * 1e9); }
};

class SimulatedDoorbell final : public transport::Doorbell {
 public:
  void arm() override {}
  void disarm() override {}
  std::uint32_t ticket() override { return rings_; }
  // Not bounded: every failure rings.
  void sleep(std::uint32_t ticket, std::chrono::microseconds bound) override;
  void ring() override;

 private:
  simgrid::s4u::SemaphorePtr wake_ = simgrid::s4u::Semaphore::create(0);
  std::uint32_t rings_ = 0;
  bool asleep_ = false;
};

}  // namespace gyre::simulation
