// SPDX-License-Identifier: Apache-2.0
#include "core/rank_card.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace gyre::core {
namespace {

RankCard some_card() {
  RankCard card;
  card.host = topology::read_host_identity("some host");
  card.fd_server = "@gyre/1/2";
  card.plans = {.algorithm = "ring",
                .protocol = "staged",
                .chunk_bytes = 65536,
                .channels = 3,
                .plan_file = "one.json:two.json",
                .reproducible = true};
  card.slots = 5;
  card.costs = {.exchange = 1e-6, .message = 2e-7, .per_byte = 3e-10, .per_byte_large = 4e-10};
  return card;
}

TEST(RankCard, ParseUndoesSerialise) {
  const RankCard card = some_card();
  const auto parsed = parse_rank_card(serialise(card));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->host, card.host);
  EXPECT_EQ(parsed->fd_server, card.fd_server);
  EXPECT_EQ(parsed->plans, card.plans);
  EXPECT_EQ(parsed->slots, card.slots);
  EXPECT_TRUE(parsed->chooses_by_costs);
  EXPECT_EQ(parsed->costs, card.costs);
}

TEST(RankCard, CostsMayBeUnknownOrUnwanted) {
  RankCard card = some_card();
  card.costs.reset();
  EXPECT_EQ(parse_rank_card(serialise(card))->costs, std::nullopt);
  EXPECT_TRUE(parse_rank_card(serialise(card))->chooses_by_costs);
  card.chooses_by_costs = false;
  EXPECT_FALSE(parse_rank_card(serialise(card))->chooses_by_costs);
}

TEST(RankCard, ATruncatedOneIsRefused) {
  const net::Bytes bytes = serialise(some_card());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(parse_rank_card(net::ByteView(bytes).first(size))) << size;
  }
}

TEST(RankCard, BytesTooManyAreRefused) {
  net::Bytes bytes = serialise(some_card());
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(parse_rank_card(bytes));
}

TEST(RankCard, AnotherVersionIsNamed) {
  net::Bytes bytes = serialise(some_card());
  bytes[0] = std::byte{9};
  const auto parsed = parse_rank_card(bytes);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, Code::invalid_usage);
  EXPECT_THAT(parsed.error().message, testing::HasSubstr("version 9"));
}

// Whatever arrives, the parser reads inside its bytes (an address sanitizer watches) and answers.
TEST(RankCard, GarbageIsReadWithinItsBounds) {
  std::mt19937 random(11);
  const net::Bytes good = serialise(some_card());
  for (int round = 0; round < 20'000; ++round) {
    net::Bytes bytes = good;
    for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    }
    bytes.resize(random() % (bytes.size() + 1));
    bytes.shrink_to_fit();
    static_cast<void>(parse_rank_card(bytes));
  }
}

}  // namespace
}  // namespace gyre::core
