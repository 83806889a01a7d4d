// SPDX-License-Identifier: Apache-2.0
#include "core/call.h"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

#include "gyre/gyre.h"

namespace gyre::core {
namespace {

std::vector<Call> all_kinds_of_calls() {
  std::vector<Call> calls;
  for (int collective = 0; collective <= static_cast<int>(plan::Collective::reduce_scatter_v);
       ++collective) {
    for (int type = 0; type < data_type_count; ++type) {
      for (int op = 0; op <= gyreNumOps; ++op) {
        for (const int root : {-1, 0, 1, 255, 256, 0x7fffff}) {
          calls.push_back({.collective = static_cast<plan::Collective>(collective),
                           .type = static_cast<DataType>(type),
                           .op = op,
                           .root = root,
                           .count = 100});
        }
      }
    }
  }
  return calls;
}

TEST(Call, DecodeUndoesEncode) {
  std::mt19937_64 random(3);
  for (Call call : all_kinds_of_calls()) {
    for (const std::uint64_t count : {std::uint64_t{0}, ~std::uint64_t{0}, random()}) {
      call.count = count;
      ASSERT_EQ(decode(encode(call)), call) << describe(call);
    }
  }
}

TEST(Call, CallsThatDifferInKindDifferInSignature) {
  std::unordered_map<std::uint32_t, Call> seen;
  for (const Call& call : all_kinds_of_calls()) {
    const auto [found, fresh] = seen.emplace(signature(call), call);
    EXPECT_TRUE(fresh) << describe(call) << " and " << describe(found->second);
  }
}

// 2^16 counts and 32 bits: about one pair in two runs would collide by chance alone.
TEST(Call, HowItRunsIsPartOfIt) {
  Call call{.root = 1, .count = 100, .plan = 0x020100, .chunk = 4096};
  EXPECT_EQ(decode(encode(call)), call);
  const std::uint32_t before = signature(call);
  EXPECT_EQ(describe_plan(call), "ring/staged, 2 channels, chunks of 4096 bytes");
  call.chunk = 8192;
  EXPECT_NE(signature(call), before);
  call.chunk = 4096;
  call.plan = 0x010101;
  EXPECT_NE(signature(call), before);
  EXPECT_EQ(describe_plan(call), "oneshot/staged, 1 channel, chunks of 4096 bytes");
}

TEST(Call, CallsThatDifferInCountHardlyEverShareASignature) {
  std::unordered_map<std::uint32_t, int> seen;
  int collisions = 0;
  for (std::uint64_t count = 0; count < 65536; ++count) {
    collisions += seen[signature({.count = count})]++ > 0 ? 1 : 0;
  }
  EXPECT_LE(collisions, 3);
  EXPECT_NE(signature({.count = 1}), signature({.count = std::uint64_t{1} << 32}));
  EXPECT_NE(signature({.count = 1}), signature({.count = std::uint64_t{1} << 63 | 1}));
}

TEST(Call, IsDescribedAsItsUserWroteIt) {
  EXPECT_EQ(describe({.type = DataType::float32, .op = gyreSum, .count = 100}),
            "AllReduce(count=100, float32, sum)");
  EXPECT_EQ(describe({.type = DataType::uint8, .op = gyreBxor, .count = 0}),
            "AllReduce(count=0, uint8, bxor)");
  EXPECT_EQ(describe({.type = DataType::float64, .op = gyreNumOps, .count = 7}),
            "AllReduce(count=7, float64, user's operation)");
  EXPECT_EQ(describe({.collective = plan::Collective::broadcast,
                      .type = DataType::int64,
                      .root = 3,
                      .count = 5}),
            "Broadcast(count=5, int64, root=3)");
  EXPECT_EQ(describe({.collective = plan::Collective::barrier}), "Barrier()");
}

// What a peer published is foreign data: whatever it holds, it can be put into words.
TEST(Call, NoiseCanBeDescribed) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(describe(decode({random(), random(), random(), random()})).empty());
  }
}

}  // namespace
}  // namespace gyre::core
