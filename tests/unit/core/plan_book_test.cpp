// SPDX-License-Identifier: Apache-2.0
#include "core/plan_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/catalog.h"
#include "collectives/plan_json.h"
#include "collectives/steps.h"
#include "support/temporary_directory.h"

namespace gyre::core {
namespace {

using plan::Algorithm;
using plan::Collective;
using plan::Protocol;
using testing::HasSubstr;

constexpr transport::Shape shape = {.slots = 8};

class Book : public testing::Test {
 protected:
  std::string write(const std::string& name, const plan::Plan& plan) const {
    return directory_.write(name, plan::to_json(plan));
  }
  std::string write(const std::string& name, const plan::Recipe& recipe) const {
    return write(name, plan::make_plan(recipe));
  }
  std::string refusal(const std::string& files, int ranks = 3) const {
    const auto gathered = gather_user_plans(files, ranks, shape);
    return gathered ? "" : gathered.error().message;
  }
  test::TemporaryDirectory directory_;
};

TEST_F(Book, WhatRank0HandsOutIsFoundByItsKind) {
  const std::string files =
      write("a", plan::Recipe{Collective::all_reduce, Algorithm::ring, Protocol::staged, 3, -1}) +
      "::" +
      write("b",
            plan::Recipe{Collective::all_reduce, Algorithm::two_shot, Protocol::direct, 3, -1}) +
      ":" +
      write("c", plan::Recipe{Collective::broadcast, Algorithm::chain, Protocol::staged, 3, 2}) +
      ":" +
      write("d",
            plan::Recipe{Collective::all_reduce, Algorithm::two_shot, Protocol::staged, 4, -1});
  const auto gathered = gather_user_plans(files, 3, shape);
  ASSERT_TRUE(gathered) << gathered.error().message;
  for (int rank = 0; rank < 3; ++rank) {
    const auto book = parse_user_plans(*gathered, rank);
    ASSERT_TRUE(book) << book.error().message;
    const UserPlan* const staged = book->find(Collective::all_reduce, -1, false);
    ASSERT_NE(staged, nullptr);
    EXPECT_EQ(staged->heading.name, "file:ring");
    EXPECT_EQ(
        staged->program,
        plan::program_of({Collective::all_reduce, Algorithm::ring, Protocol::staged, 3, -1}, rank));
    EXPECT_EQ(book->find(Collective::all_reduce, -1, true)->heading.name, "file:twoshot");
    EXPECT_EQ(book->find(Collective::broadcast, 2, false)->heading.name, "file:chain");
    EXPECT_EQ(book->find(Collective::broadcast, 1, false), nullptr);
    EXPECT_EQ(book->find(Collective::broadcast, 2, true), nullptr);
    EXPECT_EQ(book->find(Collective::all_gather, -1, false), nullptr);
  }
}

TEST_F(Book, APlanThatIsWrongIsRefused) {
  plan::Plan wrong =
      plan::make_plan({Collective::all_reduce, Algorithm::ring, Protocol::staged, 3, -1});
  wrong.programs[1].pop_back();
  EXPECT_THAT(refusal(write("wrong", wrong)), HasSubstr("wrong is refused"));
  // For another number of ranks it does no harm.
  EXPECT_EQ(refusal(write("wrong", wrong), 2), "");
}

TEST_F(Book, APlanThatIsRightButCannotRunIsRefused) {
  EXPECT_THAT(refusal(write("inline", plan::Recipe{Collective::all_reduce, Algorithm::one_shot,
                                                   Protocol::flag_in_line, 3, -1})),
              HasSubstr("in lines"));
  plan::Plan slots =
      plan::make_plan({Collective::all_reduce, Algorithm::ring, Protocol::staged, 3, -1});
  slots.slots = 9;
  EXPECT_THAT(refusal(write("slots", slots)), HasSubstr("GYRE_SLOTS=9"));
  EXPECT_THAT(refusal(write("many", plan::Recipe{Collective::all_reduce, Algorithm::one_shot,
                                                 Protocol::staged, 65, -1}),
                      65),
              HasSubstr("at most 64 sources"));
}

// A value that goes nowhere may be what it likes, but not have more sources than the executor has room for.
TEST_F(Book, SumsOfNoUseHaveALimitToo) {
  plan::Plan plan =
      plan::make_plan({Collective::all_reduce, Algorithm::ring, Protocol::staged, 3, -1});
  plan.scratch_blocks = 1;
  plan::Step useless =
      plan::build::combine({3, plan::build::input(0)}, {plan::build::scratch(0, 0)});
  plan.programs[1].insert(plan.programs[1].begin(), useless);
  EXPECT_EQ(refusal(write("useless", plan)), "");
  plan.programs[1][0].sources.push_back(plan::build::input(0));
  EXPECT_THAT(refusal(write("larger", plan)),
              testing::AllOf(HasSubstr("Rank 1, step 0"), HasSubstr("at most 3 sources")));
}

TEST_F(Book, ScratchHasALimit) {
  plan::Plan plan =
      plan::make_plan({Collective::all_reduce, Algorithm::ring, Protocol::staged, 3, -1});
  plan.scratch_blocks = 65536;
  EXPECT_THAT(refusal(write("scratch", plan)), HasSubstr("65536 scratch blocks would take"));
  plan.scratch_blocks = 64;
  EXPECT_EQ(refusal(write("scratch", plan)), "");
}

TEST_F(Book, DirectPlansOfEveryCollectiveRun) {
  int plans = 0;
  for (const Collective collective : plan::all_collectives) {
    for (const plan::Recipe& recipe : plan::recipes(collective, 3, 1)) {
      if (recipe.protocol != Protocol::direct) continue;
      const auto gathered = gather_user_plans(write("direct", recipe), 3, shape);
      ASSERT_TRUE(gathered) << gathered.error().message;
      const auto book = parse_user_plans(*gathered, 2);
      ASSERT_TRUE(book) << book.error().message;
      const UserPlan* const found = book->find(collective, recipe.root, true);
      ASSERT_NE(found, nullptr);
      EXPECT_EQ(found->reach, plan::reach_of(plan::make_plan(recipe)));
      ++plans;
    }
  }
  EXPECT_EQ(plans, 9);
}

TEST_F(Book, GarbageIsNoListOfPlans) {
  const auto gathered = gather_user_plans(
      write("a", plan::Recipe{Collective::all_reduce, Algorithm::ring, Protocol::staged, 3, -1}), 3,
      shape);
  ASSERT_TRUE(gathered);
  for (std::size_t size = 0; size < gathered->size(); size += 7) {
    EXPECT_FALSE(parse_user_plans(net::ByteView(*gathered).first(size), 0)) << size;
  }
  EXPECT_FALSE(parse_user_plans(*gathered, 3));
}

}  // namespace
}  // namespace gyre::core
