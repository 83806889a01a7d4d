// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <bit>
#include <random>

#include "bootstrap/overlay.h"
#include "unit/bootstrap/ranks.h"

namespace gyre::bootstrap::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

class EverySize : public Ranks, public ::testing::WithParamInterface<int> {};

TEST_P(EverySize, CardsReachEveryRankAndLinksAreFew) {
  const int n = GetParam();
  auto channels = join(n);
  for (int rank = 0; rank < n; ++rank) {
    ASSERT_TRUE(channels[rank]) << channels[rank].error().message;
    const ControlChannel& channel = **channels[rank];
    ASSERT_EQ(channel.cards().size(), static_cast<std::size_t>(n));
    for (int peer = 0; peer < n; ++peer) {
      EXPECT_EQ(text_of(channel.cards()[peer]), "card of " + std::to_string(peer));
    }
    EXPECT_LE(channel.links(), 2u * std::bit_width(static_cast<unsigned>(n - 1)));
  }
  EXPECT_TRUE(root->finished());
}

TEST_P(EverySize, AllGatherOfDifferentLengthsAgainAndAgain) {
  const int n = GetParam();
  auto channels = join(n);
  on_each_rank(n, [&](int rank) {
    ASSERT_TRUE(channels[rank]);
    for (int round = 0; round < 5; ++round) {
      const std::string mine(static_cast<std::size_t>(rank * round * 7),
                             static_cast<char>('a' + rank % 26));
      const auto all = (*channels[rank])->all_gather(bytes_of(mine), soon());
      ASSERT_TRUE(all) << all.error().message;
      for (int peer = 0; peer < n; ++peer) {
        ASSERT_EQ(text_of((*all)[peer]), std::string(static_cast<std::size_t>(peer * round * 7),
                                                     static_cast<char>('a' + peer % 26)));
      }
      ASSERT_TRUE((*channels[rank])->barrier(soon()));
    }
  });
}

TEST_P(EverySize, GoodbyeIsNoDeath) {
  const int n = GetParam();
  auto channels = join(n);
  std::atomic<int> failures{0};
  on_each_rank(n, [&](int rank) {
    ASSERT_TRUE(channels[rank]);
    ASSERT_TRUE((*channels[rank])->barrier(soon()));
    (*channels[rank])->goodbye();
  });
  // Every farewell was sent; destroying one after the other must look like death to none.
  for (int rank = 0; rank < n; ++rank) {
    failures += (*channels[rank])->failure().has_value() ? 1 : 0;
    channels[rank]->reset();
  }
  EXPECT_EQ(failures, 0);
}

INSTANTIATE_TEST_SUITE_P(Sizes, EverySize,
                         ::testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
                                           17, 64));

class Deaths : public Ranks {
 protected:
  // What on_failure of each rank got; waits for it.
  struct Witness {
    std::promise<Failure> promise;
    std::future<Failure> future = promise.get_future();
    std::atomic<int> calls{0};
  };
  std::vector<Channel> join_watched(int n, std::vector<Witness>& witnesses) {
    std::vector<ControlOptions> all;
    for (int rank = 0; rank < n; ++rank) {
      all.push_back(options(rank, n, 30s));
      all.back().on_failure = [&witness = witnesses[rank]](const Failure& failure) {
        if (witness.calls++ == 0) {
          witness.promise.set_value(failure);
        }
      };
    }
    return join(std::move(all));
  }
};

TEST_F(Deaths, OfEachRankAreSeenByAllOthersWithinASecondByName) {
  for (const int n : {2, 3, 5, 8, 9}) {
    for (int dead = 0; dead < n; ++dead) {
      make_root();
      std::vector<Witness> witnesses(n);
      auto channels = join_watched(n, witnesses);
      const auto died_at = net::Clock::now();
      channels[dead]->reset();  // no goodbye: its sockets close as if it had been killed
      for (int rank = 0; rank < n; ++rank) {
        if (rank == dead) {
          continue;
        }
        ASSERT_EQ(witnesses[rank].future.wait_until(died_at + 1s), std::future_status::ready)
            << "n " << n << ", dead " << dead << ", rank " << rank;
        const Failure failure = witnesses[rank].future.get();
        EXPECT_EQ(failure.culprit, dead);
        EXPECT_EQ(failure.code, Code::remote_error);
        EXPECT_THAT(failure.text, HasSubstr("Rank " + std::to_string(dead) + " (pid "));
        EXPECT_THAT(failure.text, HasSubstr("died: its connection closed"));
      }
      channels.clear();
      for (int rank = 0; rank < n; ++rank) {
        EXPECT_EQ(witnesses[rank].calls, rank == dead ? 0 : 1);
      }
    }
  }
}

TEST_F(Deaths, EndAnAllGatherInTheMiddle) {
  const int n = 6;
  for (int dead = 0; dead < n; ++dead) {
    make_root();
    auto channels = join(n);
    on_each_rank(n, [&](int rank) {
      if (rank == dead) {
        channels[rank]->reset();
        return;
      }
      const auto begin = net::Clock::now();
      const auto all = (*channels[rank])->all_gather(bytes_of("x"), soon());
      ASSERT_FALSE(all);
      EXPECT_EQ(all.error().code, Code::remote_error);
      EXPECT_THAT(all.error().message, HasSubstr("Rank " + std::to_string(dead)));
      EXPECT_LT(net::Clock::now() - begin, 1s);
    });
  }
}

TEST_F(Deaths, SeveralAtOnceStillReachEveryRank) {
  const int n = 16;
  auto channels = join(n);
  for (const int dead : {3, 4, 7}) {
    channels[dead]->reset();
  }
  on_each_rank(n, [&](int rank) {
    if (rank == 3 || rank == 4 || rank == 7) {
      return;
    }
    const Status met = (*channels[rank])->barrier(soon());
    ASSERT_FALSE(met);
    EXPECT_EQ(met.error().code, Code::remote_error);
  });
}

TEST_F(Deaths, AReportedFailureReachesAllAndTheFirstCauseWins) {
  const int n = 9;
  std::vector<Witness> witnesses(n);
  auto channels = join_watched(n, witnesses);
  (*channels[4])->fail(7, Code::invalid_usage, "Rank 7 counts otherwise.");
  (*channels[4])->fail(1, Code::timeout, "A later cause.");
  for (int rank = 0; rank < n; ++rank) {
    ASSERT_EQ(witnesses[rank].future.wait_for(1s), std::future_status::ready);
    const Failure failure = witnesses[rank].future.get();
    EXPECT_EQ(failure.culprit, 7);
    EXPECT_EQ(failure.code, Code::invalid_usage);
    EXPECT_EQ(failure.text, "Rank 7 counts otherwise.");
    const Status met = (*channels[rank])->barrier(soon());
    ASSERT_FALSE(met);
    EXPECT_EQ(met.error().message, "Rank 7 counts otherwise.");
  }
}

TEST_F(Ranks, DifferentCallsAreReportedOnBothSides) {
  auto channels = join(2);
  on_each_rank(2, [&](int rank) {
    const Status met = rank == 0 ? (*channels[0])->barrier(soon())
                                 : Status((*channels[1])->all_gather({}, soon()).map([](auto) {}));
    ASSERT_FALSE(met);
    EXPECT_EQ(met.error().code, Code::invalid_usage);
    EXPECT_THAT(met.error().message, HasSubstr("a barrier"));
    EXPECT_THAT(met.error().message, HasSubstr("an all-gather"));
  });
}

TEST_F(Ranks, ABarrierEndsAtItsDeadlineAndNamesWhoDidNotCome) {
  auto channels = join(2);
  const Status met = (*channels[0])->barrier(net::after(50ms));
  ASSERT_FALSE(met);
  EXPECT_EQ(met.error().code, Code::timeout);
  EXPECT_THAT(met.error().message, HasSubstr("rank 1 (pid "));
  // Rank 0 had come to this barrier before it gave up; so it may succeed here, but never the next.
  static_cast<void>((*channels[1])->barrier(soon()));
  const Status other = (*channels[1])->barrier(soon());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message, met.error().message);
}

TEST_F(Ranks, WaitingForARankThatLeftIsAnErrorAtOnce) {
  auto channels = join(2);
  (*channels[1])->goodbye();
  channels[1]->reset();
  const Status met = (*channels[0])->barrier(soon());
  ASSERT_FALSE(met);
  EXPECT_EQ(met.error().code, Code::invalid_usage);
  EXPECT_THAT(met.error().message, HasSubstr("left the communicator"));
}

TEST(Alone, NeedsNoNetwork) {
  net::EventLoop loop;
  ASSERT_TRUE(loop.start());
  ControlOptions options;
  options.card = bytes_of("me");
  auto channel = ControlChannel::connect(loop, options);
  ASSERT_TRUE(channel) << channel.error().message;
  EXPECT_EQ((*channel)->links(), 0u);
  const auto all = (*channel)->all_gather(bytes_of("mine"), soon());
  ASSERT_TRUE(all);
  EXPECT_EQ(text_of(all->at(0)), "mine");
  EXPECT_TRUE((*channel)->barrier(soon()));
}

TEST(Overlay, StaysConnectedWithoutAnyRankAndDiallingIsAgreed) {
  for (int n = 1; n <= 40; ++n) {
    for (int rank = 0; rank < n; ++rank) {
      for (const int peer : overlay_neighbours(rank, n)) {
        ASSERT_NE(peer, rank);
        ASSERT_NE(overlay_dials(rank, peer, n), overlay_dials(peer, rank, n));
      }
    }
    for (int lost = 0; lost < n && n > 2; ++lost) {
      std::vector<bool> reached(n, false);
      std::vector<int> next{lost == 0 ? 1 : 0};
      reached[next[0]] = true;
      for (std::size_t i = 0; i < next.size(); ++i) {
        for (const int peer : overlay_neighbours(next[i], n)) {
          if (peer != lost && !reached[peer]) {
            reached[peer] = true;
            next.push_back(peer);
          }
        }
      }
      ASSERT_EQ(next.size(), static_cast<std::size_t>(n - 1)) << "n " << n << ", lost " << lost;
    }
  }
}

}  // namespace
}  // namespace gyre::bootstrap::testing
