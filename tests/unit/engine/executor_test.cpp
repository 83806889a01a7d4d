// SPDX-License-Identifier: Apache-2.0
// Every plan over real shared memory, ranks being threads.
#include "engine/executor.h"

#include "unit/engine/all_reduce_jobs.h"
#include "unit/support/local_cluster.h"

namespace gyre::engine {
namespace {

using plan::AllReduceCase;
using transport::Shape;

class ExecutorOverSharedMemory : public testing::TestWithParam<AllReduceCase> {};

void run_all(const AllReduceCase& each, int ranks, int slots, std::size_t most_jobs,
             const WaitPolicy& policy) {
  const Shape shape = shape_for_jobs(slots);
  auto jobs = jobs_for(each, ranks, most_jobs, static_cast<std::uint32_t>(ranks * 10 + slots));
  const test::LocalCluster cluster(ranks, shape);
  test::on_each_rank(ranks, [&](int rank) {
    run_jobs(rank, jobs, cluster.connections(rank), shape, &cluster.doorbell(rank), policy);
  });
  for (const AllReduceJob& job : jobs) {
    ASSERT_NO_FATAL_FAILURE(job.expect_right());
  }
}

TEST_P(ExecutorOverSharedMemory, UpToEightRanks) {
  for (int ranks = 1; ranks <= 8; ++ranks) {
    for (const int slots : {2, 3}) {
      const std::size_t most_jobs = ranks <= 3 ? 200 : 40;
      ASSERT_NO_FATAL_FAILURE(
          run_all(GetParam(), ranks, slots, most_jobs, WaitPolicy::shared_processors()));
    }
  }
}

TEST_P(ExecutorOverSharedMemory, ManyRanks) {
  for (const int ranks : {13, 16}) {
    ASSERT_NO_FATAL_FAILURE(run_all(GetParam(), ranks, 2, 12, WaitPolicy::shared_processors()));
  }
}

// Each wait becomes a sleep: nothing hangs for want of a ring.
TEST_P(ExecutorOverSharedMemory, AlwaysSleeping) {
  ASSERT_NO_FATAL_FAILURE(
      run_all(GetParam(), 4, 2, 40, {.spin_ns = 0, .yield_ns = 0, .polls_before_clock = 1}));
}

INSTANTIATE_TEST_SUITE_P(Plans, ExecutorOverSharedMemory, testing::ValuesIn(runnable_cases()),
                         plan::case_name);

class TwoRanks : public testing::Test {
 protected:
  // Rank 0 of two does a job whose peer does something else, or nothing.
  Outcome run_rank_0(std::int64_t timeout_ns) {
    Waiter waiter({.spin_ns = 0, .yield_ns = 0, .polls_before_clock = 1}, clock_,
                  &cluster_.doorbell(0), abort_);
    waiter.set_timeout(timeout_ns);
    Executor executor(cluster_.connections(0), shape_);
    const Outcome outcome = job_.run(0, executor, waiter);
    blamed_ = executor.blamed();
    return outcome;
  }

  Shape shape_{.channels = 1, .slots = 2, .slot_bytes = 4096, .inline_bytes = 4096};
  test::LocalCluster cluster_{2, shape_};
  AllReduceJob job_{{plan::Algorithm::two_shot, plan::Protocol::staged}, 2, {.count = 9}, 77};
  SteadyClock clock_;
  std::atomic<std::uint32_t> abort_{0};
  int blamed_ = -1;
};

TEST_F(TwoRanks, AnAbortWakesASleeper) {
  std::thread other([&] {
    // Long enough asleep: the peer never comes, so that only the ring can end a sleep early.
    while (cluster_.header(0).asleep.load() == 0) {
      std::this_thread::yield();
    }
    abort_.store(1);
    cluster_.doorbell(0).ring();
  });
  EXPECT_EQ(run_rank_0(0), Outcome::aborted);
  other.join();
}

TEST_F(TwoRanks, APeerThatDoesNotComeIsBlamedAtTheDeadline) {
  EXPECT_EQ(run_rank_0(20'000'000), Outcome::timed_out);
  EXPECT_EQ(blamed_, 1);
}

TEST_F(TwoRanks, AMessageOfAnotherCallIsAMismatch) {
  transport::Connection& peer = cluster_.connection(1, 0);
  ASSERT_NE(peer.slot_to_fill(0), nullptr);
  peer.put(0, 64, 78);
  EXPECT_EQ(run_rank_0(0), Outcome::mismatch);
  EXPECT_EQ(blamed_, 1);
}

}  // namespace
}  // namespace gyre::engine
