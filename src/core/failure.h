// SPDX-License-Identifier: Apache-2.0
// Why a communicator has failed: the first cause, for ever. The hot path reads one word of it.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>

#include "base/status.h"

namespace gyre::core {

class FailureState {
 public:
  struct Cause {
    Error error;
    int culprit = -1;  // rank that died or disagreed; -1: nobody in particular
  };

  // Nonzero once failed: what every wait looks at.
  [[nodiscard]] const std::atomic<std::uint32_t>& word() const { return word_; }
  // seq_cst: one side of the agreement in Collectives::enter_direct.
  [[nodiscard]] bool failed() const { return word_.load(std::memory_order_seq_cst) != 0; }

  // The first cause stands. Whoever waits is woken.
  void set(Cause cause) {
    {
      const std::lock_guard lock(mutex_);
      if (cause_) {
        return;
      }
      cause_ = std::move(cause);
      word_.store(1, std::memory_order_seq_cst);
    }
    const std::lock_guard lock(waker_mutex_);
    if (waker_) {
      waker_();
    }
  }

  [[nodiscard]] std::optional<Cause> cause() const {
    const std::lock_guard lock(mutex_);
    return cause_;
  }

  // Called, from any thread, after a failure was set; an empty function ends that.
  void set_waker(std::function<void()> waker) {
    const std::lock_guard lock(waker_mutex_);
    waker_ = std::move(waker);
  }

 private:
  mutable std::mutex mutex_;  // guards cause_
  std::optional<Cause> cause_;
  std::atomic<std::uint32_t> word_{0};
  std::mutex waker_mutex_;  // guards waker_, and keeps it alive while it runs
  std::function<void()> waker_;
};

}  // namespace gyre::core
