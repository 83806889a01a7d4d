// SPDX-License-Identifier: Apache-2.0
// The canonical order of reduction: what the verifier says about plans, that the catalog says the
// same, and that the chooser keeps to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "collectives/all_reduce.h"
#include "collectives/catalog.h"
#include "collectives/chooser.h"
#include "collectives/layout.h"
#include "collectives/steps.h"
#include "collectives/verifier.h"

namespace gyre::plan {
namespace {

using testing::HasSubstr;

constexpr Collective reducing[] = {Collective::all_reduce, Collective::reduce,
                                   Collective::reduce_scatter};

bool is_canonical(const Plan& plan) {
  const Result<bool> order = has_canonical_order(plan);
  EXPECT_TRUE(order) << title(plan) << ": " << (order ? "" : order.error().message);
  return order.value_or(false);
}

// An algorithm is admitted if, and only if, its plans have the order for every number of ranks: with
// one rank all have it, with two a tree may.
TEST(CanonicalOrder, TheCatalogSaysWhatTheVerifierFinds) {
  for (const Collective collective : reducing) {
    for (const Algorithm algorithm : all_algorithms) {
      for (const Protocol protocol : {Protocol::flag_in_line, Protocol::staged, Protocol::direct}) {
        if (!exists(collective, algorithm, protocol)) continue;
        bool everywhere = true;
        for (int ranks = 1; ranks <= 67; ranks += ranks < 18 ? 1 : 7) {
          for (const int root : {0, ranks / 2, ranks - 1}) {
            const int own_root = has_root(collective) ? root : -1;
            const bool here =
                is_canonical(make_plan({collective, algorithm, protocol, ranks, own_root}));
            everywhere = everywhere && here;
            // What is admitted has the order for each single number of ranks.
            ASSERT_TRUE(here || !in_canonical_order(collective, algorithm))
                << name_of(collective) << " by " << name_of(algorithm) << " of " << ranks;
          }
        }
        EXPECT_EQ(in_canonical_order(collective, algorithm), everywhere)
            << name_of(collective) << " by " << name_of(algorithm);
      }
    }
  }
}

TEST(CanonicalOrder, WhatDoesNotReduceHasIt) {
  for (const Recipe& recipe : recipes(Collective::all_gather, 5)) {
    EXPECT_TRUE(is_canonical(make_plan(recipe)));
    EXPECT_TRUE(in_canonical_order(Collective::all_gather, recipe.algorithm));
  }
}

Plan one_shot(int ranks) {
  return make_plan({Collective::all_reduce, Algorithm::one_shot, Protocol::staged, ranks, -1});
}

// The combine step of a one-shot program: the one with all sources.
Step& combination_in(Program& program) {
  return *std::find_if(program.begin(), program.end(),
                       [](const Step& step) { return step.sources.size() > 1; });
}

// Two operands swapped on all ranks alike: a right plan, in another order.
TEST(CanonicalOrder, AnotherOrderIsSeen) {
  Plan plan = one_shot(3);
  for (Program& program : plan.programs) {
    auto& sources = combination_in(program).sources;
    std::swap(sources[1], sources[2]);
  }
  EXPECT_FALSE(is_canonical(plan));
}

// (a op b) op c in two steps rounds small floats once more than in one.
TEST(CanonicalOrder, TheSameOrderInTwoStepsIsSeen) {
  Plan plan = one_shot(3);
  for (Program& program : plan.programs) {
    const auto at = std::find_if(program.begin(), program.end(),
                                 [](const Step& step) { return step.sources.size() > 1; });
    const Step whole = *at;
    Step first = whole;
    first.sources.pop_back();
    first.completes = false;
    Step second = whole;
    second.sources = {whole.destinations[0], whole.sources.back()};
    *at = second;
    program.insert(at, first);
  }
  plan.in_place_safe = false;  // the third rank's input is read after its output was written
  EXPECT_FALSE(is_canonical(plan));
}

TEST(CanonicalOrder, AWrongPlanIsRefusedAndNotJudged) {
  Plan plan = one_shot(3);
  combination_in(plan.programs[1]).sources.pop_back();
  EXPECT_FALSE(has_canonical_order(plan));
}

ChoiceInput reproducible(std::uint64_t bytes, int ranks) {
  return {.bytes = bytes,
          .element_bytes = 4,
          .ranks = ranks,
          .local_cpus = ranks,
          .reproducible = true};
}

TEST(CanonicalOrder, OnlyAdmittedAlgorithmsAreChosen) {
  for (const Collective collective : reducing) {
    for (const int ranks : {2, 3, 8, 16, 17, 64}) {
      for (std::uint64_t bytes = 4; bytes <= std::uint64_t{1} << 26; bytes *= 4) {
        for (const bool mapped : {false, true}) {
          ChoiceInput input = reproducible(bytes, ranks);
          input.direct_possible = mapped;
          const Result<Choice> choice = choose(collective, input);
          ASSERT_TRUE(choice) << choice.error().message;
          EXPECT_TRUE(in_canonical_order(collective, choice->algorithm))
              << name_of(collective) << " of " << bytes << " among " << ranks;
        }
      }
    }
  }
}

TEST(CanonicalOrder, AForcedAlgorithmIsObeyedOrRefusedWithTheOnesThatWork) {
  for (const Collective collective : reducing) {
    for (const Algorithm algorithm : all_algorithms) {
      if (!exists(collective, algorithm, Protocol::staged)) continue;
      ChoiceInput input = reproducible(100'000, 5);
      input.algorithm = algorithm;
      const Result<Choice> choice = choose(collective, input);
      if (in_canonical_order(collective, algorithm)) {
        ASSERT_TRUE(choice) << choice.error().message;
        EXPECT_EQ(choice->algorithm, algorithm);
        continue;
      }
      ASSERT_FALSE(choice) << name_of(collective) << " by " << name_of(algorithm);
      EXPECT_EQ(choice.error().code, Code::invalid_usage);
      EXPECT_THAT(choice.error().message, HasSubstr("GYRE_REPRODUCIBLE"));
      EXPECT_THAT(choice.error().message, HasSubstr(std::string(name_of(algorithm))));
      EXPECT_THAT(choice.error().message, HasSubstr("oneshot"));
    }
  }
}

// A ring may carry an AllGather: nothing is reduced.
TEST(CanonicalOrder, WhatDoesNotReduceIsNotRestricted) {
  ChoiceInput input = reproducible(100'000, 5);
  input.algorithm = Algorithm::ring;
  const Result<Choice> choice = choose(Collective::all_gather, input);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->algorithm, Algorithm::ring);
}

// An operation that does not commute gets another algorithm instead of a refusal.
TEST(CanonicalOrder, OperationsThatDoNotCommuteAreNeverRefused) {
  for (const Collective collective : reducing) {
    for (const Algorithm algorithm : all_algorithms) {
      ChoiceInput input = reproducible(100'000, 9);
      input.reproducible = false;
      input.keeps_order = true;
      input.algorithm = algorithm;
      const Result<Choice> choice = choose(collective, input);
      ASSERT_TRUE(choice) << choice.error().message;
      EXPECT_TRUE(collective == Collective::all_reduce
                      ? keeps_order(choice->algorithm)
                      : in_canonical_order(collective, choice->algorithm));
    }
  }
}

}  // namespace
}  // namespace gyre::plan
