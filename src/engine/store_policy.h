// SPDX-License-Identifier: Apache-2.0
// Whether messages are written through the caches or past them, decided by measuring.
//
// Through the caches a message meets its reader in a cache that both cores share, if they share one;
// if not, each line is fetched from the reader's cache before it is written and fetched back to be
// read, which can be slower than memory by a factor of four. A hypervisor moves processors from one
// case to the other while a job runs, so the question is asked again and again: now and then a call
// uses the other way, and the faster one is kept for calls of about that size.
//
// The choice is each sender's own; it changes no byte of what is sent.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace gyre::engine {

class StorePolicy {
 public:
  struct Decision {
    bool stream = false;
    bool timed = false;  // report how long the call took
  };

  [[nodiscard]] Decision decide(std::uint64_t bytes) {
    Class& size = class_of(bytes);
    const std::uint32_t call = size.calls++;
    if (call == 0) {
      inherit(size);
    }
    if (call < size.first_calls) {
      return {.stream = size.inherited ? size.stream : (call & 1U) != 0, .timed = true};
    }
    // Often in the beginning, when what was measured first was also the first touch of everything.
    if ((call & size.period_mask) < trials_in_a_row ||
        call - std::bit_floor(call) < trials_in_a_row) {
      return {.stream = !size.stream, .timed = true};
    }
    return {.stream = size.stream, .timed = call % 16 == 4};
  }

  void report(std::uint64_t bytes, Decision decision, std::int64_t nanoseconds) {
    Class& size = class_of(bytes);
    double& estimate = size.nanoseconds[decision.stream ? 1 : 0];
    // The smallest of late, so that one late peer or one interrupt does not decide.
    estimate = std::min(static_cast<double>(nanoseconds), estimate * 1.1);
    const auto [faster, slower] = std::minmax(size.nanoseconds[0], size.nanoseconds[1]);
    size.stream = size.nanoseconds[1] < size.nanoseconds[0];
    // The clearer the case, the rarer the trial.
    size.period_mask = slower > faster * 1.5 ? 511 : 127;
  }

 private:
  static constexpr std::uint32_t first_trials = 8;
  // Calls before the first trial of a size whose neighbour was measured: the longer the messages,
  // the fewer the calls and the dearer a trial.
  static constexpr std::uint32_t trusting_calls = 32;
  static constexpr std::uint32_t trials_in_a_row = 2;  // the first also pays for moving the lines

  struct Class {
    std::uint32_t calls = 0;
    std::uint32_t first_calls = first_trials;
    bool inherited = false;
    std::uint32_t period_mask = 127;                // a power of two less one
    bool stream = false;                            // is the faster way
    std::array<double, 2> nanoseconds{1e18, 1e18};  // by `stream`

    [[nodiscard]] bool is_measured() const {
      return nanoseconds[0] < 1e18 && nanoseconds[1] < 1e18;
    }
  };

  // Begins with what was found for the nearest size.
  void inherit(Class& size) {
    const auto at = static_cast<std::size_t>(&size - classes_.data());
    for (std::size_t distance = 1; distance < classes_.size() && !size.inherited; ++distance) {
      for (const std::size_t other : {at - distance, at + distance}) {  // wraps to a large number
        if (other < classes_.size() && classes_[other].is_measured()) {
          size.stream = classes_[other].stream;
          size.inherited = true;
          size.first_calls = trusting_calls;
          break;
        }
      }
    }
  }

  Class& class_of(std::uint64_t bytes) {
    return classes_[static_cast<std::size_t>(std::bit_width(bytes))];
  }

  std::array<Class, 65> classes_{};
};

}  // namespace gyre::engine
