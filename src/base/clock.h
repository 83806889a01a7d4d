// SPDX-License-Identifier: Apache-2.0
// Time is handed in, so that the same code runs in a test and in a simulator.
#pragma once

#include <chrono>
#include <cstdint>

namespace gyre {

class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;
  // Nanoseconds from a fixed point; never goes back.
  [[nodiscard]] virtual std::int64_t now_ns() = 0;
};

class SteadyClock final : public Clock {
 public:
  std::int64_t now_ns() override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
};

}  // namespace gyre
