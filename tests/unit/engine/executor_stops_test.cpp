// SPDX-License-Identifier: Apache-2.0
// An operation ends, with the right peer blamed, wherever it may have to wait. One rank on one
// thread: its peers grant a number of requests and then none.
#include "unit/engine/all_reduce_jobs.h"
#include "unit/support/fake_clock.h"
#include "unit/support/scripted_connection.h"

namespace gyre::engine {
namespace {

using test::Script;
using transport::Arrival;

constexpr int ranks = 4;

// Sets the abort word at its reading number `at`.
class AbortingClock final : public Clock {
 public:
  AbortingClock(std::atomic<std::uint32_t>& abort, int at) : abort_(abort), left_(at) {}
  std::int64_t now_ns() override {
    if (--left_ == 0) {
      abort_.store(1);
    }
    return 1;
  }

 private:
  std::atomic<std::uint32_t>& abort_;
  int left_;
};

class ExecutorStops : public testing::TestWithParam<plan::AllReduceCase> {
 protected:
  Outcome run(Script& script, Clock& clock, const std::atomic<std::uint32_t>& abort,
              std::int64_t timeout_ns) {
    const transport::Shape shape{
        .channels = 2, .slots = 2, .slot_bytes = 4096, .inline_bytes = 4096};
    std::vector<std::unique_ptr<test::ScriptedConnection>> connections;
    std::vector<transport::Connection*> links(ranks, nullptr);
    for (int peer = 1; peer < ranks; ++peer) {
      connections.push_back(std::make_unique<test::ScriptedConnection>(peer, shape, script));
      links[static_cast<std::size_t>(peer)] = connections.back().get();
    }
    AllReduceJob job(GetParam(), ranks, {.count = 100, .chunk_bytes = 64, .channels = 2}, 5);
    Waiter waiter({.spin_ns = 1000, .yield_ns = 1000, .polls_before_clock = 2}, clock, nullptr,
                  abort);
    waiter.set_timeout(timeout_ns);
    Executor executor(links, shape);
    const Outcome outcome = job.run(0, executor, waiter);
    blamed_ = executor.blamed();
    return outcome;
  }

  // Calls stop(grants) for 0, 1, 2, ... grants until it says that the operation was done.
  template <typename Stop>
  void wherever_it_waits(Stop stop) {
    int places = 0;
    while (!stop(places)) {
      ASSERT_LT(++places, 10'000) << "never done";
      if (HasFatalFailure()) {
        return;
      }
    }
    EXPECT_GE(places, ranks - 1);
  }

  int blamed_ = -1;
};

TEST_P(ExecutorStops, ByAbortWhereverItWaits) {
  wherever_it_waits([&](int grants) {
    Script script{.grants = grants};
    std::atomic<std::uint32_t> abort{0};
    AbortingClock clock(abort, 3);
    const Outcome outcome = run(script, clock, abort, 0);
    if (outcome != Outcome::done) {
      EXPECT_EQ(outcome, Outcome::aborted);
      EXPECT_EQ(blamed_, script.refused_by);
    }
    return outcome == Outcome::done;
  });
}

TEST_P(ExecutorStops, ByDeadlineWhereverItWaits) {
  wherever_it_waits([&](int grants) {
    Script script{.grants = grants};
    const std::atomic<std::uint32_t> abort{0};
    test::FakeClock clock(1'000'000);
    const Outcome outcome = run(script, clock, abort, 10'000'000);
    if (outcome != Outcome::done) {
      EXPECT_EQ(outcome, Outcome::timed_out);
      EXPECT_EQ(blamed_, script.refused_by);
      // 11 readings, one a millisecond, from the first that found nothing.
      EXPECT_LE(clock.readings(), 13);
    }
    return outcome == Outcome::done;
  });
}

TEST_P(ExecutorStops, ByMismatchAtTheVeryMessage) {
  wherever_it_waits([&](int grants) {
    Script script{.grants = grants, .afterwards = Arrival::mismatch};
    const std::atomic<std::uint32_t> abort{0};
    test::FakeClock clock(1'000'000);
    const Outcome outcome = run(script, clock, abort, 10'000'000);
    if (outcome == Outcome::mismatch) {
      EXPECT_TRUE(script.refused_arrival);
      EXPECT_EQ(blamed_, script.refused_by);
    } else if (outcome != Outcome::done) {
      EXPECT_EQ(outcome, Outcome::timed_out);  // a slot or a signal that never came
      EXPECT_FALSE(script.refused_arrival);
    }
    return outcome == Outcome::done;
  });
}

TEST_P(ExecutorStops, AtOnceWhenAlreadyAborted) {
  Script script{.grants = 0};
  const std::atomic<std::uint32_t> abort{1};
  test::FakeClock clock;
  EXPECT_EQ(run(script, clock, abort, 0), Outcome::aborted);
  EXPECT_EQ(clock.readings(), 0);
}

INSTANTIATE_TEST_SUITE_P(Plans, ExecutorStops, testing::ValuesIn(runnable_cases()),
                         plan::case_name);

}  // namespace
}  // namespace gyre::engine
