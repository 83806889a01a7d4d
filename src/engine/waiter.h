// SPDX-License-Identifier: Apache-2.0
// What a rank does while nothing arrives: poll, then give the processor away between polls, then
// sleep until a peer rings. Every wait of the engine goes through it, so every wait sees an abort
// and a deadline.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "base/clock.h"
#include "transport/doorbell.h"

namespace gyre::engine {

// How long each kind of waiting lasts before the next, counted from the last progress.
struct WaitPolicy {
  std::int64_t spin_ns = 50'000;
  std::int64_t yield_ns = 1'000'000;
  std::uint32_t polls_before_clock = 256;  // the clock costs as much as several polls

  // Fewer processors than ranks: whoever polls keeps the rank it waits for from running.
  [[nodiscard]] static WaitPolicy shared_processors() {
    return {.spin_ns = 0, .yield_ns = 1'000'000, .polls_before_clock = 1};
  }
};

class Waiter {
 public:
  enum class Verdict : std::uint8_t { poll_again, aborted, timed_out, mismatch };

  // `abort` is nonzero once the communicator has failed. All outlive the waiter. `doorbell` may be
  // null (then it yields for ever).
  Waiter(const WaitPolicy& policy, Clock& clock, transport::Doorbell* doorbell,
         const std::atomic<std::uint32_t>& abort)
      : policy_(policy), clock_(clock), doorbell_(doorbell), abort_(abort) {}

  // The longest time without any progress; 0: for ever.
  void set_timeout(std::int64_t timeout_ns) { timeout_ns_ = timeout_ns; }
  // Asked now and then in a wait that has lasted: whether what is waited for can never come, since
  // a peer makes another call.
  void set_doubt(std::function<bool()> doubt) { doubt_ = std::move(doubt); }

  // After a poll of everything that found nothing.
  [[nodiscard]] Verdict pause() {
    if (++polls_ < policy_.polls_before_clock) [[likely]] {
      // relaxed: the word only says "stop"; its reason is read under a lock.
      return abort_.load(std::memory_order_relaxed) == 0 ? Verdict::poll_again : Verdict::aborted;
    }
    return pause_longer();
  }

  // After a poll that found something.
  void progressed() {
    polls_ = 0;
    if (waiting_) [[unlikely]] {
      stop_waiting();
    }
  }

 private:
  Verdict pause_longer();
  void stop_waiting();
  void sleep_once();

  WaitPolicy policy_;
  Clock& clock_;
  transport::Doorbell* doorbell_;
  const std::atomic<std::uint32_t>& abort_;
  std::int64_t timeout_ns_ = 0;
  std::function<bool()> doubt_;
  std::int64_t next_doubt_ns_ = 0;  // in the wait under way
  std::int64_t since_ns_ = 0;       // when this wait began, as far as `waiting_`
  std::uint32_t polls_ = 0;
  std::uint32_t ticket_ = 0;
  bool waiting_ = false;
  bool armed_ = false;
};

}  // namespace gyre::engine
