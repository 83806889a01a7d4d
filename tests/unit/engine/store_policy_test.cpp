// SPDX-License-Identifier: Apache-2.0
#include "engine/store_policy.h"

#include <gtest/gtest.h>

namespace gyre::engine {
namespace {

// Calls of `bytes` on a machine where a call takes so long; answers how many were streamed.
int streamed(StorePolicy& policy, std::uint64_t bytes, int calls, std::int64_t cached_ns,
             std::int64_t streamed_ns) {
  int count = 0;
  for (int i = 0; i < calls; ++i) {
    const StorePolicy::Decision decision = policy.decide(bytes);
    count += decision.stream ? 1 : 0;
    if (decision.timed) policy.report(bytes, decision, decision.stream ? streamed_ns : cached_ns);
  }
  return count;
}

TEST(StorePolicy, KeepsTheFasterWay) {
  StorePolicy policy;
  streamed(policy, 4096, 100, 1000, 400);
  EXPECT_GE(streamed(policy, 4096, 1000, 1000, 400), 980);
  StorePolicy other;
  streamed(other, 4096, 100, 400, 1000);
  EXPECT_LE(streamed(other, 4096, 1000, 400, 1000), 20);
}

TEST(StorePolicy, NoticesThatTheMachineChanged) {
  StorePolicy policy;
  streamed(policy, 4096, 2000, 1000, 400);
  streamed(policy, 4096, 2000, 100, 400);
  EXPECT_LE(streamed(policy, 4096, 1000, 100, 400), 20);
}

// A size that comes for the first time, as the few calls of a benchmark's last rows do, begins with
// what the sizes beside it have found, and tries nothing for a while.
TEST(StorePolicy, ANewSizeBeginsAsItsNeighbour) {
  StorePolicy policy;
  streamed(policy, 1 << 20, 100, 1000, 400);
  EXPECT_EQ(streamed(policy, 1 << 24, 20, 20000, 8000), 20);
  StorePolicy other;
  streamed(other, 1 << 20, 100, 400, 1000);
  EXPECT_EQ(streamed(other, 1 << 16, 20, 40, 100), 0);
}

}  // namespace
}  // namespace gyre::engine
