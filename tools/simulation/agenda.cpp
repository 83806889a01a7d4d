// SPDX-License-Identifier: Apache-2.0
#include "simulation/agenda.h"

#include <simgrid/kernel/Timer.hpp>

#include "simulation/lane.h"

namespace gyre::simulation {

void Agenda::ring_at(double time, SimulatedDoorbell& doorbell) {
  rings_.push({time, rings_ever_++, &doorbell});
  wake_at(time);
}

void Agenda::start(Lane& lane) {
  starting_.push_back(&lane);
  wake_at(now());
}

void Agenda::wake_at(double time) {
  if (timers_.empty() || time < timers_.back()) {
    timers_.push_back(time);
    simgrid::kernel::timer::Timer::set(time, [this] { do_what_is_due(); });
  }
}

void Agenda::do_what_is_due() {
  timers_.pop_back();
  started_.clear();
  started_.swap(starting_);
  for (Lane* const lane : started_) lane->transfer_next();
  while (!rings_.empty() && is_past(rings_.top().time)) {
    SimulatedDoorbell* const doorbell = rings_.top().doorbell;
    rings_.pop();
    doorbell->ring();
  }
  if (!rings_.empty()) {
    wake_at(rings_.top().time);
  }
}

}  // namespace gyre::simulation
