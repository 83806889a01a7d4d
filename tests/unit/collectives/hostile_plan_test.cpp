// SPDX-License-Identifier: Apache-2.0
// Plans that a user could bring and that are wrong in unusual ways, as the files that they would be in:
// each is refused, and the sentence points at the step (or, where it is no plan, at the place).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collectives/plan_json.h"
#include "collectives/verifier.h"
#include "support/plan_text.h"

namespace gyre::plan {
namespace {

using test::combine;
using test::heading;
using test::slice;
using test::with_peer;
using testing::AllOf;
using testing::HasSubstr;
using Steps = test::Program;

std::string scratch(int index, int block) {
  return "{\"scratch\": " + std::to_string(block) + ", \"index\": " + std::to_string(index) + "}";
}

// What is said about the plan; "" if nothing.
std::string verdict(const std::string& heading, const std::vector<Steps>& programs) {
  const auto plan = parse_plan(test::plan("mine", heading, programs));
  if (!plan) return "no plan: " + plan.error().message;
  const Status status = verify(*plan);
  return status ? "" : status.error().message;
}

std::string staged(const std::string& collective, int ranks, int blocks, int slots = 1,
                   int scratch_blocks = 0, bool in_place = true, int root = -1) {
  return heading(collective, "staged", ranks, blocks, slots, in_place, root) +
         ", \"scratch_blocks\": " + std::to_string(scratch_blocks);
}
std::string direct(const std::string& collective, int ranks, int blocks, bool in_place = true,
                   int root = -1) {
  return heading(collective, "direct", ranks, blocks, 1, in_place, root);
}

std::string put(const std::string& from, int block, int peer) {
  return combine({from}, {slice("peer_slot", block, peer)});
}

// A pair's one-shot AllReduce of one block, as rank 0 or 1 does it.
Steps one_shot(int rank) {
  const int peer = 1 - rank;
  const std::string own = slice("input", 0);
  const std::string other = slice("slot", 0, peer);
  return {put(own, 0, peer), with_peer("wait", peer),
          combine(rank == 0 ? std::vector{own, other} : std::vector{other, own},
                  {slice("output", 0)}, true),
          with_peer("release", peer)};
}

TEST(HostilePlan, ThePairIsRight) {
  EXPECT_EQ(verdict(staged("AllReduce", 2, 1), {one_shot(0), one_shot(1)}), "");
}

// Each sends both blocks before it takes one: that needs two slots.
TEST(HostilePlan, DeadlockByCredits) {
  std::vector<Steps> programs;
  for (const int peer : {1, 0}) {
    Steps program;
    for (const int block : {0, 1}) program.push_back(put(slice("input", block), block, peer));
    for (const int block : {0, 1}) {
      const std::string own = slice("input", block);
      const std::string other = slice("slot", block, peer);
      program.push_back(with_peer("wait", peer));
      program.push_back(combine(peer == 1 ? std::vector{own, other} : std::vector{other, own},
                                {slice("output", block)}, true));
      program.push_back(with_peer("release", peer));
    }
    programs.push_back(program);
  }
  EXPECT_EQ(verdict(staged("AllReduce", 2, 2, 2), programs), "");
  EXPECT_THAT(verdict(staged("AllReduce", 2, 2, 1), programs),
              AllOf(HasSubstr("It deadlocks"), HasSubstr("rank 0, step 1 (copy input[1]"),
                    HasSubstr("rank 1, step 1")));
}

TEST(HostilePlan, EachWaitsForTheNext) {
  std::vector<Steps> programs;
  for (int rank = 0; rank < 3; ++rank) {
    const int next = (rank + 1) % 3;
    programs.push_back({with_peer("wait", next), with_peer("release", next),
                        put(slice("input", 0), 0, (rank + 2) % 3),
                        combine({slice("input", 0)}, {slice("output", 0)})});
  }
  EXPECT_THAT(verdict(staged("AllReduce", 3, 1), programs),
              AllOf(HasSubstr("deadlocks"), HasSubstr("rank 2, step 0 (wait peer 0)")));
}

TEST(HostilePlan, ARankWithoutSteps) {
  EXPECT_THAT(verdict(staged("AllReduce", 2, 1), {one_shot(0), {}}),
              AllOf(HasSubstr("deadlocks"), HasSubstr("rank 0, step 1 (wait peer 1)")));
  // Nobody waits for it: its output is what is missing.
  EXPECT_THAT(verdict(staged("Broadcast", 2, 1, 1, 0, true, 0),
                      {{combine({slice("input", 0)}, {slice("output", 0)})}, {}}),
              HasSubstr("Output block 0 of rank 1 in tile 0: it was never written"));
  EXPECT_THAT(verdict(staged("Broadcast", 2, 1, 1, 0, true, 0), {{}, {}}),
              HasSubstr("of rank 0 in tile 0: it was never written"));
}

// Tiles keep their messages to themselves: one that nobody takes is found at its put.
TEST(HostilePlan, AMessageThatNobodyTakes) {
  Steps twice = one_shot(0);
  twice.push_back(put(slice("output", 0), 0, 1));
  EXPECT_THAT(verdict(staged("AllReduce", 2, 1, 16), {twice, one_shot(1)}),
              AllOf(HasSubstr("rank"), HasSubstr("step")));
  const Steps root = {combine({slice("input", 0)}, {slice("output", 0), slice("peer_slot", 0, 1)}),
                      put(slice("input", 0), 0, 1)};
  const Steps other = {with_peer("wait", 0), combine({slice("slot", 0, 0)}, {slice("output", 0)}),
                       with_peer("release", 0)};
  EXPECT_THAT(
      verdict(staged("Broadcast", 2, 1, 16, 0, true, 0), {root, other}),
      AllOf(HasSubstr("2 messages from rank 0 to rank 1 are left"), HasSubstr("rank 0, step 0")));
}

TEST(HostilePlan, ASlotReadAfterItWasGivenBack) {
  Steps late = one_shot(0);
  std::swap(late[2], late[3]);
  EXPECT_THAT(verdict(staged("AllReduce", 2, 1), {late, one_shot(1)}),
              AllOf(HasSubstr("rank 0, step 3"), HasSubstr("No message of peer 1 is current")));
}

TEST(HostilePlan, AContributionTwiceByWayOfScratch) {
  Steps program = one_shot(0);
  program[2] = combine({slice("input", 0), slice("slot", 0, 1)}, {scratch(0, 0)});
  program.insert(program.begin() + 3,
                 combine({scratch(0, 0), slice("input", 0)}, {slice("output", 0)}, true));
  EXPECT_THAT(verdict(staged("AllReduce", 2, 1, 1, 1), {program, one_shot(1)}),
              AllOf(HasSubstr("rank 0, step 3"), HasSubstr("some are in it twice")));
  // One for the other: as many as belong there, but not those.
  program[2] = combine({slice("input", 0)}, {scratch(0, 0)});
  EXPECT_THAT(verdict(staged("AllReduce", 2, 1, 1, 1), {program, one_shot(1)}),
              AllOf(HasSubstr("rank 0, step 3"), HasSubstr("rank 0 is in it twice")));
}

TEST(HostilePlan, ScratchReadTooEarlyTooLateOrAsSomethingElse) {
  const auto with = [](const std::vector<std::string>& first) {
    Steps program = first;
    for (const std::string& step : one_shot(0)) program.push_back(step);
    return verdict(staged("AllReduce", 2, 1, 1, 2), {program, one_shot(1)});
  };
  EXPECT_THAT(with({combine({scratch(1, 0)}, {scratch(0, 0)})}),
              AllOf(HasSubstr("rank 0, step 0"), HasSubstr("scratch(1)[0] is read before")));
  EXPECT_EQ(with({combine({slice("input", 0)}, {scratch(0, 0)})}), "");
  EXPECT_THAT(with({combine({slice("input", 0)}, {scratch(2, 0)})}),
              AllOf(HasSubstr("/programs/0/0/to/0/index"), HasSubstr("from 0 to 1")));
  // Of AllToAll every block fits anywhere, so what is in it is checked alone.
  const Steps crossed = {combine({slice("input", 1)}, {scratch(0, 1)}),
                         combine({slice("input", 0)}, {scratch(0, 0)}), put(scratch(0, 1), 1, 1)};
  EXPECT_THAT(verdict(staged("AllToAll", 2, 2, 1, 1), {crossed, {}}),
              AllOf(HasSubstr("rank 0, step 2"), HasSubstr("holds block 0, not 1")));
}

// The message says that it carries block 1, and it is block 0 of another rank.
TEST(HostilePlan, AMessageUnderAFalseName) {
  const auto program = [](int rank, const std::string& sent) {
    const int peer = 1 - rank;
    return Steps{put(sent, peer, peer), combine({slice("input", rank)}, {slice("output", rank)}),
                 with_peer("wait", peer),
                 combine({slice("slot", rank, peer)}, {slice("output", peer)}),
                 with_peer("release", peer)};
  };
  const std::string all_to_all = staged("AllToAll", 2, 2);
  EXPECT_EQ(verdict(all_to_all, {program(0, slice("input", 1)), program(1, slice("input", 0))}),
            "");
  EXPECT_THAT(verdict(all_to_all, {program(0, slice("input", 0)), program(1, slice("input", 0))}),
              AllOf(HasSubstr("Output block 0 of rank 1"), HasSubstr("holds block 0 of tile 0"),
                    HasSubstr("written last by rank 1, step 3")));
}

// Out of place both are right. In place the second read finds the sum; where contributions are scaled,
// a copy of the input is no longer what it was either.
TEST(HostilePlan, AnInputReadAfterItsOutputWasWritten) {
  Steps late = one_shot(0);
  late.insert(late.begin(), combine({slice("input", 0)}, {slice("output", 0)}));
  EXPECT_THAT(verdict(staged("AllReduce", 2, 1), {late, one_shot(1)}),
              AllOf(HasSubstr("rank 0, step 1"), HasSubstr("the output was written before")));
  EXPECT_EQ(verdict(staged("AllReduce", 2, 1, 1, 0, false), {late, one_shot(1)}), "");
  // Nothing is scaled in a Broadcast.
  EXPECT_EQ(
      verdict(staged("Broadcast", 2, 1, 1, 0, true, 0),
              {{combine({slice("input", 0)}, {slice("output", 0)}), put(slice("input", 0), 0, 1)},
               {with_peer("wait", 0), combine({slice("slot", 0, 0)}, {slice("output", 0)}),
                with_peer("release", 0)}}),
      "");
}

TEST(HostilePlan, InPlaceWhereAPeerStillReadsTheInput) {
  std::vector<Steps> programs;
  for (const int rank : {0, 1}) {
    const int peer = 1 - rank;
    const std::string own = slice("input", 0);
    const std::string other = slice("peer_input", 0, peer);
    programs.push_back({combine(rank == 0 ? std::vector{own, other} : std::vector{other, own},
                                {slice("output", 0)}, true),
                        with_peer("signal", peer), with_peer("await", peer)});
  }
  EXPECT_THAT(verdict(direct("AllReduce", 2, 1, true), programs),
              AllOf(HasSubstr("input and output are one buffer"), HasSubstr("rank 1, step 0")));
  EXPECT_EQ(verdict(direct("AllReduce", 2, 1, false), programs), "");
  // The copy is scaled where it lies before rank 1 reads it.
  const Steps scales = {combine({slice("input", 0)}, {slice("output", 0)}), with_peer("signal", 1),
                        with_peer("await", 1)};
  const Steps reduces = {with_peer("await", 0),
                         combine({slice("peer_input", 0, 0), slice("input", 0)},
                                 {slice("output", 0), slice("peer_output", 0, 0)}, true),
                         with_peer("signal", 0)};
  EXPECT_THAT(verdict(direct("AllReduce", 2, 1, true), {scales, reduces}),
              AllOf(HasSubstr("rank 1, step 1"), HasSubstr("the output was written before")));
  EXPECT_EQ(verdict(direct("AllReduce", 2, 1, false), {scales, reduces}), "");
}

TEST(HostilePlan, DirectAccessesThatNothingOrders) {
  const std::string header = direct("Broadcast", 2, 1, true, 0);
  const Steps root = {combine({slice("input", 0)}, {slice("output", 0)}), with_peer("signal", 1),
                      with_peer("await", 1)};
  const std::string fetch = combine({slice("peer_output", 0, 0)}, {slice("output", 0)});
  EXPECT_EQ(verdict(header, {root, {with_peer("await", 0), fetch, with_peer("signal", 0)}}), "");
  EXPECT_THAT(verdict(header, {root, {fetch, with_peer("await", 0), with_peer("signal", 0)}}),
              AllOf(HasSubstr("rank 1, step 0"), HasSubstr("no signal orders the two")));
  EXPECT_THAT(verdict(header, {root, {with_peer("await", 0), with_peer("signal", 0), fetch}}),
              AllOf(HasSubstr("rank 1, step 2"), HasSubstr("from ending before")));
  EXPECT_THAT(verdict(header, {{root[1], root[0], root[2]},
                               {with_peer("await", 0), fetch, with_peer("signal", 0)}}),
              AllOf(HasSubstr("rank 1, step 1"), HasSubstr("orders the two")));
  // Awaited by nobody, which the next tile takes for its own; and awaited in vain.
  Steps eager = root;
  eager.push_back(with_peer("signal", 1));
  EXPECT_THAT(verdict(header, {eager, {with_peer("await", 0), fetch, with_peer("signal", 0)}}),
              AllOf(HasSubstr("rank 1, step 1"), HasSubstr("orders the two"), HasSubstr("tile 1")));
  // The input is there before anybody signals.
  const std::string fetch_input = combine({slice("peer_input", 0, 0)}, {slice("output", 0)});
  EXPECT_THAT(
      verdict(header, {{root[0], with_peer("await", 1), with_peer("signal", 1)},
                       {fetch_input, with_peer("signal", 0)}}),
      AllOf(HasSubstr("signals from rank 0 to rank 1 are left"), HasSubstr("rank 0, step 2")));
  EXPECT_THAT(verdict(header, {root, {with_peer("await", 0), with_peer("await", 0), fetch}}),
              AllOf(HasSubstr("deadlocks"), HasSubstr("rank 1, step 1 (await peer 0)")));
}

TEST(HostilePlan, BuffersThatARankDoesNotHave) {
  EXPECT_THAT(verdict(direct("Broadcast", 2, 1, true, 0),
                      {{with_peer("await", 1)},
                       {combine({slice("peer_input", 0, 0)}, {slice("output", 0)}),
                        combine({slice("input", 0)}, {slice("peer_output", 0, 0)}),
                        with_peer("signal", 0)}}),
              AllOf(HasSubstr("rank 1, step 1"), HasSubstr("no such block in Broadcast")));
  EXPECT_THAT(verdict(staged("ReduceScatter", 2, 2),
                      {{combine({slice("input", 1)}, {slice("output", 1)})}, {}}),
              AllOf(HasSubstr("rank 0, step 0"), HasSubstr("output[1]")));
  EXPECT_THAT(verdict(direct("Gather", 2, 2, true, 0),
                      {{}, {combine({slice("input", 1)}, {slice("output", 1)})}}),
              AllOf(HasSubstr("rank 1, step 0"), HasSubstr("no such block in Gather")));
}

TEST(HostilePlan, CompletedWhereItMustNotBe) {
  const Steps root = {
      combine({slice("input", 0)}, {slice("output", 0), slice("peer_slot", 0, 1)}, true)};
  const Steps other = {with_peer("wait", 0), combine({slice("slot", 0, 0)}, {slice("output", 0)}),
                       with_peer("release", 0)};
  EXPECT_THAT(verdict(staged("Broadcast", 2, 1, 1, 0, true, 0), {root, other}),
              AllOf(HasSubstr("rank 0, step 0"), HasSubstr("no value to complete")));
  // Rank 0 hands on a complete sum, which rank 1 adds to its own.
  Steps chain = {put(slice("input", 0), 0, 0), with_peer("wait", 0),
                 combine({slice("slot", 0, 0), slice("input", 0)}, {slice("output", 0)}),
                 with_peer("release", 0)};
  const Steps first = {with_peer("wait", 1),
                       combine({slice("input", 0), slice("slot", 0, 1)},
                               {slice("output", 0), slice("peer_slot", 0, 1)}, true),
                       with_peer("release", 1)};
  EXPECT_THAT(verdict(staged("AllReduce", 2, 1), {first, chain}),
              AllOf(HasSubstr("rank 1, step 2"), HasSubstr("complete already")));
}

// Of so many ranks and slots, the memory for what might be in flight between all pairs would not fit.
TEST(HostilePlan, ManyRanksAndSlotsTakeNoMoreThanTheirSteps) {
  std::vector<Steps> nothing(65536);
  EXPECT_THAT(verdict(staged("Broadcast", 65536, 1, 65536, 0, true, 7), nothing),
              HasSubstr("rank 0 in tile 0: it was never written"));
  std::vector<Steps> star(4000);
  std::vector<std::string> receivers = {slice("output", 0)};
  for (int rank = 1; rank < 4000; ++rank) {
    receivers.push_back(slice("peer_slot", 0, rank));
    star[static_cast<std::size_t>(rank)] = {with_peer("wait", 0),
                                            combine({slice("slot", 0, 0)}, {slice("output", 0)}),
                                            with_peer("release", 0)};
  }
  star[0] = {combine({slice("input", 0)}, receivers)};
  EXPECT_EQ(verdict(staged("Broadcast", 4000, 1, 65536, 0, true, 0), star), "");
  EXPECT_THAT(verdict(direct("Broadcast", 65536, 1, true, 0), nothing),
              HasSubstr("a direct plan has at most 1024 ranks"));
  EXPECT_THAT(verdict(direct("AllReduce", 1000, 16000), std::vector<Steps>(1000)),
              HasSubstr("together 1048576 blocks"));
  EXPECT_THAT(verdict(staged("Broadcast", 1000, 1, 1, 65536, true, 0), std::vector<Steps>(1000)),
              AllOf(HasSubstr("/scratch_blocks"), HasSubstr("too many")));
}

// What the reader refuses: each `piece` of the pair's plan replaced by `by`.
struct Forgery {
  std::string name, piece, by, where, why;
};

class Forged : public testing::TestWithParam<Forgery> {};

TEST_P(Forged, IsRefusedWithItsPlace) {
  const Forgery& forgery = GetParam();
  std::string text =
      test::plan("mine", staged("AllReduce", 2, 1, 1, 1), {one_shot(0), one_shot(1)});
  const auto at = text.find(forgery.piece);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, forgery.piece.size(), forgery.by);
  const auto plan = parse_plan(text);
  ASSERT_FALSE(plan) << text;
  EXPECT_THAT(plan.error().message, AllOf(HasSubstr(forgery.where), HasSubstr(forgery.why)));
}

const std::string deep = std::string(200, '[') + std::string(200, ']');
INSTANTIATE_TEST_SUITE_P(
    Files, Forged,
    testing::Values(
        Forgery{"HugeBlock", "\"input\": 0", "\"input\": 1e300", "/programs/0/0/combine/0/input",
                "1e+300"},
        Forgery{"EndlessNumber", "\"input\": 0", "\"input\": 1e999", "no JSON", "1e999"},
        Forgery{"PeerBeyond64Bits", "\"wait\": 1", "\"wait\": 99999999999999999999",
                "/programs/0/1/wait", "from 0 to 1"},
        Forgery{"PeerBelow64Bits", "\"wait\": 1", "\"wait\": -9223372036854775809",
                "/programs/0/1/wait", "from 0 to 1"},
        Forgery{"PeerThatWraps", "\"wait\": 1", "\"wait\": 4294967297", "/programs/0/1/wait",
                "4294967297"},
        Forgery{"Slots", "\"slots\": 1", "\"slots\": 65537", "/slots", "from 1 to 65536"},
        Forgery{"Scratch", "\"scratch_blocks\": 1", "\"scratch_blocks\": 1e3", "/scratch_blocks",
                "1000.0"},
        Forgery{"BlocksReal", "\"blocks\": 1", "\"blocks\": 1.0", "/blocks", "1.0"},
        Forgery{"DeepSlice", "{\"input\": 0}", deep, "", "nests more than 16 deep"},
        Forgery{"DeepElsewhere", "\"name\"", "\"x\": " + deep + ", \"name\"", "",
                "nests more than 16 deep"},
        Forgery{"KeyTwiceInDisguise", "\"wait\": 1", "\"wait\": 1, \"w\\u0061it\": 0", "/programs",
                "\"wait\" is there twice"},
        Forgery{"PlaceTwice", "{\"input\": 0}", "{\"input\": 0, \"input\": 0}", "/programs",
                "\"input\" is there twice"},
        Forgery{"TwoPlaces", "{\"input\": 0}", "{\"input\": 0, \"output\": 0}",
                "/programs/0/0/combine/0/output", "no such key"},
        Forgery{"ProgramsTwice", "\"programs\"", "\"programs\": [], \"programs\"", "\"programs\"",
                "twice"},
        Forgery{"NoText", "mine", std::string("mi\xc3(ne"), "", "UTF-8"},
        Forgery{"ZeroInName", "mine", "mi\\u0000ne", "/name", "letters"},
        Forgery{"ProgramsAsObject", "\"programs\": [", "\"programs\": {\"0\": [", "", ""},
        Forgery{"NullStep", "{\"wait\": 1}", "null", "/programs/0/1", "null"},
        Forgery{"StepAsText", "{\"wait\": 1}", "\"wait\"", "/programs/0/1", "\"wait\""}),
    [](const auto& forgery) { return forgery.param.name; });

}  // namespace
}  // namespace gyre::plan
