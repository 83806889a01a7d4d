// SPDX-License-Identifier: Apache-2.0
#include "core/failure.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace gyre::core {
namespace {

TEST(FailureState, TheFirstCauseStands) {
  FailureState failure;
  EXPECT_FALSE(failure.failed());
  EXPECT_FALSE(failure.cause());
  failure.set({{Code::remote_error, "rank 3 died."}, 3});
  failure.set({{Code::timeout, "rank 1 did not come."}, 1});
  EXPECT_TRUE(failure.failed());
  EXPECT_EQ(failure.word().load(), 1U);
  EXPECT_EQ(failure.cause()->error.message, "rank 3 died.");
  EXPECT_EQ(failure.cause()->error.code, Code::remote_error);
  EXPECT_EQ(failure.cause()->culprit, 3);
}

TEST(FailureState, WakesOnceAndAfterTheCauseIsThere) {
  FailureState failure;
  int calls = 0;
  failure.set_waker([&] {
    ++calls;
    EXPECT_TRUE(failure.failed());
    EXPECT_TRUE(failure.cause());
  });
  failure.set({{Code::aborted, "first"}, 0});
  failure.set({{Code::aborted, "second"}, 0});
  EXPECT_EQ(calls, 1);
}

TEST(FailureState, AWakerThatWasTakenBackIsNotCalled) {
  FailureState failure;
  int calls = 0;
  failure.set_waker([&] { ++calls; });
  failure.set_waker({});
  failure.set({{Code::aborted, "late"}, 0});
  EXPECT_EQ(calls, 0);
}

// Whoever waits on the word alone finds a complete cause, and all find the same one.
TEST(FailureState, ManyThreadsAgreeOnOneCause) {
  for (int round = 0; round < 50; ++round) {
    FailureState failure;
    std::vector<int> seen(4, -1);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&failure, &seen, thread] {
        if (thread < 2) {
          failure.set({{Code::aborted, std::to_string(thread)}, thread});
        } else {
          failure.set_waker({});  // as a communicator does that is being destroyed
          while (failure.word().load(std::memory_order_relaxed) == 0) {
            std::this_thread::yield();
          }
        }
        seen[static_cast<std::size_t>(thread)] = failure.cause()->culprit;
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_TRUE(seen[0] == 0 || seen[0] == 1);
    EXPECT_EQ(seen, std::vector(4, seen[0]));
    EXPECT_EQ(failure.cause()->error.message, std::to_string(seen[0]));
  }
}

}  // namespace
}  // namespace gyre::core
