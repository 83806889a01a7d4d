// SPDX-License-Identifier: Apache-2.0
#include "simulation/simulated_doorbell.h"

#include <algorithm>
#include <limits>

namespace gyre::simulation {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

}  // namespace

std::uint32_t SimulatedDoorbell::ticket() {
  due_ = never;
  return rings_;
}

void SimulatedDoorbell::sleep(std::uint32_t ticket, std::chrono::microseconds /*bound*/) {
  if (ticket != rings_ || is_past(due_)) {
    return;
  }
  asleep_ = true;
  if (due_ == never) {
    wake_->acquire();
  } else {
    wake_->acquire_timeout(due_ - now());
  }
  asleep_ = false;
}

void SimulatedDoorbell::ring() {
  ++rings_;
  if (asleep_) {
    asleep_ = false;
    wake_->release();
  }
}

void SimulatedDoorbell::expect(double time) {
  due_ = std::min(due_, time);
}

}  // namespace gyre::simulation
