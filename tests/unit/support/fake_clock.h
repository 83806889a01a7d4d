// SPDX-License-Identifier: Apache-2.0
// Time that passes only when it is looked at, or when the test says so.
#pragma once

#include "base/clock.h"

namespace gyre::test {

class FakeClock final : public Clock {
 public:
  explicit FakeClock(std::int64_t step_ns = 0) : step_ns_(step_ns) {}

  std::int64_t now_ns() override {
    ++readings_;
    const std::int64_t now = now_ns_;
    now_ns_ += step_ns_;
    return now;
  }
  void advance(std::int64_t ns) { now_ns_ += ns; }
  [[nodiscard]] int readings() const { return readings_; }

 private:
  std::int64_t now_ns_ = 1'000'000'000;
  std::int64_t step_ns_;
  int readings_ = 0;
};

}  // namespace gyre::test
