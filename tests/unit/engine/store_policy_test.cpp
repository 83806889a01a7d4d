// SPDX-License-Identifier: Apache-2.0
#include "engine/store_policy.h"

#include <gtest/gtest.h>

#include <array>

namespace gyre::engine {
namespace {

using Way = StorePolicy::Way;
using Times = std::array<std::int64_t, StorePolicy::ways>;  // nanoseconds of a call, by way

// Calls of `bytes` on a machine where a call takes so long; answers how many went which way.
std::array<int, StorePolicy::ways> calls_by_way(StorePolicy& policy, std::uint64_t bytes, int calls,
                                                const Times& times) {
  std::array<int, StorePolicy::ways> count{};
  for (int i = 0; i < calls; ++i) {
    const StorePolicy::Decision decision = policy.decide(bytes);
    const auto way = static_cast<std::size_t>(decision.way);
    ++count[way];
    if (decision.timed) policy.report(bytes, decision, times[way]);
  }
  return count;
}

// Times in which `way` is the fastest.
Times best(Way way) {
  Times times = {1000, 1100, 1200};
  times[static_cast<std::size_t>(way)] = 400;
  return times;
}

constexpr Way all_ways[] = {Way::many_slots, Way::few_slots, Way::past_caches};

TEST(StorePolicy, KeepsTheFastestWay) {
  for (const Way way : all_ways) {
    StorePolicy policy;
    calls_by_way(policy, 4096, 1000, best(way));
    EXPECT_GE(calls_by_way(policy, 4096, 10000, best(way))[static_cast<std::size_t>(way)], 9700);
  }
}

TEST(StorePolicy, NoticesThatTheMachineChanged) {
  for (const Way before : all_ways) {
    for (const Way after : all_ways) {
      StorePolicy policy;
      calls_by_way(policy, 4096, 5000, best(before));
      calls_by_way(policy, 4096, 20000, best(after));
      EXPECT_GE(calls_by_way(policy, 4096, 1000, best(after))[static_cast<std::size_t>(after)], 960)
          << static_cast<int>(before) << static_cast<int>(after);
    }
  }
}

// A size that comes for the first time, as the few calls of a benchmark's last rows do, begins with
// what the sizes beside it have found, and tries nothing for a while.
TEST(StorePolicy, ANewSizeBeginsAsItsNeighbour) {
  for (const Way way : all_ways) {
    StorePolicy policy;
    calls_by_way(policy, 1 << 20, 100, best(way));
    EXPECT_EQ(calls_by_way(policy, 1 << 24, 20, best(way))[static_cast<std::size_t>(way)], 20);
  }
}

}  // namespace
}  // namespace gyre::engine
