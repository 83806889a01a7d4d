// SPDX-License-Identifier: Apache-2.0
#include "collectives/chooser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/all_reduce.h"
#include "collectives/catalog.h"
#include "collectives/geometry.h"

namespace gyre::plan {
namespace {

constexpr std::uint64_t kib = 1024;

ChoiceInput input_of(std::uint64_t bytes, int ranks) {
  return {.bytes = bytes, .element_bytes = 4, .ranks = ranks, .local_cpus = ranks};
}

Choice choice_of(const ChoiceInput& input) {
  const Result<Choice> choice = choose_all_reduce(input);
  EXPECT_TRUE(choice) << choice.error().message;
  return choice.value_or(Choice{});
}

std::string title_of(const ChoiceInput& input) {
  const Choice choice = choice_of(input);
  return title(describe_all_reduce(choice.algorithm, choice.protocol, input.ranks));
}

std::string error_of(const ChoiceInput& input) {
  const Result<Choice> choice = choose_all_reduce(input);
  return choice ? "" : choice.error().message;
}

TEST(Chooser, FollowsItsTable) {
  EXPECT_EQ(title_of(input_of(8, 4)), "oneshot/inline");
  EXPECT_EQ(title_of(input_of(kib, 4)), "oneshot/inline");
  EXPECT_EQ(title_of(input_of(kib + 4, 4)), "oneshot/staged");
  EXPECT_EQ(title_of(input_of(16 * kib, 4)), "oneshot/staged");
  EXPECT_EQ(title_of(input_of(16 * kib + 4, 4)), "twoshot/staged");
  EXPECT_EQ(title_of(input_of(128 * kib, 2)), "oneshot/staged");
  EXPECT_EQ(title_of(input_of(128 * kib + 4, 2)), "twoshot/staged");
  EXPECT_EQ(title_of(input_of(512 * kib, 16)), "twoshot/staged");
  EXPECT_EQ(title_of(input_of(512 * kib, 17)), "ring/staged");
  EXPECT_EQ(title_of(input_of(1024 * kib, 9)), "ring/staged");
  ChoiceInput mapped = input_of(1024 * kib, 9);
  mapped.direct_possible = true;
  EXPECT_EQ(title_of(mapped), "twoshot/direct");
  EXPECT_EQ(choice_of(mapped).slot_bytes, unbounded_slot);
}

TEST(Chooser, OneRankCopies) {
  const ChoiceInput alone = input_of(1024 * kib, 1);
  EXPECT_EQ(title_of(alone), "oneshot/direct");
}

TEST(Chooser, ObeysWhatIsForced) {
  ChoiceInput input = input_of(64 * kib, 4);
  input.algorithm = Algorithm::ring;
  EXPECT_EQ(title_of(input), "ring/staged");
  input.channels = 3;
  input.chunk_bytes = 512;
  EXPECT_EQ(choice_of(input).channels, 3);
  EXPECT_EQ(choice_of(input).slot_bytes, 512U);
  input.protocol = Protocol::flag_in_line;
  EXPECT_EQ(title_of(input), "ring/inline");
  EXPECT_EQ(choice_of(input).channels, 1);  // lines have none
  input.algorithm.reset();
  input.direct_possible = true;
  input.protocol = Protocol::direct;
  EXPECT_EQ(title_of(input), "twoshot/direct");
}

// Every algorithm that a collective has is obeyed by it, and by AllReduce with any operation.
TEST(Chooser, ObeysEveryAlgorithmThatThereIs) {
  for (const Collective collective :
       {Collective::all_reduce, Collective::reduce, Collective::reduce_scatter,
        Collective::all_gather, Collective::broadcast, Collective::all_to_all}) {
    for (const Algorithm algorithm : all_algorithms) {
      if (!exists(collective, algorithm, Protocol::staged)) continue;
      ChoiceInput input = input_of(64 * kib, 6);
      input.algorithm = algorithm;
      const Result<Choice> choice = choose(collective, input);
      ASSERT_TRUE(choice) << choice.error().message;
      EXPECT_EQ(choice->algorithm, algorithm) << name_of(collective);
      input.keeps_order = true;
      if (collective != Collective::all_reduce) continue;
      EXPECT_TRUE(keeps_order(choose(collective, input)->algorithm)) << name_of(algorithm);
    }
  }
}

// A step has no more contributions than the executor can tell apart.
TEST(Chooser, NoStepNamesMoreThan64Ranks) {
  for (const Collective collective : {Collective::reduce, Collective::reduce_scatter}) {
    for (const std::uint64_t bytes : {kib, 16 * kib, 64 * kib, 1024 * kib}) {
      for (const auto forced : {std::optional<Algorithm>{}, std::optional(Algorithm::one_shot),
                                std::optional(Algorithm::two_shot)}) {
        ChoiceInput input = input_of(bytes, 65);
        input.algorithm = forced;
        const Choice choice = choose(collective, input).value();
        for (const Step& step :
             program_of({collective, choice.algorithm, choice.protocol, 65, 3}, 3)) {
          ASSERT_LE(step.sources.size(), 64U) << name_of(choice.algorithm);
        }
      }
    }
  }
}

TEST(Chooser, RefusesWhatCannotRun) {
  ChoiceInput input = input_of(64 * kib, 4);
  input.algorithm = Algorithm::ring;
  input.protocol = Protocol::direct;
  EXPECT_THAT(error_of(input), testing::HasSubstr("ring/direct"));
  input.algorithm = Algorithm::two_shot;
  EXPECT_THAT(error_of(input), testing::HasSubstr("gyreMemAlloc"));
  input.direct_possible = true;
  EXPECT_EQ(error_of(input), "");
  input.algorithm = Algorithm::one_shot;
  input.in_place = true;
  EXPECT_THAT(error_of(input), testing::HasSubstr("twoshot"));
}

TEST(Chooser, AForcedOneShotAvoidsDirectWhenInPlace) {
  ChoiceInput input = input_of(64 * kib, 4);
  input.direct_possible = true;
  input.algorithm = Algorithm::one_shot;
  EXPECT_EQ(title_of(input), "oneshot/direct");
  input.in_place = true;
  EXPECT_EQ(title_of(input), "oneshot/staged");
}

// Whatever the size, slots stay in their limits, and no channel is without a tile.
TEST(Chooser, SlotsFitTheMessage) {
  for (const int ranks : {2, 3, 4, 7, 8, 9, 16, 64}) {
    for (std::uint64_t bytes = 4; bytes <= 256 * 1024 * kib; bytes = bytes * 5 / 4 / 4 * 4 + 4) {
      ChoiceInput input = input_of(bytes, ranks);
      input.local_cpus = 2;
      const Choice choice = choice_of(input);
      ASSERT_GE(choice.slot_bytes, 64U);
      ASSERT_LE(choice.slot_bytes, choice_limits.slot);
      ASSERT_EQ(choice.slot_bytes % 64, 0U);
      ASSERT_FALSE(choice.reason.empty());
      const Plan plan = describe_all_reduce(choice.algorithm, choice.protocol, ranks);
      const Geometry geometry({.count = bytes / 4,
                               .element_bytes = 4,
                               .blocks = static_cast<std::uint64_t>(plan.blocks),
                               .slot_bytes = choice.slot_bytes,
                               .channels = static_cast<std::uint64_t>(choice.channels)});
      ASSERT_GE(geometry.tiles(), static_cast<std::uint64_t>(choice.channels)) << bytes;
      ASSERT_TRUE(bytes > choice_limits.inline_bytes || geometry.tiles() == 1U);
    }
  }
}

}  // namespace
}  // namespace gyre::plan
