// SPDX-License-Identifier: Apache-2.0
#include "engine/combiner.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>

namespace gyre::engine {
namespace {

// More than one piece, and a part of one.
constexpr std::size_t many = 8 * 1024 + 13;

template <typename T>
using Sources = std::vector<std::vector<T>>;

template <typename T>
Sources<T> random_sources(std::size_t sources, std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(sources));
  Sources<T> all(sources, std::vector<T>(count));
  for (auto& source : all) {
    for (T& value : source) {
      value = static_cast<T>(static_cast<int>(random() % 2001) - 1000);
    }
  }
  return all;
}

// Into several destinations, which must all come out alike.
template <typename T>
std::vector<T> combine(const Reduction& reduction, const Sources<T>& sources,
                       std::uint64_t contributions, bool completes, std::size_t destinations = 2) {
  const std::size_t count = sources[0].size();
  std::vector<std::vector<T>> results(destinations, std::vector<T>(count, T{77}));
  std::vector<std::byte*> to;
  std::vector<const std::byte*> from;
  for (auto& result : results) {
    to.push_back(reinterpret_cast<std::byte*>(result.data()));
  }
  for (const auto& source : sources) {
    from.push_back(reinterpret_cast<const std::byte*>(source.data()));
  }
  const auto most = std::max(sources.size(), destinations);
  Combiner combiner(reduction, static_cast<int>(most));
  EXPECT_EQ(combiner.element_bytes(), sizeof(T));
  combiner.combine(to, from, contributions, count, StoreHint::cached, completes);
  for (const auto& result : results) {
    EXPECT_EQ(result, results[0]);
  }
  return results[0];
}

constexpr std::uint64_t all_are_contributions = ~std::uint64_t{0};

TEST(Combiner, PlainReductions) {
  for (std::size_t count : {std::size_t{0}, std::size_t{1}, many}) {
    const auto sources = random_sources<std::int32_t>(3, count);
    const auto result = combine<std::int32_t>({.type = DataType::int32, .op = ReduceOp::max},
                                              sources, all_are_contributions, true);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(result[i], std::max({sources[0][i], sources[1][i], sources[2][i]}));
    }
  }
}

TEST(Combiner, ScalesContributionsAndOnlyThem) {
  Reduction reduction{.type = DataType::float32, .op = ReduceOp::sum, .scaled = true};
  const float scale = 0.3F;
  std::memcpy(reduction.scale.data(), &scale, sizeof(scale));
  const auto sources = random_sources<float>(3, many);
  for (std::uint64_t contributions = 0; contributions < 8; ++contributions) {
    const auto result = combine(reduction, sources, contributions, true);
    for (std::size_t i = 0; i < many; ++i) {
      const auto value = [&](std::size_t source) {
        return (contributions >> source & 1U) != 0 ? sources[source][i] * scale
                                                   : sources[source][i];
      };
      ASSERT_EQ(result[i], value(0) + value(1) + value(2)) << contributions << " " << i;
    }
  }
}

TEST(Combiner, DividesWhatIsCompleteAndNothingElse) {
  const Reduction average{.type = DataType::int32, .op = ReduceOp::sum, .divisor = 3};
  const auto sources = random_sources<std::int32_t>(3, many);
  const auto partial = combine(average, sources, all_are_contributions, false);
  const auto complete = combine(average, sources, all_are_contributions, true);
  for (std::size_t i = 0; i < many; ++i) {
    const std::int32_t sum = sources[0][i] + sources[1][i] + sources[2][i];
    ASSERT_EQ(partial[i], sum);
    ASSERT_EQ(complete[i], sum / 3);
  }
}

TEST(Combiner, ACopyOfACompleteSourceIsDividedToo) {
  const Reduction average{.type = DataType::int32, .op = ReduceOp::sum, .divisor = 2};
  const Sources<std::int32_t> sources = {{-7, 7, 8}};
  EXPECT_EQ(combine(average, sources, all_are_contributions, true),
            (std::vector<std::int32_t>{-3, 3, 4}));
}

// a, b -> 10 a + b spells the order in which it was applied.
void append_digit(const void* in, void* inout, std::size_t count, gyreDataType_t type,
                  void* context) {
  EXPECT_EQ(type, gyreInt64);
  EXPECT_LE(count * sizeof(std::int64_t), std::size_t{8} * 1024);
  *static_cast<std::size_t*>(context) += count;
  const auto* lower = static_cast<const std::int64_t*>(in);
  auto* higher = static_cast<std::int64_t*>(inout);
  for (std::size_t i = 0; i < count; ++i) {
    higher[i] += 10 * lower[i];
  }
}

TEST(Combiner, AUsersFunctionSeesRanksInOrder) {
  for (const std::int64_t sources : {2, 3, 4, 5}) {
    std::size_t calls = 0;
    const Reduction reduction{
        .type = DataType::int64,
        .user = {.function = append_digit, .context = &calls, .commutative = false}};
    Sources<std::int64_t> digits;
    std::int64_t expected = 0;
    for (std::int64_t digit = 1; digit <= sources; ++digit) {
      digits.emplace_back(many, digit);
      expected = expected * 10 + digit;
    }
    const auto result = combine(reduction, digits, all_are_contributions, true);
    ASSERT_EQ(result, std::vector<std::int64_t>(many, expected));
    EXPECT_EQ(calls, many * static_cast<std::size_t>(sources - 1));
    EXPECT_EQ(digits[0][0], 1) << "sources are read only";
    EXPECT_EQ(digits.back()[0], sources);
  }
}

TEST(Combiner, AUsersFunctionIsNotCalledForACopy) {
  std::size_t calls = 0;
  const Reduction reduction{.type = DataType::int64,
                            .user = {.function = append_digit, .context = &calls}};
  EXPECT_EQ(combine<std::int64_t>(reduction, {{5, 6}}, 1, true), (std::vector<std::int64_t>{5, 6}));
  EXPECT_EQ(calls, 0U);
}

TEST(Combiner, ADestinationMayBeASource) {
  const float third = 1.0F / 3.0F;
  Reduction scaled{.type = DataType::float32, .op = ReduceOp::sum, .scaled = true};
  std::memcpy(scaled.scale.data(), &third, sizeof(third));
  auto sources = random_sources<float>(3, many);
  const auto expected = combine(scaled, sources, all_are_contributions, true);
  std::byte* const to = reinterpret_cast<std::byte*>(sources[1].data());
  const std::byte* const from[] = {reinterpret_cast<const std::byte*>(sources[0].data()), to,
                                   reinterpret_cast<const std::byte*>(sources[2].data())};
  Combiner combiner(scaled, 3);
  combiner.combine({&to, 1}, from, all_are_contributions, many, StoreHint::cached, true);
  EXPECT_EQ(sources[1], expected);
}

TEST(Combiner, CompletesIntoAsManyDestinationsAsThereAreRanks) {
  const Reduction average{.type = DataType::int32, .op = ReduceOp::sum, .divisor = 2};
  const auto sources = random_sources<std::int32_t>(6, many);
  const auto one = combine(average, sources, all_are_contributions, true, 1);
  EXPECT_EQ(combine(average, sources, all_are_contributions, true, 6), one);
}

}  // namespace
}  // namespace gyre::engine
