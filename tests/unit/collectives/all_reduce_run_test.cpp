// SPDX-License-Identifier: Apache-2.0
// Runs every builder on real data with the ranks' steps in random order.
#include <cstring>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "unit/collectives/all_reduce_cases.h"
#include "unit/collectives/interpreter.h"

namespace gyre::plan {
namespace {

class AllReduceRun : public testing::TestWithParam<AllReduceCase> {};

template <typename T>
Geometry geometry_for(const Plan& plan, std::uint64_t count, std::uint64_t slot_bytes) {
  return Geometry({.count = count,
                   .element_bytes = sizeof(T),
                   .blocks = static_cast<std::uint64_t>(plan.blocks),
                   .slot_bytes = plan.protocol == Protocol::direct ? unbounded_slot : slot_bytes,
                   .channels = 1});
}

template <typename T, typename Draw>
std::vector<std::vector<T>> random_inputs(int ranks, std::uint64_t count, Draw draw) {
  std::vector<std::vector<T>> inputs(static_cast<std::size_t>(ranks));
  for (auto& input : inputs) {
    for (std::uint64_t i = 0; i < count; ++i) input.push_back(draw());
  }
  return inputs;
}

TEST_P(AllReduceRun, SumsEveryContributionOnceWhateverTheOrder) {
  for (const int ranks : {1, 2, 3, 4, 5, 7, 8, 13}) {
    const Plan plan = make_all_reduce(GetParam().algorithm, GetParam().protocol, ranks);
    for (const std::uint64_t count : {1, 7, 64, 65, 1000}) {
      const Geometry geometry = geometry_for<std::int64_t>(plan, count, 128);
      for (const bool in_place : {false, true}) {
        if (in_place && !plan.in_place_safe) continue;
        std::mt19937_64 random(count * 1000 + static_cast<std::uint64_t>(ranks));
        auto inputs = random_inputs<std::int64_t>(
            ranks, count, [&] { return static_cast<std::int64_t>(random() >> 16); });
        std::vector<std::int64_t> expected(count, 0);
        for (const auto& input : inputs) {
          for (std::uint64_t i = 0; i < count; ++i) expected[i] += input[i];
        }
        Interpreter<std::int64_t> machine(plan, geometry, std::move(inputs), -77, in_place);
        ASSERT_TRUE(machine.run(random())) << title(plan) << " " << ranks << " ranks";
        EXPECT_FALSE(machine.anything_left());
        for (int rank = 0; rank < ranks; ++rank) {
          ASSERT_EQ(machine.output(static_cast<std::size_t>(rank)), expected)
              << title(plan) << ", " << ranks << " ranks, rank " << rank << ", count " << count;
        }
      }
    }
  }
}

TEST_P(AllReduceRun, FloatsAreBitwiseEqualOnAllRanksAndInAllOrders) {
  constexpr int ranks = 6;
  constexpr std::uint64_t count = 333;
  const Plan plan = make_all_reduce(GetParam().algorithm, GetParam().protocol, ranks);
  const Geometry geometry = geometry_for<float>(plan, count, 64);
  std::mt19937_64 random(20);
  std::uniform_real_distribution<float> spread(-1e6F, 1e6F);
  const auto inputs = random_inputs<float>(
      ranks, count, [&] { return spread(random) / static_cast<float>(1 + random() % 1000); });
  std::vector<float> first;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Interpreter<float> machine(plan, geometry, inputs, -77.0F, false);
    ASSERT_TRUE(machine.run(seed));
    if (first.empty()) first = machine.output(0);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      ASSERT_EQ(0, std::memcmp(machine.output(rank).data(), first.data(), count * sizeof(float)))
          << title(plan) << " rank " << rank;
    }
  }
}

// With texts for numbers, whose "sum" is one text after the other.
TEST_P(AllReduceRun, KeepsTheOrderOfRanksIfItSaysSo) {
  bool kept = true;
  for (const int ranks : {2, 3, 4, 6, 7, 8, 11, 13}) {
    const Plan plan = make_all_reduce(GetParam().algorithm, GetParam().protocol, ranks);
    const Geometry geometry = geometry_for<std::int64_t>(plan, 100, 64);
    std::vector<std::vector<std::string>> inputs;
    std::string in_order;
    for (int rank = 0; rank < ranks; ++rank) {
      inputs.emplace_back(100, std::string(1, static_cast<char>('a' + rank)));
      in_order += inputs.back().front();
    }
    Interpreter<std::string> machine(plan, geometry, std::move(inputs), "poison", false);
    ASSERT_TRUE(machine.run(3));
    for (const std::string& element : machine.output(0)) kept &= element == in_order;
  }
  EXPECT_EQ(kept, keeps_order(GetParam().algorithm));
}

INSTANTIATE_TEST_SUITE_P(Builders, AllReduceRun, testing::ValuesIn(all_reduce_cases()), case_name);

TEST(AllReduceMachine, SeesADeadlock) {
  Plan plan = make_all_reduce(Algorithm::ring, Protocol::staged, 4);
  plan.slots = 1;
  const Geometry geometry = geometry_for<std::int64_t>(plan, 100, 64);
  Interpreter<std::int64_t> machine(plan, geometry,
                                    std::vector(4, std::vector<std::int64_t>(100, 1)), 0, false);
  EXPECT_FALSE(machine.run(1));
}

}  // namespace
}  // namespace gyre::plan
