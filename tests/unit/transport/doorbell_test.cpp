// SPDX-License-Identifier: Apache-2.0
// Nobody who sleeps is forgotten, and who sleeps costs nothing.
#include "transport/shm/doorbell.h"

#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <random>
#include <thread>

namespace gyre::shm {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// A delivery and its receiver, who goes through the whole ritual of doorbell.h each time.
class Ritual {
 public:
  explicit Ritual(bool use_barrier) : doorbell_(header_, use_barrier) {}

  void deliver(std::uint64_t number) {
    word_.value.store(number, std::memory_order_release);
    ring_if_asleep(header_);
  }
  [[nodiscard]] bool delivered(std::uint64_t number) const {
    return word_.value.load(std::memory_order_acquire) >= number;
  }
  // The longest single sleep that it took.
  Clock::duration receive(std::uint64_t number, std::chrono::microseconds bound) {
    Clock::duration longest{};
    doorbell_.arm();
    for (std::uint32_t ticket = doorbell_.ticket(); !delivered(number);
         ticket = doorbell_.ticket()) {
      if (delivered(number)) {
        break;
      }
      const auto start = Clock::now();
      doorbell_.sleep(ticket, bound);
      longest = std::max(longest, Clock::now() - start);
    }
    doorbell_.disarm();
    return longest;
  }

 private:
  SegmentHeader header_{};
  Word word_{};
  ShmDoorbell doorbell_;
};

// Two threads wake each other in turn, after pauses that put the delivery before, into and after
// the other's way to sleep. Returns the longest sleep of all.
Clock::duration ping_pong(bool use_barrier, std::uint64_t rounds, std::chrono::microseconds bound) {
  Ritual ping(use_barrier);
  Ritual pong(use_barrier);
  const auto pause = [](std::mt19937& random) {
    for (auto spins = random() % 2000; spins > 0; --spins) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
  };
  Clock::duration longest_there{};
  std::thread other([&] {
    std::mt19937 random(2);
    for (std::uint64_t i = 1; i <= rounds; ++i) {
      longest_there = std::max(longest_there, ping.receive(i, bound));
      pause(random);
      pong.deliver(i);
    }
  });
  Clock::duration longest{};
  std::mt19937 random(1);
  for (std::uint64_t i = 1; i <= rounds; ++i) {
    pause(random);
    ping.deliver(i);
    longest = std::max(longest, pong.receive(i, bound));
  }
  other.join();
  return std::max(longest, longest_there);
}

TEST(Doorbell, NoWakeUpIsLost) {
  // A lost one would last the whole bound.
  EXPECT_LT(ping_pong(true, 10'000, 30s), 30s);
}

TEST(Doorbell, WithoutMembarrierALostWakeUpCostsAMillisecond) {
  const auto start = Clock::now();
  ping_pong(false, 3000, 30s);
  EXPECT_LT(Clock::now() - start, 30s);
}

TEST(Doorbell, AStaleTicketDoesNotSleep) {
  SegmentHeader header{};
  ShmDoorbell doorbell(header);
  doorbell.arm();
  const std::uint32_t ticket = doorbell.ticket();
  doorbell.ring();
  const auto start = Clock::now();
  doorbell.sleep(ticket, 30s);
  EXPECT_LT(Clock::now() - start, 30s);
}

TEST(Doorbell, RingsOnlyWhoeverIsArmed) {
  SegmentHeader header{};
  ShmDoorbell doorbell(header);
  const std::uint32_t before = doorbell.ticket();
  ring_if_asleep(header);
  EXPECT_EQ(doorbell.ticket(), before);
  doorbell.arm();
  ring_if_asleep(header);
  EXPECT_NE(doorbell.ticket(), before);
  doorbell.disarm();
  const std::uint32_t after = doorbell.ticket();
  ring_if_asleep(header);
  EXPECT_EQ(doorbell.ticket(), after);
}

TEST(Doorbell, SleepingEndsAtItsBoundAndUsesNoProcessor) {
  const auto cpu_time = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  SegmentHeader header{};
  ShmDoorbell doorbell(header);
  doorbell.arm();
  const auto start = Clock::now();
  const auto cpu_start = cpu_time();
  doorbell.sleep(doorbell.ticket(), 200ms);
  EXPECT_LT(cpu_time() - cpu_start, 50ms);
  EXPECT_GE(Clock::now() - start, 190ms);
}

}  // namespace
}  // namespace gyre::shm
