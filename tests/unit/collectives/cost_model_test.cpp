// SPDX-License-Identifier: Apache-2.0
// The cost model against closed forms, and the choice that is made by it.
#include "collectives/cost_model.h"

#include <gtest/gtest.h>

#include "collectives/chooser.h"
#include "collectives/ranking.h"

namespace gyre::plan {
namespace {

constexpr LinkCosts costs{
    .exchange = 1e-6, .message = 1e-7, .per_byte = 1e-10, .per_byte_large = 4e-10};

PlanFigures figures(Algorithm algorithm, int ranks,
                    Collective collective = Collective::all_reduce) {
  return figures_of({.collective = collective,
                     .algorithm = algorithm,
                     .protocol = Protocol::staged,
                     .ranks = ranks,
                     .root = collective == Collective::broadcast ? 0 : -1});
}

TEST(PlanFigures, AreThoseOfTheTextbook) {
  for (const int ranks : {3, 4, 7, 8, 16}) {
    EXPECT_EQ(figures(Algorithm::ring, ranks).chain, 2 * (ranks - 1));
    EXPECT_EQ(figures(Algorithm::ring, ranks).messages, 2 * (ranks - 1));
    EXPECT_EQ(figures(Algorithm::one_shot, ranks).chain, 1);
    EXPECT_EQ(figures(Algorithm::one_shot, ranks).messages, ranks - 1);
    EXPECT_EQ(figures(Algorithm::two_shot, ranks).chain, 2);
    EXPECT_EQ(figures(Algorithm::chain, ranks, Collective::broadcast).chain, ranks - 1);
  }
  EXPECT_EQ(figures(Algorithm::binomial, 16, Collective::broadcast).chain, 4);
  EXPECT_EQ(figures(Algorithm::doubling, 16).chain, 4);
}

TEST(CostModel, OneTileOfARingIsItsHops) {
  const int ranks = 5;
  const double block = 1000;
  const CostQuestion question{.bytes = 5000, .slot_bytes = 4096, .ranks = ranks, .local_cpus = 8};
  EXPECT_DOUBLE_EQ(predict(figures(Algorithm::ring, ranks), costs, question),
                   2 * (ranks - 1) * (1e-6 + 1e-7 + 3 * block * 1e-10));
}

TEST(CostModel, TilesFollowAtThePaceOfTheBusiest) {
  const PlanFigures broadcast = figures(Algorithm::chain, 4, Collective::broadcast);
  const CostQuestion one{.bytes = 4096, .slot_bytes = 4096, .ranks = 4, .local_cpus = 4};
  CostQuestion ten = one;
  ten.bytes = 40960;
  // A rank in the middle reads a slot, and writes the next one and its output.
  const double busy = 1e-7 + 3 * 4096 * 1e-10;
  EXPECT_NEAR(predict(broadcast, costs, ten) - predict(broadcast, costs, one), 9 * busy, 1e-12);
}

TEST(CostModel, SharedProcessorsAreSlower) {
  const PlanFigures exchange = figures(Algorithm::one_shot, 8);
  const CostQuestion apart{.bytes = 65536, .slot_bytes = 65536, .ranks = 8, .local_cpus = 8};
  CostQuestion shared = apart;
  shared.local_cpus = 2;
  EXPECT_NEAR((predict(exchange, costs, shared) - costs.exchange) /
                  (predict(exchange, costs, apart) - costs.exchange),
              4, 1e-9);
}

TEST(CostModel, SolvingUndoesPredicting) {
  for (const Algorithm algorithm : {Algorithm::one_shot, Algorithm::two_shot, Algorithm::ring}) {
    const PlanFigures plan = figures(algorithm, 4);
    const CostQuestion question{.bytes = 1 << 18, .slot_bytes = 16384, .ranks = 4, .local_cpus = 2};
    const double seconds = predict(plan, costs, question);
    EXPECT_NEAR(solve_cost(&LinkCosts::per_byte, costs, plan, question, seconds, 1e-8), 1e-10,
                1e-14);
    EXPECT_NEAR(solve_cost(&LinkCosts::message, costs, plan, question, seconds, 1e-5), 1e-7, 1e-11);
  }
}

ChoiceInput question(int ranks, std::uint64_t bytes) {
  return {.bytes = bytes, .element_bytes = 4, .ranks = ranks, .local_cpus = ranks, .costs = costs};
}

TEST(Ranking, HasEveryAlgorithmOnceTheFastestFirst) {
  const auto candidates = rank_candidates(Collective::all_reduce, question(8, 1 << 20));
  ASSERT_GE(candidates.size(), 5U);
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    EXPECT_LE(candidates[i - 1].seconds, candidates[i].seconds);
    EXPECT_NE(candidates[i - 1].choice.algorithm, candidates[i].choice.algorithm);
  }
}

TEST(Ranking, SaysNothingWithoutCostsOrBetweenTwo) {
  ChoiceInput without = question(8, 1 << 20);
  without.costs.reset();
  EXPECT_TRUE(rank_candidates(Collective::all_reduce, without).empty());
  EXPECT_TRUE(rank_candidates(Collective::all_reduce, question(2, 1 << 20)).empty());
}

// Where a hop costs a thousand times what a byte does, the choice must not be a ring; where hops cost
// nothing, not what sends everything to everybody.
TEST(Ranking, CostsChangeTheChoice) {
  ChoiceInput far = question(24, 4 << 20);
  EXPECT_EQ(choose_by_rules(Collective::all_reduce, far)->algorithm, Algorithm::ring);
  far.costs = {.exchange = 1e-2, .message = 0, .per_byte = 1e-12, .per_byte_large = 1e-12};
  EXPECT_EQ(choose(Collective::all_reduce, far)->algorithm, Algorithm::one_shot);

  ChoiceInput near = question(24, 2000);
  EXPECT_EQ(choose_by_rules(Collective::all_reduce, near)->algorithm, Algorithm::one_shot);
  near.costs = {.exchange = 0, .message = 1e-3, .per_byte = 0, .per_byte_large = 0};
  const Algorithm frugal = choose(Collective::all_reduce, near)->algorithm;
  EXPECT_TRUE(frugal == Algorithm::doubling || frugal == Algorithm::tree) << name_of(frugal);
}

TEST(Ranking, WhatIsForcedStaysForced) {
  ChoiceInput forced = question(24, 2000);
  forced.costs = {.exchange = 0, .message = 1e-3, .per_byte = 0, .per_byte_large = 0};
  forced.algorithm = Algorithm::ring;
  EXPECT_EQ(choose(Collective::all_reduce, forced)->algorithm, Algorithm::ring);
}

TEST(Ranking, TheOrderOfRanksIsKept) {
  ChoiceInput ordered = question(24, 2000);
  ordered.costs = {.exchange = 0, .message = 1e-3, .per_byte = 0, .per_byte_large = 0};
  for (bool ChoiceInput::*demand : {&ChoiceInput::keeps_order, &ChoiceInput::reproducible}) {
    ordered.*demand = true;
    const Algorithm algorithm = choose(Collective::all_reduce, ordered)->algorithm;
    EXPECT_TRUE(algorithm == Algorithm::one_shot || algorithm == Algorithm::two_shot);
    ordered.*demand = false;
  }
}

}  // namespace
}  // namespace gyre::plan
