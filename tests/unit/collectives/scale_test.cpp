// SPDX-License-Identifier: Apache-2.0
// Plans for thousands of ranks: whole ones are proved, one rank's program stays small where the
// algorithm promises it. The times in the text are those of a release build; what is asserted here
// leaves room for slower ones, and the largest cases run with GYRE_TEST_FULL=1.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <set>

#include <gtest/gtest.h>

#include "collectives/rotation.h"
#include "collectives/verifier.h"
#include "unit/collectives/plan_cases.h"

namespace gyre::plan {
namespace {

using Clock = std::chrono::steady_clock;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

bool full() {
  return std::getenv("GYRE_TEST_FULL") != nullptr;
}

std::string verdict(const Status& status) {
  return status ? "" : status.error().message;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::set<int> peers_in(const Program& program) {
  std::set<int> peers;
  for (const Step& step : program) {
    if (step.peer >= 0) peers.insert(step.peer);
    for (const auto* const slices : {&step.sources, &step.destinations}) {
      for (const Slice& slice : *slices) {
        if (slice.peer >= 0) peers.insert(slice.peer);
      }
    }
  }
  return peers;
}

int log2_up(int ranks) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)));
}

Recipe recipe_for(Collective collective, Algorithm algorithm, int ranks) {
  return recipe_of({.collective = collective, .algorithm = algorithm}, ranks, ranks / 3);
}

// Below 10 s in a release build; there it takes about one.
TEST(Scale, WholeTreesOf4096Ranks) {
  const int ranks = sanitized ? 256 : 4096;
  for (const Collective collective :
       {Collective::all_reduce, Collective::broadcast, Collective::reduce}) {
    const Clock::time_point start = Clock::now();
    EXPECT_EQ(verdict(verify(make_plan(recipe_for(collective, Algorithm::tree, ranks)))), "");
    RecordProperty(std::string(name_of(collective)), std::to_string(seconds_since(start)));
    EXPECT_LT(seconds_since(start), 60.0);
  }
}

// 8 ranks a socket, 2 sockets a host; a tree across hosts.
TEST(Scale, WholeHierarchiesOf4096Ranks) {
  const int ranks = sanitized ? 256 : 4096;
  for (const Collective collective : {Collective::all_reduce, Collective::broadcast}) {
    Recipe recipe = recipe_for(collective, Algorithm::hierarchical, ranks);
    recipe.hierarchy = {.levels = {8, 2}, .across = Algorithm::tree};
    EXPECT_EQ(verdict(verify(make_plan(recipe))), "");
  }
}

TEST(Scale, RingsByRotation) {
  const int ranks = sanitized ? 128 : full() ? 4096 : 1024;
  for (const Collective collective :
       {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter}) {
    const Recipe recipe = recipe_for(collective, Algorithm::ring, ranks);
    EXPECT_EQ(verdict(verify_by_rotation(describe(recipe),
                                         [&](int rank) { return program_of(recipe, rank); })),
              "");
  }
}

// Below 100 ms in a release build, of every algorithm.
TEST(Scale, OneProgramOf4096Ranks) {
  constexpr int ranks = 4096;
  double slowest = 0;
  for (const PlanCase& each : plan_cases()) {
    for (const int rank : {0, 1, 1365, 4095}) {
      const Recipe recipe = recipe_of(each, ranks, 1365);
      const Clock::time_point start = Clock::now();
      const Program program = program_of(recipe, rank);
      const double seconds = seconds_since(start);
      slowest = std::max(slowest, seconds);
      EXPECT_LT(seconds, sanitized ? 10.0 : 1.0) << name_of_case(each);
      EXPECT_FALSE(program.empty());
    }
  }
  RecordProperty("slowest", std::to_string(slowest));
}

// A tree's program does not grow with the number of ranks, and it has few peers.
TEST(Scale, TreesStaySmall) {
  for (const int ranks : {16, 100, 1000, 4096, 100'000}) {
    for (const int rank : {0, 1, 2, ranks / 3, ranks / 2, ranks - 2, ranks - 1}) {
      const Program all_reduce =
          program_of(recipe_for(Collective::all_reduce, Algorithm::tree, ranks), rank);
      EXPECT_LE(all_reduce.size(), 64U);
      EXPECT_LE(peers_in(all_reduce).size(), 4U);
      for (const Collective collective : {Collective::broadcast, Collective::reduce}) {
        const Program program = program_of(recipe_for(collective, Algorithm::tree, ranks), rank);
        EXPECT_LE(program.size(), 10U);
        EXPECT_LE(peers_in(program).size(), 4U);
      }
    }
  }
}

TEST(Scale, PeersAreLogarithmicallyMany) {
  for (const int ranks : {17, 128, 1000, 4096}) {
    for (const int rank : {0, 1, ranks / 2, ranks - 1}) {
      const auto most = static_cast<std::size_t>(2 * log2_up(ranks) + 1);
      for (const auto& [collective, algorithm] :
           {std::pair(Collective::all_reduce, Algorithm::doubling),
            std::pair(Collective::all_reduce, Algorithm::halving),
            std::pair(Collective::all_gather, Algorithm::doubling),
            std::pair(Collective::all_gather, Algorithm::bruck),
            std::pair(Collective::all_to_all, Algorithm::bruck),
            std::pair(Collective::all_gather, Algorithm::pat),
            std::pair(Collective::reduce_scatter, Algorithm::pat)}) {
        const Recipe recipe = recipe_for(collective, algorithm, ranks);
        EXPECT_LE(peers_in(program_of(recipe, rank)).size(), most) << name_of_case(recipe);
      }
      EXPECT_LE(
          program_of(recipe_for(Collective::all_reduce, Algorithm::doubling, ranks), rank).size(),
          static_cast<std::size_t>(3 * log2_up(ranks) + 4));
    }
  }
}

// Scratch is as declared, and that of the logarithmic reduce-scatter logarithmic.
TEST(Scale, ScratchIsDeclaredAndUsed) {
  for (const int ranks : {2, 3, 4, 5, 8, 9, 100, 128, 1000, 1024}) {
    const Recipe recipe = recipe_for(Collective::reduce_scatter, Algorithm::pat, ranks);
    int used = 0;
    for (const Step& step : program_of(recipe, 0)) {
      for (const Slice& slice : step.destinations) used = std::max(used, slice.scratch + 1);
    }
    EXPECT_EQ(describe(recipe).scratch_blocks, used) << ranks;
    EXPECT_LT(used, log2_up(ranks)) << ranks;
  }
}

}  // namespace
}  // namespace gyre::plan
