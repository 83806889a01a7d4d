// SPDX-License-Identifier: Apache-2.0
// Plans by levels: which shapes there are, that all of them are right, and that each level carries what
// docs/algorithms.md says.
#include "collectives/hierarchical.h"

#include <map>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/chain.h"
#include "collectives/estimate.h"
#include "collectives/layout.h"
#include "collectives/verifier.h"
#include "unit/collectives/plan_runs.h"

namespace gyre::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Collective by_levels[] = {Collective::all_reduce, Collective::all_gather,
                                    Collective::reduce_scatter, Collective::broadcast};

std::string verdict(const Plan& plan) {
  const Status status = verify(plan);
  return status ? "" : status.error().message;
}

Recipe recipe(Collective collective, int ranks, const Hierarchy& hierarchy) {
  return {.collective = collective,
          .algorithm = Algorithm::hierarchical,
          .protocol = Protocol::staged,
          .ranks = ranks,
          .root = has_root(collective) ? ranks / 3 : -1,
          .hierarchy = hierarchy};
}

int product(const std::vector<int>& sizes) {
  int all = 1;
  for (const int size : sizes) all *= size;
  return all;
}

std::vector<int> sizes_of(std::vector<int> sizes, int ranks) {
  const Levels levels({.levels = std::move(sizes)}, ranks);
  std::vector<int> all;
  for (int level = 0; level < levels.count(); ++level) all.push_back(levels.size(level));
  return all;
}

// Every way to write a number as a product of numbers above 1, in every order.
std::vector<std::vector<int>> shapes_of_size(int ranks) {
  std::vector<std::vector<int>> shapes;
  for (int first = 2; first <= ranks; ++first) {
    if (ranks % first != 0) continue;
    if (first == ranks) shapes.push_back({first});
    for (const std::vector<int>& rest : shapes_of_size(ranks / first)) {
      shapes.push_back({first});
      shapes.back().insert(shapes.back().end(), rest.begin(), rest.end());
    }
  }
  return shapes;
}

TEST(LevelsOfRanks, WhatIsLeftIsOneMore) {
  EXPECT_THAT(sizes_of({4, 2, 8}, 64), ElementsAre(4, 2, 8));
  EXPECT_THAT(sizes_of({4, 2}, 64), ElementsAre(4, 2, 8));
  EXPECT_THAT(sizes_of({}, 64), ElementsAre(64));
  EXPECT_THAT(sizes_of({1, 4, 1, 2}, 64), ElementsAre(4, 2, 8));
  EXPECT_THAT(sizes_of({4, 2, 8}, 32), ElementsAre(4, 2, 4));
  EXPECT_THAT(sizes_of({4, 2, 8}, 6), ElementsAre(2, 3));
  EXPECT_THAT(sizes_of({4, 2, 8}, 7), ElementsAre(7));
  EXPECT_THAT(sizes_of({4, 2, 8}, 1), ElementsAre(1));
}

TEST(LevelsOfRanks, PlacesAreDigits) {
  const Levels levels({.levels = {4, 2}}, 64);
  constexpr int rank = 3 + 4 * (1 + 2 * 6);
  EXPECT_EQ(levels.place_of(rank, 0), 3);
  EXPECT_EQ(levels.place_of(rank, 1), 1);
  EXPECT_EQ(levels.place_of(rank, 2), 6);
  EXPECT_EQ(levels.rank_at(rank, 1, 0), 3 + 4 * (0 + 2 * 6));
  EXPECT_EQ(levels.rank_at(rank, 2, 0), 3 + 4 * (1 + 2 * 0));
}

// 2 levels of 2 up to 6 levels of 2, and what lies between.
TEST(Hierarchical, EveryShapeIsRight) {
  int shapes = 0;
  for (const int ranks : {4, 6, 8, 12, 16, 18, 24, 30, 36, 64}) {
    for (const std::vector<int>& sizes : shapes_of_size(ranks)) {
      for (const Collective collective : by_levels) {
        const Plan plan = make_plan(recipe(collective, ranks, {.levels = sizes}));
        ASSERT_EQ(verdict(plan), "") << testing::PrintToString(sizes);
        ++shapes;
      }
    }
  }
  EXPECT_GT(shapes, 400);
}

TEST(Hierarchical, EveryPairOfAlgorithmsIsRight) {
  int pairs = 0;
  for (const std::vector<int>& sizes : {std::vector{2, 3, 4}, {3, 2, 2, 2}, {5, 5}}) {
    for (const Algorithm inside : all_algorithms) {
      for (const Algorithm across : all_algorithms) {
        for (const Collective collective : by_levels) {
          const Recipe each = recipe(collective, product(sizes),
                                     {.levels = sizes, .inside = inside, .across = across});
          if (!check_hierarchy(each)) continue;
          const Plan plan = make_plan(each);
          ASSERT_EQ(verdict(plan), "") << name_of(inside) << " " << name_of(across);
          ASSERT_TRUE(runs_right(plan)) << name_of(inside) << " " << name_of(across);
          ++pairs;
        }
      }
    }
  }
  EXPECT_GT(pairs, 150);
}

TEST(Hierarchical, WhatHasNoFormIsRefused) {
  const auto refusal = [](Collective collective, const Hierarchy& hierarchy) {
    const Status status = check_hierarchy(recipe(collective, 8, hierarchy));
    return status ? "" : status.error().message;
  };
  EXPECT_EQ(refusal(Collective::all_reduce, {.across = Algorithm::tree}), "");
  EXPECT_THAT(refusal(Collective::all_reduce, {.inside = Algorithm::tree}),
              HasSubstr("cannot run tree inside a level: ReduceScatter has no such form"));
  EXPECT_THAT(refusal(Collective::all_gather, {.across = Algorithm::tree}),
              HasSubstr("cannot run tree across the outermost level"));
  EXPECT_NE(refusal(Collective::all_reduce, {.across = Algorithm::hierarchical}), "");
  EXPECT_NE(refusal(Collective::broadcast, {.inside = Algorithm::halving}), "");
}

// Blocks that a rank sends to ranks which differ from it on each level; every peer differs on one.
std::vector<int> sent_by_level(const Recipe& each, int rank) {
  const Levels levels(each.hierarchy, each.ranks);
  std::vector<int> sent(static_cast<std::size_t>(levels.count()));
  for (const Step& step : program_of(each, rank)) {
    for (const Slice& slice : step.destinations) {
      if (slice.place != Place::peer_slot) continue;
      int differing = 0;
      for (int level = 0; level < levels.count(); ++level) {
        if (levels.place_of(rank, level) == levels.place_of(slice.peer, level)) continue;
        ++sent[static_cast<std::size_t>(level)];
        ++differing;
      }
      EXPECT_EQ(differing, 1) << "rank " << rank << " sends to " << slice.peer;
    }
  }
  return sent;
}

// The tables of docs/algorithms.md, in blocks: 1/64 of the buffer, or a section.
TEST(Hierarchical, EachLevelCarriesWhatIsDocumented) {
  const Hierarchy hierarchy{.levels = {4, 2, 8}};
  for (int rank = 0; rank < 64; ++rank) {
    EXPECT_THAT(sent_by_level(recipe(Collective::all_reduce, 64, hierarchy), rank),
                ElementsAre(2 * 3 * 16, 2 * 1 * 8, 2 * 7));
    EXPECT_THAT(sent_by_level(recipe(Collective::reduce_scatter, 64, hierarchy), rank),
                ElementsAre(3 * 16, 1 * 8, 7));
    EXPECT_THAT(sent_by_level(recipe(Collective::all_gather, 64, hierarchy), rank),
                ElementsAre(3 * 16, 1 * 8, 7));
  }
}

// Of Broadcast, in eighths of the buffer: no link between hosts carries a byte twice, and every rank
// receives each once.
TEST(Hierarchical, BroadcastUsesEveryRailOnce) {
  const Recipe each =
      recipe(Collective::broadcast, 64,
             {.levels = {4, 2, 8}, .inside = Algorithm::ring, .across = Algorithm::ring});
  std::map<int, int> received;
  std::vector<int> sent(3);
  for (int rank = 0; rank < 64; ++rank) {
    const std::vector<int> by_level = sent_by_level(each, rank);
    for (std::size_t level = 0; level < 3; ++level) sent[level] += by_level[level];
    EXPECT_LE(by_level[2], 1) << "one rail's share, to the next host of a chain";
    for (const Step& step : program_of(each, rank)) {
      for (const Slice& slice : step.destinations) {
        if (slice.place == Place::peer_slot) ++received[slice.peer];
      }
    }
  }
  EXPECT_EQ(sent[2], 7 * 8);
  for (int rank = 0; rank < 64; ++rank) EXPECT_EQ(received[rank], rank == each.root ? 0 : 8);
}

int chain_of(const Recipe& each) {
  return longest_chain(make_plan(each).programs);
}

// On each level two exchanges are on their way at a time.
TEST(Hierarchical, ExchangesOverlapInPairs) {
  EXPECT_EQ(chain_of(recipe(Collective::reduce_scatter, 64, {.levels = {4, 2, 8}})),
            16 / 2 + 8 / 2 + 7);
  EXPECT_EQ(chain_of(recipe(Collective::all_gather, 64, {.levels = {4, 2, 8}})),
            7 + 8 / 2 + 16 / 2);
}

// Where hosts are far apart and ranks of a host are not, it beats what does not know that.
TEST(Hierarchical, IsFasterWhereHostsAreFarApart) {
  const std::vector<LinkClass> classes = {{.latency = 0.5e-6, .per_byte = 1 / 20e9},
                                          {.latency = 10e-6, .per_byte = 1 / 3e9}};
  const NetworkModel network{.classes = classes, .class_of = [](int from, int to) {
                               return from / 8 == to / 8 ? std::size_t{0} : 1;
                             }};
  const Hierarchy hosts{.levels = {4, 2, 8}};
  for (const Collective collective : by_levels) {
    const bool sectioned = layout_of(collective).sectioned;
    const Workload workload{.count = std::uint64_t{sectioned ? 1U : 64U} << 12U};
    Recipe flat = recipe(collective, 64, {});
    flat.algorithm = collective == Collective::broadcast ? Algorithm::chain : Algorithm::ring;
    const auto levels = estimate(recipe(collective, 64, hosts), network, workload);
    const auto ring = estimate(flat, network, workload);
    ASSERT_TRUE(levels && ring);
    EXPECT_LT(levels->seconds, ring->seconds) << name_of(collective);
  }
}

}  // namespace
}  // namespace gyre::plan
