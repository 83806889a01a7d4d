// SPDX-License-Identifier: Apache-2.0
// The part of the contract's suite that is about which slots a sender uses. Included by contract_suite.h.
#pragma once

#include "unit/transport/contract_fixture.h"

namespace gyre::transport {

// Which slots a sender uses is its own affair: it may change its mind before any message.
TEST_P(Contract, ASenderMayGoRoundInFewSlots) {
  std::mt19937_64 random(5);
  for (const std::uint64_t before : {std::uint64_t{0}, (std::uint64_t{1} << 32) - 300}) {
    for (const int slots : {2, 3, 5, 8}) {
      connect({.channels = 1,
               .slots = slots,
               .slot_bytes = 64,
               .inline_bytes = 64,
               .few_slots_bytes = 3 * 64},
              before);
      std::thread sender([&, seed = random()] {
        std::mt19937_64 own(seed);
        for (std::uint64_t i = 0; i < 1000; ++i) {
          if (own() % 8 == 0) left().use_few_slots(own() % 2 == 0);
          ASSERT_NO_FATAL_FAILURE(send(left(), 0, noise(64, i)));
        }
      });
      for (std::uint64_t i = 0; i < 1000; ++i) {
        ASSERT_NO_FATAL_FAILURE(take(right(), 0, noise(64, i)));
        if (random() % 64 == 0) std::this_thread::yield();
      }
      sender.join();
    }
  }
}

// With few slots, so many messages may be unreleased, not more.
TEST_P(Contract, FewSlotsAreFew) {
  connect(
      {.channels = 1, .slots = 8, .slot_bytes = 64, .inline_bytes = 64, .few_slots_bytes = 3 * 64});
  left().use_few_slots(true);
  std::uint64_t sent = 0;
  while (sent < 8 && left().slot_to_fill(0) != nullptr) {
    ASSERT_NO_FATAL_FAILURE(send(left(), 0, noise(64, sent++)));
  }
  EXPECT_GE(sent, 3U);
  for (std::uint64_t i = 0; i < sent; ++i) {
    ASSERT_NO_FATAL_FAILURE(take(right(), 0, noise(64, i)));
  }
}

}  // namespace gyre::transport
