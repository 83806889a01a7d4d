// SPDX-License-Identifier: Apache-2.0
// What the tests of src/transport/connection.h stand on: two connected ends, and helpers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "transport/connection.h"

namespace gyre::transport {

// Two connected ends, and whatever they stand on.
class Pair {
 public:
  virtual ~Pair() = default;
  virtual Connection& left() = 0;
  virtual Connection& right() = 0;
  // Nothing was done against the contract, as far as this transport can tell.
  virtual void expect_no_violations() {}
};

struct TransportUnderTest {
  std::string name;
  // `messages_before`: the ends count as if so many messages had been exchanged.
  std::function<std::unique_ptr<Pair>(const Shape& shape, std::uint64_t messages_before)> make;
};

class Contract : public testing::TestWithParam<TransportUnderTest> {
 protected:
  static constexpr std::uint32_t tag = 0xfeed;
  // How often a poll may say "not yet" before the test says that nothing will come.
  static constexpr int patience = 200'000'000;
  // How often it is asked where nothing may come.
  static constexpr int insistence = 200;

  void connect(const Shape& shape, std::uint64_t messages_before = 0) {
    TearDown();
    pair_ = GetParam().make(shape, messages_before);
  }
  Connection& left() { return pair_->left(); }
  Connection& right() { return pair_->right(); }
  void TearDown() override {
    if (pair_) {
      pair_->expect_no_violations();
    }
  }

  static std::vector<std::byte> noise(std::size_t bytes, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::byte> result(bytes);
    for (std::byte& byte : result) {
      byte = static_cast<std::byte>(random());
    }
    return result;
  }

  // Polls until poll() is true; yields, for both ends may share a processor.
  static bool until(const std::function<bool()>& poll) {
    for (int i = 0; i < patience; ++i) {
      if (poll()) {
        return true;
      }
      std::this_thread::yield();
    }
    return false;
  }

  static void send(Connection& from, int channel, const std::vector<std::byte>& bytes,
                   std::uint32_t with_tag = tag) {
    std::byte* slot = nullptr;
    ASSERT_TRUE(until([&] { return (slot = from.slot_to_fill(channel)) != nullptr; }));
    std::ranges::copy(bytes, slot);
    from.put(channel, bytes.size(), with_tag);
  }
  // Waits for the oldest message, compares it, and keeps it.
  static void expect_message(Connection& at, int channel, const std::vector<std::byte>& bytes,
                             std::uint32_t with_tag = tag) {
    const std::byte* message = nullptr;
    ASSERT_TRUE(until([&] { return at.arrived(channel, with_tag, &message) == Arrival::ready; }));
    ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), message));
  }
  static void take(Connection& at, int channel, const std::vector<std::byte>& bytes) {
    ASSERT_NO_FATAL_FAILURE(expect_message(at, channel, bytes));
    at.release(channel);
  }
  static void take_inline(Connection& at, const std::vector<std::byte>& bytes,
                          std::uint32_t with_tag = tag) {
    std::vector<std::byte> message(bytes.size(), std::byte{0x77});
    ASSERT_TRUE(until([&] { return copy_inline(at, message, with_tag) == Arrival::ready; }));
    ASSERT_EQ(message, bytes);
  }
  static void expect_no_slot(Connection& at, int channel) {
    for (int i = 0; i < insistence; ++i) {
      ASSERT_EQ(at.slot_to_fill(channel), nullptr);
    }
  }
  static void expect_nothing(Connection& at, int channel) {
    const std::byte* message = nullptr;
    for (int i = 0; i < insistence; ++i) {
      ASSERT_EQ(at.arrived(channel, tag, &message), Arrival::pending);
    }
  }

 private:
  std::unique_ptr<Pair> pair_;
};

}  // namespace gyre::transport
