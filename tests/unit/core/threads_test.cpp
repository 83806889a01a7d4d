// SPDX-License-Identifier: Apache-2.0
// Ranks as threads of one process over the public interface: the whole library over one mapping of
// each byte, where a thread sanitizer sees both ends of everything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "gyre/gyre.h"
#include "unit/support/local_cluster.h"

namespace gyre {
namespace {

using test::on_each_rank;
using testing::HasSubstr;

class Environment final : public testing::Environment {
 public:
  void SetUp() override {
    ::setenv("GYRE_SOCKET_IFNAME", "=lo", 1);
    ::setenv("GYRE_SOCKET_FAMILY", "AF_INET", 1);
  }
};
const auto* const environment = testing::AddGlobalTestEnvironment(new Environment);

gyreUniqueId new_id() {
  gyreUniqueId id{};
  EXPECT_EQ(gyreGetUniqueId(&id), gyreSuccess) << gyreGetLastError(nullptr);
  return id;
}

gyreComm_t join(const gyreUniqueId& id, int ranks, int rank, int timeout_seconds = 60) {
  gyreConfig_t config = GYRE_CONFIG_INITIALIZER;
  config.timeoutSeconds = timeout_seconds;
  gyreComm_t comm = nullptr;
  EXPECT_EQ(gyreCommInitRankConfig(&comm, ranks, id, rank, &config), gyreSuccess)
      << gyreGetLastError(nullptr);
  return comm;
}

// Sum of i + rank over the ranks.
void sum_once(gyreComm_t comm, int ranks, int rank, std::size_t count) {
  std::vector<std::int64_t> send(count);
  std::vector<std::int64_t> receive(count, -1);
  std::iota(send.begin(), send.end(), rank);
  ASSERT_EQ(gyreAllReduce(send.data(), receive.data(), count, gyreInt64, gyreSum, comm, nullptr),
            gyreSuccess)
      << gyreGetLastError(comm);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(receive[i], static_cast<std::int64_t>(i) * ranks + ranks * (ranks - 1) / 2);
  }
}

TEST(Threads, SumsOfAllSizes) {
  for (int ranks = 2; ranks <= 5; ++ranks) {
    const gyreUniqueId id = new_id();
    on_each_rank(ranks, [&](int rank) {
      gyreComm_t comm = join(id, ranks, rank);
      int value = -1;
      EXPECT_EQ(gyreCommCount(comm, &value), gyreSuccess);
      EXPECT_EQ(value, ranks);
      EXPECT_EQ(gyreCommUserRank(comm, &value), gyreSuccess);
      EXPECT_EQ(value, rank);
      for (const std::size_t count : {0, 1, 7, 8, 100, 1024, 1025, 20'000, 200'001}) {
        sum_once(comm, ranks, rank, count);
      }
      EXPECT_EQ(gyreCommDestroy(comm), gyreSuccess) << gyreGetLastError(nullptr);
    });
  }
}

TEST(Threads, SharedMemoryIsReducedInPlaceOfStaging) {
  constexpr int ranks = 3;
  constexpr std::size_t count = 100'000;
  const gyreUniqueId id = new_id();
  on_each_rank(ranks, [&](int rank) {
    gyreComm_t comm = join(id, ranks, rank);
    void* memory = nullptr;
    ASSERT_EQ(gyreMemAlloc(&memory, count * sizeof(float)), gyreSuccess);
    auto* const values = static_cast<float*>(memory);
    for (int round = 0; round < 5; ++round) {
      std::fill_n(values, count, static_cast<float>(rank + round));
      ASSERT_EQ(gyreAllReduce(values, values, count, gyreFloat32, gyreSum, comm, nullptr),
                gyreSuccess)
          << gyreGetLastError(comm);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(values[i], static_cast<float>(3 + 3 * round));
      }
    }
    const char* plan = nullptr;
    EXPECT_EQ(gyreCommGetLastPlan(comm, &plan), gyreSuccess);
    EXPECT_THAT(plan, HasSubstr("direct"));
    EXPECT_EQ(gyreCommDestroy(comm), gyreSuccess);
    EXPECT_EQ(gyreMemFree(memory), gyreSuccess);
  });
}

// Two communicators over the same ranks, in which each thread has another rank; used in turn and
// destroyed in the one order or the other.
TEST(Threads, SeveralCommunicatorsDestroyedInAnyOrder) {
  constexpr int ranks = 3;
  for (const bool first_first : {false, true}) {
    const gyreUniqueId ids[] = {new_id(), new_id()};
    on_each_rank(ranks, [&](int thread) {
      const int rank_in_second = (thread + 1) % ranks;
      gyreComm_t first = join(ids[0], ranks, thread);
      gyreComm_t second = join(ids[1], ranks, rank_in_second);
      for (const std::size_t count : {1, 1000, 30'000}) {
        sum_once(first, ranks, thread, count);
        sum_once(second, ranks, rank_in_second, count);
      }
      EXPECT_EQ(gyreCommDestroy(first_first ? first : second), gyreSuccess);
      gyreComm_t rest = first_first ? second : first;
      sum_once(rest, ranks, first_first ? rank_in_second : thread, 500);
      EXPECT_EQ(gyreCommDestroy(rest), gyreSuccess);
    });
  }
}

// Communicators of different threads come and go beside each other.
TEST(Threads, UnrelatedCommunicatorsDoNotMeet) {
  constexpr int pairs = 3;
  std::vector<gyreUniqueId> ids;
  for (int i = 0; i < pairs; ++i) {
    ids.push_back(new_id());
  }
  on_each_rank(2 * pairs, [&](int thread) {
    gyreComm_t comm = join(ids[static_cast<std::size_t>(thread / 2)], 2, thread % 2);
    for (int i = 0; i < 50; ++i) {
      sum_once(comm, 2, thread % 2, static_cast<std::size_t>(i * 13));
    }
    EXPECT_EQ(gyreCommDestroy(comm), gyreSuccess);
  });
}

// Rank 0 waits in a collective that rank 1 never enters; a third thread ends that.
TEST(Threads, AbortFromAnotherThreadEndsABlockedCall) {
  for (const std::size_t count : {1, 100'000}) {
    const gyreUniqueId id = new_id();
    std::atomic<gyreComm_t> waiting{nullptr};
    std::atomic<bool> all_joined{false};
    std::thread aborter([&] {
      gyreComm_t comm = nullptr;
      while ((comm = waiting.load()) == nullptr) {
        std::this_thread::yield();
      }
      EXPECT_EQ(gyreCommAbort(comm), gyreSuccess);
    });
    on_each_rank(2, [&](int rank) {
      gyreComm_t comm = join(id, 2, rank);
      gyreResult_t async = gyreSuccess;
      if (rank == 0) {
        std::vector<float> values(count, 1.0F);
        while (!all_joined) {
          std::this_thread::yield();
        }
        waiting = comm;
        const gyreResult_t result =
            gyreAllReduce(values.data(), values.data(), count, gyreFloat32, gyreSum, comm, nullptr);
        // Aborted before the call began, the handle was dead already.
        EXPECT_TRUE(result == gyreAborted || result == gyreInvalidArgument) << result;
      } else {
        all_joined = true;
        while (async == gyreSuccess) {
          ASSERT_EQ(gyreCommGetAsyncError(comm, &async), gyreSuccess);
          std::this_thread::yield();
        }
        EXPECT_EQ(async, gyreRemoteError);
        EXPECT_THAT(gyreGetLastError(comm), HasSubstr("rank 0"));
        EXPECT_EQ(gyreCommDestroy(comm), gyreSuccess);
      }
    });
    aborter.join();
  }
}

// A rank aborts as soon as it has joined. The other one may still be joining: it learns of it there or
// later, and never waits for ever.
TEST(Threads, AbortWhileAPeerMayStillBeJoining) {
  for (int round = 0; round < 20; ++round) {
    const gyreUniqueId id = new_id();
    on_each_rank(2, [&](int rank) {
      gyreComm_t comm = nullptr;
      const gyreResult_t joined = gyreCommInitRank(&comm, 2, id, rank);
      if (rank == 0) {
        ASSERT_EQ(joined, gyreSuccess) << gyreGetLastError(nullptr);
        EXPECT_EQ(gyreCommAbort(comm), gyreSuccess);
      } else if (joined == gyreSuccess) {
        float value = 1;
        EXPECT_EQ(gyreAllReduce(&value, &value, 1, gyreFloat32, gyreSum, comm, nullptr),
                  gyreRemoteError);
        EXPECT_THAT(gyreGetLastError(comm), HasSubstr("rank 0 called gyreCommAbort"));
        EXPECT_EQ(gyreCommDestroy(comm), gyreSuccess);
      } else {
        EXPECT_EQ(joined, gyreRemoteError);
        EXPECT_THAT(gyreGetLastError(nullptr), HasSubstr("rank 0 called gyreCommAbort"));
        EXPECT_EQ(comm, nullptr);
      }
    });
  }
}

TEST(Threads, CallsThatDifferAreToldApartOnBothRanks) {
  const gyreUniqueId id = new_id();
  on_each_rank(2, [&](int rank) {
    gyreComm_t comm = join(id, 2, rank);
    std::vector<float> values(200, 1.0F);
    const std::size_t count = rank == 0 ? 100 : 200;
    const gyreResult_t result =
        gyreAllReduce(values.data(), values.data(), count, gyreFloat32, gyreSum, comm, nullptr);
    EXPECT_EQ(result, gyreInvalidUsage);
    EXPECT_THAT(gyreGetLastError(comm), HasSubstr("count=100"));
    EXPECT_THAT(gyreGetLastError(comm), HasSubstr("count=200"));
    EXPECT_EQ(gyreCommDestroy(comm), gyreSuccess);
  });
}

TEST(Threads, AnAbsentPeerIsNamedAtTheDeadline) {
  const gyreUniqueId id = new_id();
  std::atomic<bool> over{false};
  on_each_rank(2, [&](int rank) {
    gyreComm_t comm = join(id, 2, rank, 1);
    if (rank == 0) {
      float value = 1;
      EXPECT_EQ(gyreAllReduce(&value, &value, 1, gyreFloat32, gyreSum, comm, nullptr), gyreTimeout);
      EXPECT_THAT(gyreGetLastError(comm), HasSubstr("1 did not make this call"));
      over = true;
    }
    while (!over) {
      std::this_thread::yield();
    }
    // Rank 1 may learn of the failure before it destroys, or by doing so.
    EXPECT_THAT(gyreCommDestroy(comm), testing::AnyOf(gyreSuccess, gyreTimeout));
  });
}

TEST(Threads, ADestroyedHandleIsRefused) {
  const gyreUniqueId id = new_id();
  gyreComm_t comm = join(id, 1, 0);
  sum_once(comm, 1, 0, 10);
  EXPECT_EQ(gyreCommDestroy(comm), gyreSuccess);
  EXPECT_EQ(gyreCommDestroy(comm), gyreInvalidArgument);
  EXPECT_EQ(gyreCommAbort(comm), gyreInvalidArgument);
  int value = 0;
  EXPECT_EQ(gyreCommCount(comm, &value), gyreInvalidArgument);
  EXPECT_EQ(gyreAllReduce(&value, &value, 1, gyreInt32, gyreSum, comm, nullptr),
            gyreInvalidArgument);
}

}  // namespace
}  // namespace gyre
