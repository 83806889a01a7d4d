// SPDX-License-Identifier: Apache-2.0
#include "perf/bounds/machine.h"

#include <cstring>

#include "perf/bounds/contest.h"
#include "perf/bounds/loops.h"

namespace bounds {
namespace {

double rate(Team& team, std::size_t bytes, const std::function<void()>& copy) {
  constexpr ClockRule rule{3, 20};
  return static_cast<double>(bytes) / measure(team, rule, copy).microseconds / 1000.0;
}

}  // namespace

double measure_ping_pong() {
  constexpr int round_trips = 1000;
  constexpr ClockRule rule{10, 20};
  std::array<Flag, 2> flags;
  double best = 0;
  run_threads(2, [&](Team& team) {
    std::uint64_t epoch = 0;
    const auto index = static_cast<std::size_t>(team.rank());
    const auto exchange = [&] {
      for (int i = 0; i < round_trips; ++i) {
        ++epoch;
        if (team.rank() == 1) team.waiter().until(flags[0].value, epoch);
        // Release, although nothing but the flag itself is passed: it is what real code does.
        flags[index].value.store(epoch, std::memory_order_release);
        if (team.rank() == 0) team.waiter().until(flags[1].value, epoch);
      }
    };
    const Measured measured = measure(team, rule, exchange);
    if (team.rank() == 0) best = measured.microseconds / round_trips / 2;
  });
  return best;
}

std::vector<CopyRate> measure_copy_rates(std::size_t max_bytes) {
  std::vector<CopyRate> rates;
  run_threads(1, [&](Team& team) {
    for (std::size_t bytes = 32768; bytes <= max_bytes; bytes *= 8) {
      const UserBuffers user(bytes / sizeof(float), 0);
      const std::size_t count = bytes / sizeof(float);
      const Loops& loops = best_loops();
      rates.push_back(
          {bytes,
           rate(team, bytes, [&] { loops.copy(user.out(), user.in(), count, Store::cached); }),
           rate(team, bytes, [&] { loops.copy(user.out(), user.in(), count, Store::streaming); }),
           rate(team, bytes, [&] { std::memcpy(user.out(), user.in(), bytes); })});
    }
  });
  return rates;
}

}  // namespace bounds
