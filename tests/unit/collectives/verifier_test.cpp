// SPDX-License-Identifier: Apache-2.0
#include "collectives/verifier.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/steps.h"
#include "unit/collectives/all_reduce_cases.h"

namespace gyre::plan {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Sanitizers slow the verifier down some tenfold and find nothing in a large plan that they do not
// find in a small one.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int most_ranks = 128;
#else
constexpr int most_ranks = 1024;
#endif

std::string verdict(const Plan& plan, const VerifyOptions& options = {}) {
  const Status status = verify(plan, options);
  return status ? "" : status.error().message;
}

class VerifierAccepts : public testing::TestWithParam<AllReduceCase> {};

// Slots and tiles vary with the rank count; every third count has just the slots that are declared.
TEST_P(VerifierAccepts, UpTo67Ranks) {
  for (int ranks = 1; ranks <= 67; ++ranks) {
    const Plan plan = make_all_reduce(GetParam().algorithm, GetParam().protocol, ranks);
    ASSERT_EQ(verdict(plan, {.tiles = 2 + ranks % 2, .slots = plan.slots + ranks % 3}), "");
  }
}

TEST_P(VerifierAccepts, DeclaredSlotsSuffice) {
  for (int ranks = 1; ranks <= 20; ++ranks) {
    const Plan plan = make_all_reduce(GetParam().algorithm, GetParam().protocol, ranks);
    ASSERT_EQ(verdict(plan, {.tiles = 3}), "");
  }
}

TEST_P(VerifierAccepts, ManyRanks) {
  for (const int ranks : {128, 257}) {
    if (ranks > most_ranks) continue;
    EXPECT_EQ(verdict(make_all_reduce(GetParam().algorithm, GetParam().protocol, ranks)), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Builders, VerifierAccepts, testing::ValuesIn(all_reduce_cases()),
                         case_name);

// Plan::slots is the least that works: one less deadlocks, and the verifier says who is stuck.
// (One-shot declares one, direct plans use none.)
TEST(VerifierSlots, NoFewerThanDeclared) {
  for (const Algorithm algorithm : {Algorithm::ring, Algorithm::two_shot}) {
    const Plan plan = make_all_reduce(algorithm, Protocol::staged, 5);
    EXPECT_THAT(verdict(plan, {.tiles = 2, .slots = plan.slots - 1}),
                AllOf(HasSubstr("deadlocks"), HasSubstr("rank 4, step")));
  }
}

TEST(VerifierScale, AThousandRanks) {
  const int ranks = std::min(most_ranks, 1024);
  for (const Algorithm algorithm : {Algorithm::one_shot, Algorithm::two_shot}) {
    EXPECT_EQ(verdict(make_all_reduce(algorithm, Protocol::staged, ranks), {.tiles = 1}), "");
  }
  const int hops = std::min(most_ranks, 512);
  EXPECT_EQ(verdict(make_all_reduce(Algorithm::ring, Protocol::staged, hops), {.tiles = 1}), "");
}

// Small plans spoiled by hand. one_shot/staged of 2: put, wait, combine, release.
class VerifierRejects : public testing::Test {
 protected:
  Plan staged_ = make_all_reduce(Algorithm::one_shot, Protocol::staged, 2);
  Plan direct_ = make_all_reduce(Algorithm::two_shot, Protocol::direct, 2);
  Plan ring_ = make_all_reduce(Algorithm::ring, Protocol::staged, 3);
};

TEST_F(VerifierRejects, APeerThatDoesNotExist) {
  staged_.programs[1][1].peer = 7;
  EXPECT_THAT(verdict(staged_),
              AllOf(HasSubstr("rank 1, step 1 (wait peer 7)"), HasSubstr("Peer 7 does not exist")));
}

TEST_F(VerifierRejects, AMessageToOneself) {
  staged_.programs[1][0].destinations[0].peer = 1;
  EXPECT_THAT(verdict(staged_), HasSubstr("must be another rank"));
}

TEST_F(VerifierRejects, ABlockThatDoesNotExist) {
  staged_.programs[0][0].sources[0].block = 1;
  EXPECT_THAT(verdict(staged_), HasSubstr("there is no such block"));
}

TEST_F(VerifierRejects, BlocksOfDifferentLengthInOneStep) {
  ring_.programs[1][0].destinations[0].block = 2;
  EXPECT_THAT(verdict(ring_), AllOf(HasSubstr("rank 1, step 0"), HasSubstr("the same block")));
}

TEST_F(VerifierRejects, ASlotThatHoldsAnotherBlock) {
  // Rank 1 of 3 takes block 0 out of the first message of rank 0 for block 2.
  Step& step = ring_.programs[1][2];
  for (Slice& slice : step.sources) slice.block = 2;
  for (Slice& slice : step.destinations) slice.block = 2;
  EXPECT_THAT(verdict(ring_), AllOf(HasSubstr("rank 1, step 2"), HasSubstr("carries block 0")));
}

TEST_F(VerifierRejects, AWrittenInput) {
  staged_.programs[0][2].destinations[0] = build::input(0);
  EXPECT_THAT(verdict(staged_), HasSubstr("input[0] must not be written"));
}

TEST_F(VerifierRejects, ASlotThatNoWaitMadeCurrent) {
  std::swap(staged_.programs[0][1], staged_.programs[0][2]);
  EXPECT_THAT(verdict(staged_), AllOf(HasSubstr("rank 0, step 1"), HasSubstr("Wait for it")));
}

TEST_F(VerifierRejects, AReleaseWithoutAWait) {
  staged_.programs[0].insert(staged_.programs[0].begin(), build::release(1));
  EXPECT_THAT(verdict(staged_), HasSubstr("none to release"));
}

TEST_F(VerifierRejects, TwoCurrentMessagesOfOnePeer) {
  ring_.programs[0].erase(ring_.programs[0].begin() + 3);
  EXPECT_THAT(verdict(ring_), HasSubstr("still current"));
}

TEST_F(VerifierRejects, AMessageThatIsNeverReleased) {
  staged_.programs[0].pop_back();
  EXPECT_THAT(verdict(staged_, {.tiles = 1}), HasSubstr("left at the end"));
}

TEST_F(VerifierRejects, AContributionThatIsMissing) {
  staged_.programs[0][2].sources.pop_back();
  EXPECT_THAT(verdict(staged_), AllOf(HasSubstr("not complete"), HasSubstr("rank 1 is missing")));
}

TEST_F(VerifierRejects, AContributionThatIsInItTwice) {
  staged_.programs[0][2].sources.push_back(build::input(0));
  EXPECT_THAT(verdict(staged_), HasSubstr("some are in it twice"));
}

TEST_F(VerifierRejects, AnotherOrderOnOneRank) {
  std::swap(staged_.programs[1][2].sources[0], staged_.programs[1][2].sources[1]);
  EXPECT_THAT(verdict(staged_), AllOf(HasSubstr("rank 1"), HasSubstr("another order")));
}

TEST_F(VerifierRejects, AnOutputThatIsNotWritten) {
  staged_.programs[1][2].destinations = {build::peer_slot(0, 0)};
  EXPECT_NE(verdict(staged_), "");
  ring_.programs[2].pop_back();
  ring_.programs[2].back().destinations = {build::output(0)};
  EXPECT_NE(verdict(ring_), "");
}

TEST_F(VerifierRejects, AValueThatIsNeverCompleted) {
  staged_.programs[0][2].completes = false;
  EXPECT_THAT(verdict(staged_), HasSubstr("no step completes it"));
}

TEST_F(VerifierRejects, AValueThatIsCompletedTooEarly) {
  ring_.programs[0][2].completes = true;
  EXPECT_THAT(verdict(ring_), HasSubstr("is missing"));
}

TEST_F(VerifierRejects, AValueThatIsCompletedTwice) {
  ring_.programs[0].back() = build::release(2);
  ring_.programs[0][ring_.programs[0].size() - 2].completes = true;
  EXPECT_THAT(verdict(ring_), HasSubstr("completed before"));
}

TEST_F(VerifierRejects, SlotsInADirectPlanAndSignalsInAStagedOne) {
  direct_.programs[0].push_back(build::wait(1));
  EXPECT_THAT(verdict(direct_), HasSubstr("no slots"));
  staged_.programs[0].push_back(build::signal(1));
  EXPECT_THAT(verdict(staged_), HasSubstr("belong to direct plans"));
}

TEST_F(VerifierRejects, AnEndBeforeThePeersAreDone) {
  // Nobody signals, nobody awaits: values are right, but rank 0 may return while 1 still writes.
  for (Program& program : direct_.programs) program.resize(1);
  EXPECT_THAT(verdict(direct_), HasSubstr("nothing keeps that rank from ending"));
}

TEST_F(VerifierRejects, ASignalThatComesBeforeTheWork) {
  std::swap(direct_.programs[0][0], direct_.programs[0][1]);
  EXPECT_THAT(verdict(direct_), HasSubstr("nothing keeps that rank from ending"));
}

TEST_F(VerifierRejects, TwoRanksThatWriteTheSameBlock) {
  // Block 1 of the output of rank 0 is written by rank 1 already.
  direct_.programs[0].insert(direct_.programs[0].begin(),
                             build::combine({build::input(1)}, {build::output(1)}));
  EXPECT_THAT(verdict(direct_), HasSubstr("no signal orders the two"));
}

TEST_F(VerifierRejects, AWrongInPlaceFlag) {
  Plan plan = make_all_reduce(Algorithm::one_shot, Protocol::direct, 3);
  plan.in_place_safe = true;
  EXPECT_THAT(verdict(plan), HasSubstr("input and output are one buffer"));
  ring_.in_place_safe = false;
  EXPECT_THAT(verdict(ring_), HasSubstr("Set in_place_safe"));
}

TEST_F(VerifierRejects, AnInputReadAfterItsOutputWasWritten) {
  // Right out of place; in place the second put would send the result.
  staged_.slots = 2;
  for (int rank = 0; rank < 2; ++rank) {
    Program& program = staged_.programs[static_cast<std::size_t>(rank)];
    const int peer = 1 - rank;
    program.push_back(build::combine({build::input(0)}, {build::peer_slot(peer, 0)}));
    program.push_back(build::wait(peer));
    program.push_back(build::release(peer));
  }
  EXPECT_THAT(verdict(staged_), HasSubstr("the output was written before"));
  staged_.in_place_safe = false;
  EXPECT_EQ(verdict(staged_), "");
}

// ring_ with the first output of rank 1 on a detour through scratch.
TEST_F(VerifierRejects, ScratchThatHoldsNothingOrSomethingElse) {
  Program& program = ring_.programs[1];
  const auto first_output = std::find_if(program.begin(), program.end(), [](const Step& step) {
    return step.kind == StepKind::combine && step.destinations[0].place == Place::output;
  });
  const auto index = first_output - program.begin();
  const int block = first_output->destinations[0].block;
  first_output->destinations[0] = build::scratch(0, block);
  program.insert(first_output + 1,
                 build::combine({build::scratch(0, block)}, {build::output(block)}));
  EXPECT_THAT(verdict(ring_), HasSubstr("there is no such scratch block; the plan has 0"));
  ring_.scratch_blocks = 1;
  EXPECT_EQ(verdict(ring_), "");

  const Program detour = program;
  program[static_cast<std::size_t>(index)].destinations[0].scratch = 1;
  EXPECT_THAT(verdict(ring_), HasSubstr("no such scratch block"));
  ring_.scratch_blocks = 2;
  EXPECT_THAT(verdict(ring_), HasSubstr("scratch(0)[2] is read before it was written"));
  program = detour;
  std::rotate(program.begin(), program.begin() + index + 1, program.begin() + index + 2);
  EXPECT_THAT(verdict(ring_), HasSubstr("before it was written in this tile"));
  program = detour;
  const int other = (block + 1) % 3;
  program[static_cast<std::size_t>(index + 1)] =
      build::combine({build::scratch(0, other)}, {build::output(other)});
  EXPECT_THAT(verdict(ring_), HasSubstr("holds block 2, not 0"));
  program = detour;
  program[static_cast<std::size_t>(index)].destinations.push_back(build::scratch(0, block));
  EXPECT_THAT(verdict(ring_), HasSubstr("written twice by one step"));
}

// What scratch held in the tile before is gone, even where the block has the same number.
TEST_F(VerifierRejects, ScratchOfAnEarlierTile) {
  staged_.scratch_blocks = 1;
  Program& program = staged_.programs[0];
  program.insert(program.begin(), build::combine({build::scratch(0, 0)}, {build::output(0)}));
  program.push_back(build::combine({build::output(0)}, {build::scratch(0, 0)}));
  EXPECT_THAT(verdict(staged_), HasSubstr("before it was written in this tile"));
}

TEST_F(VerifierRejects, ScratchWhereItDoesNotBelong) {
  direct_.scratch_blocks = 1;
  direct_.programs[0].push_back(build::combine({build::input(0)}, {build::scratch(0, 0)}));
  EXPECT_THAT(verdict(direct_), HasSubstr("A direct plan has no scratch"));
  staged_.programs[0][0].sources[0].scratch = 0;
  EXPECT_THAT(verdict(staged_), HasSubstr("Only scratch has"));
}

TEST_F(VerifierRejects, ProgramsThatAreMissing) {
  ring_.programs.pop_back();
  EXPECT_THAT(verdict(ring_), HasSubstr("one for each rank"));
}

TEST_F(VerifierRejects, CollectivesWithoutAGoal) {
  ring_.collective = Collective::send_recv;
  const Status status = verify(ring_);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::not_supported);
}

}  // namespace
}  // namespace gyre::plan
