// SPDX-License-Identifier: Apache-2.0
#include "engine/waiter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/support/fake_clock.h"

namespace gyre::engine {
namespace {

using Verdict = Waiter::Verdict;

class FakeDoorbell final : public transport::Doorbell {
 public:
  void arm() override { events.emplace_back("arm"); }
  void disarm() override { events.emplace_back("disarm"); }
  std::uint32_t ticket() override {
    events.emplace_back("ticket");
    return ++drawn;
  }
  void sleep(std::uint32_t ticket, std::chrono::microseconds bound) override {
    events.emplace_back("sleep " + std::to_string(ticket));
    EXPECT_GT(bound.count(), 0);
    EXPECT_LE(bound.count(), 1'000'000) << "a deadline must be looked at now and then";
  }
  void ring() override { events.emplace_back("ring"); }

  std::vector<std::string> events;
  std::uint32_t drawn = 0;
};

using Events = std::vector<std::string>;

class WaiterTest : public testing::Test {
 protected:
  static constexpr WaitPolicy policy{.spin_ns = 100, .yield_ns = 1000, .polls_before_clock = 1};

  // To be asked when nothing may end the wait.
  static void pause(Waiter& each) { ASSERT_EQ(each.pause(), Verdict::poll_again); }
  // Into the phase of sleeping: armed, not asleep yet.
  void wait_until_armed() {
    pause(waiter);
    clock.advance(policy.spin_ns + policy.yield_ns);
    pause(waiter);
    ASSERT_EQ(doorbell.events, (Events{"arm", "ticket"}));
  }

  test::FakeClock clock;
  FakeDoorbell doorbell;
  std::atomic<std::uint32_t> abort{0};
  Waiter waiter{policy, clock, &doorbell, abort};
};

// A wait that lasts asks, now and then and never early, whether it is in vain.
TEST_F(WaiterTest, DoubtsWhenItHasWaitedLong) {
  constexpr std::int64_t ms = 1'000'000;
  int asked = 0;
  bool in_vain = false;
  waiter.set_doubt([&] {
    ++asked;
    return in_vain;
  });
  pause(waiter);
  clock.advance(50 * ms);
  pause(waiter);
  EXPECT_EQ(asked, 0);
  clock.advance(60 * ms);
  pause(waiter);
  pause(waiter);
  EXPECT_EQ(asked, 1);
  waiter.progressed();
  clock.advance(60 * ms);
  pause(waiter);
  EXPECT_EQ(asked, 1) << "a new wait";
  in_vain = true;
  clock.advance(110 * ms);
  EXPECT_EQ(waiter.pause(), Verdict::mismatch);
}

TEST_F(WaiterTest, SpinsThenYieldsThenArmsThenSleeps) {
  pause(waiter);  // spins
  clock.advance(policy.spin_ns);
  pause(waiter);  // yields
  clock.advance(policy.yield_ns - 1);
  pause(waiter);  // yields a last time
  EXPECT_TRUE(doorbell.events.empty());
  clock.advance(1);
  pause(waiter);
  EXPECT_EQ(doorbell.events, (Events{"arm", "ticket"})) << "a poll lies between arming and sleep";
  pause(waiter);
  pause(waiter);
  EXPECT_EQ(doorbell.events, (Events{"arm", "ticket", "sleep 1", "ticket", "sleep 2", "ticket"}));
}

TEST_F(WaiterTest, ProgressDisarmsAndStartsAnew) {
  wait_until_armed();
  waiter.progressed();
  EXPECT_EQ(doorbell.events.back(), "disarm");
  doorbell.events.clear();
  waiter.progressed();
  EXPECT_TRUE(doorbell.events.empty()) << "only once";
  pause(waiter);
  clock.advance(policy.spin_ns + policy.yield_ns - 1);
  pause(waiter);
  EXPECT_TRUE(doorbell.events.empty()) << "it spins and yields again first";
}

TEST_F(WaiterTest, OnePollBetweenTwoSleepsEvenIfPollsAreCounted) {
  WaitPolicy counted = policy;
  counted.polls_before_clock = 100;
  Waiter slow(counted, clock, &doorbell, abort);
  for (int i = 0; i < 100; ++i) {
    pause(slow);
  }
  EXPECT_EQ(clock.readings(), 1) << "the clock is read once in 100 polls";
  clock.advance(policy.spin_ns + policy.yield_ns);
  for (int i = 0; i < 100; ++i) {
    pause(slow);
  }
  EXPECT_EQ(doorbell.events, (Events{"arm", "ticket"}));
  pause(slow);
  EXPECT_EQ(doorbell.events.size(), 4U) << "asleep at the very next pause";
}

TEST_F(WaiterTest, TheTimeoutIsExact) {
  waiter.set_timeout(1'000'000);
  pause(waiter);
  clock.advance(1'000'000);
  pause(waiter);
  clock.advance(1);
  EXPECT_EQ(waiter.pause(), Verdict::timed_out);
}

TEST_F(WaiterTest, TheTimeoutCountsFromTheLastProgress) {
  waiter.set_timeout(1'000'000);
  for (int i = 0; i < 10; ++i) {
    pause(waiter);
    clock.advance(900'000);
    pause(waiter);
    waiter.progressed();
  }
  pause(waiter);
  clock.advance(1'000'001);
  EXPECT_EQ(waiter.pause(), Verdict::timed_out);
}

TEST_F(WaiterTest, WithoutATimeoutItWaitsForEver) {
  pause(waiter);
  clock.advance(std::int64_t{100} * 365 * 24 * 3600 * 1'000'000'000);
  pause(waiter);
}

TEST_F(WaiterTest, AnAbortIsSeenAtOnceInEveryPhase) {
  WaitPolicy counted = policy;
  counted.polls_before_clock = 1000;
  Waiter spinning(counted, clock, &doorbell, abort);
  pause(spinning);
  wait_until_armed();
  const int readings = clock.readings();
  abort = 1;
  EXPECT_EQ(spinning.pause(), Verdict::aborted);
  EXPECT_EQ(waiter.pause(), Verdict::aborted);
  EXPECT_EQ(clock.readings(), readings);
  EXPECT_EQ(doorbell.events.size(), 2U) << "it must not sleep once more";
}

TEST_F(WaiterTest, WithoutADoorbellItYieldsForEver) {
  Waiter alone(policy, clock, nullptr, abort);
  pause(alone);
  clock.advance(1'000'000'000);
  pause(alone);
  pause(alone);
  alone.progressed();
}

TEST_F(WaiterTest, SharedProcessorsDoNotSpin) {
  const WaitPolicy shared = WaitPolicy::shared_processors();
  EXPECT_EQ(shared.spin_ns, 0);
  EXPECT_EQ(shared.polls_before_clock, 1U);
}

}  // namespace
}  // namespace gyre::engine
