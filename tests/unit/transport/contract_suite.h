// SPDX-License-Identifier: Apache-2.0
// What src/transport/connection.h promises, as tests that every transport has to pass. A test
// program of a transport includes this and instantiates the suite.
#pragma once

#include "unit/transport/contract_fixture.h"
#include "unit/transport/contract_slots.h"

namespace gyre::transport {

TEST_P(Contract, AFifoKeepsOrderAndBytes) {
  connect({.channels = 1, .slots = 2, .slot_bytes = 256, .inline_bytes = 64});
  std::thread sender([&] {
    for (std::uint64_t i = 0; i < 300; ++i) {
      ASSERT_NO_FATAL_FAILURE(send(left(), 0, noise(1 + i % 256, i)));
    }
  });
  for (std::uint64_t i = 0; i < 300; ++i) {
    ASSERT_NO_FATAL_FAILURE(take(right(), 0, noise(1 + i % 256, i)));
  }
  sender.join();
}

TEST_P(Contract, SlotsAreThereExactlyWhileMessagesAreUnreleased) {
  for (const int slots : {1, 2, 3}) {
    connect({.channels = 1, .slots = slots, .slot_bytes = 64, .inline_bytes = 64});
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(slots); ++i) {
      ASSERT_NO_FATAL_FAILURE(send(left(), 0, noise(64, i)));
    }
    expect_no_slot(left(), 0);
    expect_message(right(), 0, noise(64, 0));
    expect_no_slot(left(), 0);
    for (std::uint64_t i = 0; i < 20; ++i) {
      // Each release gives one credit, no more.
      ASSERT_NO_FATAL_FAILURE(take(right(), 0, noise(64, i)));
      ASSERT_NO_FATAL_FAILURE(send(left(), 0, noise(64, i + static_cast<std::uint64_t>(slots))));
      ASSERT_NO_FATAL_FAILURE(expect_no_slot(left(), 0));
    }
  }
}

TEST_P(Contract, AMessageStaysUntilItIsReleased) {
  connect({.channels = 1, .slots = 3, .slot_bytes = 64, .inline_bytes = 64});
  send(left(), 0, noise(64, 1));
  send(left(), 0, noise(64, 2));
  expect_message(right(), 0, noise(64, 1));
  expect_message(right(), 0, noise(64, 1));
  right().release(0);
  expect_message(right(), 0, noise(64, 2));
}

TEST_P(Contract, AskingForASlotAgainGivesTheSameOne) {
  connect({.channels = 1, .slots = 2, .slot_bytes = 64, .inline_bytes = 64});
  std::byte* const slot = left().slot_to_fill(0);
  ASSERT_NE(slot, nullptr);
  std::memset(slot, 0x11, 64);
  EXPECT_EQ(left().slot_to_fill(0), slot);
  expect_nothing(right(), 0);
  left().put(0, 64, tag);
  take(right(), 0, std::vector(64, std::byte{0x11}));
}

TEST_P(Contract, ChannelsAndDirectionsAreIndependent) {
  constexpr int channels = 5;
  connect({.channels = channels, .slots = 2, .slot_bytes = 64, .inline_bytes = 64});
  // Channel 2 is full and is never read; the others, and the other direction, do not care.
  send(left(), 2, noise(64, 1));
  send(left(), 2, noise(64, 2));
  for (std::uint64_t i = 0; i < 50; ++i) {
    for (const int channel : {4, 0, 3, 1}) {
      const std::uint64_t seed = i * 10 + static_cast<std::uint64_t>(channel);
      ASSERT_NO_FATAL_FAILURE(send(left(), channel, noise(64, seed)));
      ASSERT_NO_FATAL_FAILURE(send(right(), channel, noise(64, seed + 5)));
      ASSERT_NO_FATAL_FAILURE(take(right(), channel, noise(64, seed)));
      ASSERT_NO_FATAL_FAILURE(take(left(), channel, noise(64, seed + 5)));
    }
  }
  expect_no_slot(left(), 2);
  expect_message(right(), 2, noise(64, 1));
}

// Channels with other slots behind the first ones, and lines behind those: each has its own number
// and size.
TEST_P(Contract, SmallAndLineChannelsHaveSlotsOfTheirOwn) {
  const auto slots = [](int channel) { return channel < 2 ? 2U : channel < 5 ? 1U : 3U; };
  const auto bytes_of = [](int channel) {
    return channel < 2 ? 1024 : channel < 5 ? 64 : transport::line_bytes;
  };
  connect({.channels = 2,
           .slots = 2,
           .slot_bytes = 1024,
           .inline_bytes = 64,
           .small_channels = 3,
           .small_slots = 1,
           .small_slot_bytes = 64,
           .line_channels = 2,
           .line_slots = 3});
  for (std::uint64_t round = 0; round < 5; ++round) {
    for (int channel = 0; channel < 7; ++channel) {
      const std::size_t bytes = bytes_of(channel);
      const std::uint64_t seed = round * 100 + static_cast<std::uint64_t>(channel) * 10;
      for (std::uint64_t slot = 0; slot < slots(channel); ++slot) {
        ASSERT_NO_FATAL_FAILURE(send(left(), channel, noise(bytes, seed + slot)));
      }
      ASSERT_NO_FATAL_FAILURE(expect_no_slot(left(), channel));
    }
    for (int channel = 6; channel >= 0; --channel) {
      const std::size_t bytes = bytes_of(channel);
      const std::uint64_t seed = round * 100 + static_cast<std::uint64_t>(channel) * 10;
      for (std::uint64_t slot = 0; slot < slots(channel); ++slot) {
        ASSERT_NO_FATAL_FAILURE(take(right(), channel, noise(bytes, seed + slot)));
      }
    }
  }
}

TEST_P(Contract, AnotherTagIsAMismatchAndConsumesNothing) {
  connect({.channels = 1, .slots = 2, .slot_bytes = 64, .inline_bytes = 128});
  send(left(), 0, noise(64, 1), 5);
  const std::byte* message = nullptr;
  ASSERT_TRUE(until([&] { return right().arrived(0, 6, &message) != Arrival::pending; }));
  EXPECT_EQ(right().arrived(0, 6, &message), Arrival::mismatch);
  expect_message(right(), 0, noise(64, 1), 5);
  right().release(0);

  left().put_inline(noise(100, 2), 5);
  std::vector<std::byte> into(100);
  ASSERT_TRUE(until([&] { return copy_inline(right(), into, 6) != Arrival::pending; }));
  EXPECT_EQ(copy_inline(right(), into, 6), Arrival::mismatch);
  take_inline(right(), noise(100, 2), 5);
}

TEST_P(Contract, EveryTagIsPossible) {
  connect({.channels = 1, .slots = 1, .slot_bytes = 64, .inline_bytes = 64});
  for (const std::uint32_t each : {0U, 1U, 0x7fffffffU, 0x80000000U, 0xffffffffU}) {
    send(left(), 0, noise(8, each), each);
    expect_message(right(), 0, noise(8, each), each);
    right().release(0);
    left().put_inline(noise(8, each), each);
    take_inline(right(), noise(8, each), each);
  }
}

TEST_P(Contract, MessagesMayBeEmpty) {
  connect({.channels = 1, .slots = 1, .slot_bytes = 64, .inline_bytes = 56});
  for (int i = 0; i < 10; ++i) {
    expect_nothing(right(), 0);
    send(left(), 0, {});
    take(right(), 0, {});
    EXPECT_EQ(copy_inline(right(), {}, tag), Arrival::pending);
    left().put_inline({}, tag);
    take_inline(right(), {});
    EXPECT_EQ(copy_inline(right(), {}, tag), Arrival::pending);
  }
}

TEST_P(Contract, SlotsOfEverySizeAreUsedWhole) {
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{192}, std::size_t{1} << 16}) {
    connect({.channels = 2, .slots = 2, .slot_bytes = bytes, .inline_bytes = 1});
    for (std::uint64_t i = 0; i < 6; ++i) {
      // All four slots full at once: none reaches into another.
      for (const int channel : {0, 1, 0, 1}) {
        ASSERT_NO_FATAL_FAILURE(send(left(), channel, noise(bytes, i)));
      }
      for (const int channel : {1, 0, 1, 0}) {
        ASSERT_NO_FATAL_FAILURE(take(right(), channel, noise(bytes, i)));
      }
    }
  }
}

TEST_P(Contract, SmallMessagesOfEverySizeUpToTheirLimit) {
  for (const std::size_t limit : {1U, 7U, 56U, 57U, 112U, 8192U}) {
    connect({.channels = 1, .slots = 1, .slot_bytes = 64, .inline_bytes = limit});
    const std::size_t step = std::max<std::size_t>(limit / 10, 1);
    for (std::size_t bytes = 0; bytes <= limit; bytes += step) {
      for (Connection* from : {&left(), &right()}) {
        from->put_inline(noise(bytes, bytes), tag);
      }
      for (Connection* at : {&left(), &right()}) {
        ASSERT_NO_FATAL_FAILURE(take_inline(*at, noise(bytes, bytes)));
      }
    }
    left().put_inline(noise(limit, 1), tag);
    left().put_inline(noise(limit, 2), tag);
    take_inline(right(), noise(limit, 1));
    take_inline(right(), noise(limit, 2));
  }
}

TEST_P(Contract, ASkippedSmallMessageCountsWhetherItIsThereOrNot) {
  connect({.channels = 1, .slots = 1, .slot_bytes = 64, .inline_bytes = 256});
  left().put_inline(noise(200, 1), tag);
  right().skip_inline();
  left().put_inline(noise(200, 2), tag);
  take_inline(right(), noise(200, 2));
  right().skip_inline();
  left().put_inline(noise(200, 3), tag);
  left().put_inline(noise(200, 4), tag);
  take_inline(right(), noise(200, 4));
}

// Both sides send one and take one in each operation, and run apart as far as that lets them.
TEST_P(Contract, TwoSmallMessagesAreEnoughWhenUseIsSymmetric) {
  connect({.channels = 1, .slots = 1, .slot_bytes = 64, .inline_bytes = 300});
  const auto work = [&](Connection& mine, std::uint64_t me) {
    std::mt19937_64 random(me);
    for (std::uint64_t i = 0; i < 500; ++i) {
      const std::size_t bytes = i * 7 % 301;
      mine.put_inline(noise(bytes, i * 2 + me), tag);
      for (std::uint64_t pause = random() % 4; pause > 0; --pause) {
        std::this_thread::yield();
      }
      ASSERT_NO_FATAL_FAILURE(take_inline(mine, noise(bytes, i * 2 + 1 - me)));
    }
  };
  std::thread other([&] { work(right(), 1); });
  work(left(), 0);
  other.join();
}

TEST_P(Contract, SignalsAreCounted) {
  connect({.channels = 1, .slots = 1, .slot_bytes = 64, .inline_bytes = 64});
  EXPECT_FALSE(right().signalled());
  for (int i = 0; i < 3; ++i) {
    left().signal();
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(until([&] { return right().signalled(); }));
  }
  for (int i = 0; i < insistence; ++i) {
    EXPECT_FALSE(right().signalled());
    EXPECT_FALSE(left().signalled());
  }
}

TEST_P(Contract, ASignalMakesEarlierWritesVisible) {
  connect({.channels = 1, .slots = 1, .slot_bytes = 64, .inline_bytes = 64});
  int shared = 0;  // plain: a thread sanitizer sees whether the signal orders it
  std::thread other([&] {
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE(until([&] { return right().signalled(); }));
      ASSERT_EQ(shared, 2 * i + 1);
      ++shared;
      right().signal();
    }
  });
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(shared, 2 * i);
    ++shared;
    left().signal();
    ASSERT_TRUE(until([&] { return left().signalled(); }));
  }
  other.join();
}

TEST_P(Contract, CountsOfMessagesWrapAt32Bits) {
  for (const std::uint64_t before : {(std::uint64_t{1} << 32) - 5, (std::uint64_t{1} << 33) - 4}) {
    connect({.channels = 2, .slots = 3, .slot_bytes = 128, .inline_bytes = 300}, before);
    for (std::uint64_t i = 0; i < 12; ++i) {
      ASSERT_NO_FATAL_FAILURE(expect_nothing(right(), 0));
      ASSERT_NO_FATAL_FAILURE(send(left(), 0, noise(128, i)));
      ASSERT_NO_FATAL_FAILURE(send(left(), 0, noise(128, i + 100)));
      ASSERT_NO_FATAL_FAILURE(take(right(), 0, noise(128, i)));
      ASSERT_NO_FATAL_FAILURE(take(right(), 0, noise(128, i + 100)));

      std::vector<std::byte> into(300);
      ASSERT_EQ(copy_inline(right(), into, tag), Arrival::pending);
      left().put_inline(noise(300, i), tag);
      ASSERT_NO_FATAL_FAILURE(take_inline(right(), noise(300, i)));
      left().signal();
      ASSERT_TRUE(until([&] { return right().signalled(); }));
      ASSERT_FALSE(right().signalled());
    }
  }
}

// Lines that only the longest messages reach are written for the first time after the count wrapped.
TEST_P(Contract, TheFirstLongSmallMessageMayComeAtTheWrap) {
  for (std::uint64_t messages = 1; messages <= 4; ++messages) {
    connect({.channels = 1, .slots = 1, .slot_bytes = 64, .inline_bytes = 300},
            (std::uint64_t{1} << 32) - messages);
    for (std::uint64_t i = 1; i < messages; ++i) {
      left().put_inline(noise(8, i), tag);
      ASSERT_NO_FATAL_FAILURE(take_inline(right(), noise(8, i)));
    }
    std::vector<std::byte> into(300);
    for (const std::uint32_t any : {tag, 0U}) {
      ASSERT_EQ(copy_inline(right(), into, any), Arrival::pending);
    }
    left().put_inline(noise(300, 9), tag);
    ASSERT_NO_FATAL_FAILURE(take_inline(right(), noise(300, 9)));
  }
}

}  // namespace gyre::transport
