// SPDX-License-Identifier: Apache-2.0
#include "collectives/rotation.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/collectives/plan_cases.h"

namespace gyre::plan {
namespace {

using testing::HasSubstr;

ProgramOf programs_of(const Recipe& recipe) {
  return [recipe](int rank) { return program_of(recipe, rank); };
}

std::string verdict(const Status& status) {
  return status ? "" : status.error().message;
}

Recipe ring(Collective collective, int ranks) {
  return {.collective = collective, .algorithm = Algorithm::ring, .ranks = ranks};
}

// The whole plan whose ranks all do `first`, each from where it stands.
Plan rotated_everywhere(const Plan& description, const Program& first) {
  Plan plan = description;
  plan.programs.clear();
  for (int rank = 0; rank < plan.ranks; ++rank) {
    Program program = first;
    for (Step& step : program) {
      if (step.peer >= 0) step.peer = (step.peer + rank) % plan.ranks;
      for (auto* const slices : {&step.destinations, &step.sources}) {
        for (Slice& slice : *slices) {
          slice.block = (slice.block + rank) % plan.ranks;
          if (slice.peer >= 0) slice.peer = (slice.peer + rank) % plan.ranks;
        }
      }
    }
    plan.programs.push_back(std::move(program));
  }
  return plan;
}

std::vector<Recipe> symmetric_recipes(int ranks) {
  std::vector<Recipe> symmetric;
  for (const PlanCase& each : plan_cases()) {
    const Recipe recipe = recipe_of(each, ranks, 0);
    if (has_root(recipe.collective) || recipe.protocol == Protocol::direct) continue;
    if (check_rotation(describe(recipe), programs_of(recipe))) symmetric.push_back(recipe);
  }
  return symmetric;
}

TEST(Rotation, HasTheVerdictOfTheVerifier) {
  for (const int ranks : {2, 3, 4, 5, 8, 13, 33}) {
    const std::vector<Recipe> symmetric = symmetric_recipes(ranks);
    ASSERT_GE(symmetric.size(), 10U);
    for (const Recipe& recipe : symmetric) {
      for (const int slots : {1, 2, 3}) {
        const VerifyOptions options{.tiles = 3, .slots = slots};
        EXPECT_EQ(verify_by_rotation(describe(recipe), programs_of(recipe), options).has_value(),
                  verify(make_plan(recipe), options).has_value())
            << name_of_case(recipe) << " of " << ranks << ", " << slots << " slots";
      }
    }
  }
}

// One step of rank 0 is spoiled, and of all others alike.
TEST(Rotation, HasTheVerdictOfTheVerifierOnSpoiledPlans) {
  std::mt19937_64 random(5);
  int rejected = 0;
  constexpr int rounds = 2000;
  for (int round = 0; round < rounds; ++round) {
    const int ranks = 2 + static_cast<int>(random() % 5);
    const std::vector<Recipe> symmetric = symmetric_recipes(ranks);
    const Recipe recipe = symmetric[random() % symmetric.size()];
    Program program = program_of(recipe, 0);
    const std::size_t number = random() % program.size();
    Step& step = program[number];
    const auto shifted = [&](int value) {
      return (value + 1 + static_cast<int>(random()) % (ranks - 1) + ranks) % ranks;
    };
    switch (random() % 6) {
      case 0:
        program.erase(program.begin() + static_cast<std::ptrdiff_t>(number));
        break;
      case 1:
        program.insert(program.begin() + static_cast<std::ptrdiff_t>(number), Step(step));
        break;
      case 2:
        std::swap(step, program[(number + 1) % program.size()]);
        break;
      case 3:
        if (step.peer >= 0) step.peer = shifted(step.peer);
        for (Slice& slice : step.sources) slice.block = shifted(slice.block);
        break;
      case 4:
        step.completes = !step.completes;
        break;
      default:
        for (Slice& slice : step.destinations) slice.block = shifted(slice.block);
        if (!step.sources.empty()) step.sources.push_back(step.sources.front());
    }
    const Plan plan = rotated_everywhere(describe(recipe), program);
    const ProgramOf programs = [&](int rank) {
      return plan.programs[static_cast<std::size_t>(rank)];
    };
    const Status whole = verify(plan);
    const Status by_rotation = verify_by_rotation(plan, programs);
    ASSERT_EQ(by_rotation.has_value(), whole.has_value())
        << name_of_case(recipe) << " of " << ranks << ": " << verdict(whole) << " / "
        << verdict(by_rotation);
    rejected += whole ? 0 : 1;
  }
  EXPECT_GT(rejected, rounds / 2);
  EXPECT_LT(rejected, rounds);
}

TEST(Rotation, IsChecked) {
  const Recipe recipe = ring(Collective::all_reduce, 6);
  const auto one_differs = [&](int rank) {
    Program program = program_of(recipe, rank);
    if (rank == 4) program[2].sources[0].block = 0;
    return program;
  };
  EXPECT_EQ(verdict(check_rotation(describe(recipe), programs_of(recipe))), "");
  EXPECT_THAT(verdict(verify_by_rotation(describe(recipe), one_differs)), HasSubstr("rank 4"));
  const Recipe pairs{
      .collective = Collective::all_to_all, .algorithm = Algorithm::pairwise, .ranks = 6};
  EXPECT_NE(verdict(verify_by_rotation(describe(pairs), programs_of(pairs))), "");
  const Recipe rooted{
      .collective = Collective::broadcast, .algorithm = Algorithm::chain, .ranks = 6, .root = 0};
  EXPECT_THAT(verdict(verify_by_rotation(describe(rooted), programs_of(rooted))),
              HasSubstr("without a root"));
}

}  // namespace
}  // namespace gyre::plan
