// SPDX-License-Identifier: Apache-2.0
// How messages are written into slots, decided by measuring.
//
// Through the caches, round many slots: a slot has left the reader's cache by itself when it is written
// again. Through the caches, round a few slots that stay there: best where the two caches are one, or
// where a line is cheap to take from the other. Past the caches: best where neither is so, and a line
// would be fetched from the reader's cache before it is written and fetched back to be read, which can
// be slower than memory by a factor of four. Which one is best differs by factors from machine to
// machine, and a hypervisor moves processors from one case to the other while a job runs. So the
// question is asked again and again: now and then a call uses another way, and the fastest one is kept
// for calls of about that size.
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
  enum class Way : std::uint8_t { many_slots, few_slots, past_caches };
  static constexpr std::size_t ways = 3;

  struct Decision {
    Way way = Way::many_slots;
    bool timed = false;  // report how long the call took

    [[nodiscard]] bool streams() const { return way == Way::past_caches; }
    [[nodiscard]] bool few() const { return way == Way::few_slots; }
  };

  [[nodiscard]] Decision decide(std::uint64_t bytes) {
    Class& size = class_of(bytes);
    const std::uint32_t call = size.calls++;
    if (call == 0) {
      begin(size, bytes);
    }
    const std::uint32_t trial = size.trial_calls;
    if (call < size.first_calls) {
      return size.inherited ? Decision{.way = size.best, .timed = true}
                            : Decision{static_cast<Way>(call / trial), is_timed(size, call)};
    }
    // Soon once more, since what was measured first was also the first touch of everything.
    const std::uint32_t since = std::min(call & size.period_mask, call - std::bit_floor(call));
    const bool soon = call < early_trials * trial;
    const std::uint32_t at = soon ? since : call & size.period_mask;
    if (at < (ways - 1) * trial) {
      return {.way = other_way(size.best, at / trial), .timed = is_timed(size, at)};
    }
    return {.way = size.best, .timed = call % 16 == 4};
  }

  void report(std::uint64_t bytes, Decision decision, std::int64_t nanoseconds) {
    Class& size = class_of(bytes);
    double& estimate = size.nanoseconds[static_cast<std::size_t>(decision.way)];
    // The smallest of late, so that one late peer or one interrupt does not decide.
    estimate = std::min(static_cast<double>(nanoseconds), estimate * 1.1);
    const auto fastest = std::min_element(size.nanoseconds.begin(), size.nanoseconds.end());
    size.best = static_cast<Way>(fastest - size.nanoseconds.begin());
    double second = 1e18;
    for (const double& other : size.nanoseconds) {
      second = &other == &*fastest ? second : std::min(second, other);
    }
    // The clearer the case, the rarer the trial.
    const std::uint32_t calls = (second > *fastest * 1.5 ? 256U : 64U) * size.trial_calls;
    size.period_mask = std::bit_ceil(calls) - 1;
  }

 private:
  // Calls before the first trial of a size whose neighbour was measured: the longer the messages,
  // the fewer the calls and the dearer a trial.
  static constexpr std::uint32_t trusting_calls = 32;
  static constexpr std::uint32_t early_trials = 16;  // in trials' lengths
  // The last calls of a trial are timed. Those before put the caches into the state that the way keeps
  // them in: they go once round a few slots.
  static constexpr std::uint32_t timed_calls = 2;
  static constexpr std::uint64_t warming_bytes = 512 * 1024;
  static constexpr std::uint32_t most_warming_calls = 32;

  struct Class {
    std::uint32_t calls = 0;
    std::uint32_t first_calls = 0;
    std::uint32_t trial_calls = timed_calls;
    bool inherited = false;
    std::uint32_t period_mask = 127;  // a power of two less one
    Way best = Way::many_slots;
    std::array<double, ways> nanoseconds{1e18, 1e18, 1e18};  // by way

    [[nodiscard]] bool is_measured() const {
      return *std::max_element(nanoseconds.begin(), nanoseconds.end()) < 1e18;
    }
  };

  // The ways beside `best`, in turn.
  static Way other_way(Way best, std::uint32_t turn) {
    return static_cast<Way>((static_cast<std::uint32_t>(best) + 1 + turn) % ways);
  }

  static bool is_timed(const Class& size, std::uint32_t call) {
    return call % size.trial_calls >= size.trial_calls - timed_calls;
  }

  void begin(Class& size, std::uint64_t bytes) {
    const std::uint64_t warming = warming_bytes / std::max<std::uint64_t>(bytes, 1);
    size.trial_calls = timed_calls + static_cast<std::uint32_t>(
                                         std::min<std::uint64_t>(warming, most_warming_calls));
    size.first_calls = static_cast<std::uint32_t>(ways) * size.trial_calls;
    inherit(size);
  }

  // Begins with what was found for the nearest size.
  void inherit(Class& size) {
    const auto at = static_cast<std::size_t>(&size - classes_.data());
    for (std::size_t distance = 1; distance < classes_.size() && !size.inherited; ++distance) {
      for (const std::size_t other : {at - distance, at + distance}) {  // wraps to a large number
        if (other < classes_.size() && classes_[other].is_measured()) {
          size.best = classes_[other].best;
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
