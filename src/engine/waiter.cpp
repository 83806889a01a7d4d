// SPDX-License-Identifier: Apache-2.0
#include "engine/waiter.h"

#include <sched.h>

namespace gyre::engine {
namespace {

// Bounds one sleep, so that the deadline is looked at now and then even if nobody rings.
constexpr std::chrono::microseconds longest_sleep{100'000};

// From one look at the peers' calls to the next: far longer than anything that is on its way takes.
constexpr std::int64_t doubt_every_ns = 100'000'000;

}  // namespace

Waiter::Verdict Waiter::pause_longer() {
  polls_ = 0;
  if (abort_.load(std::memory_order_relaxed) != 0) {
    return Verdict::aborted;
  }
  const std::int64_t now = clock_.now_ns();
  if (!waiting_) {
    waiting_ = true;
    since_ns_ = now;
    next_doubt_ns_ = doubt_every_ns;
  }
  const std::int64_t waited = now - since_ns_;
  if (timeout_ns_ > 0 && waited > timeout_ns_) {
    return Verdict::timed_out;
  }
  if (waited > next_doubt_ns_ && doubt_) {
    next_doubt_ns_ = waited + doubt_every_ns;
    if (doubt_()) {
      return Verdict::mismatch;
    }
  }
  if (waited < policy_.spin_ns) {
    return Verdict::poll_again;
  }
  if (waited < policy_.spin_ns + policy_.yield_ns || doorbell_ == nullptr) {
    ::sched_yield();
  } else {
    sleep_once();
  }
  return Verdict::poll_again;
}

// The first call only arms: the caller polls once more before the first sleep. Each later one
// sleeps on the ticket that was drawn before that poll.
void Waiter::sleep_once() {
  if (!armed_) {
    armed_ = true;
    doorbell_->arm();
  } else {
    doorbell_->sleep(ticket_, longest_sleep);
  }
  ticket_ = doorbell_->ticket();
  polls_ = policy_.polls_before_clock;  // come back after a single poll
}

void Waiter::stop_waiting() {
  waiting_ = false;
  if (armed_) {
    armed_ = false;
    doorbell_->disarm();
  }
}

}  // namespace gyre::engine
