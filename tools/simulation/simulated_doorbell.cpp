// SPDX-License-Identifier: Apache-2.0
#include "simulation/simulated_doorbell.h"

namespace gyre::simulation {

void SimulatedDoorbell::sleep(std::uint32_t ticket, std::chrono::microseconds /*bound*/) {
  if (ticket != rings_) {
    return;
  }
  asleep_ = true;
  wake_->acquire();
}

void SimulatedDoorbell::ring() {
  ++rings_;
  if (asleep_) {
    asleep_ = false;
    wake_->release();
  }
}

}  // namespace gyre::simulation
