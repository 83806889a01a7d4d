// SPDX-License-Identifier: Apache-2.0
// Every plan that can be built, of every collective: proved by the verifier, and run on real data
// with the ranks' steps in random order. All rank counts up to 67 and large ones with
// GYRE_TEST_FULL=1, else a sample.
#include "collectives/catalog.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "collectives/direct.h"
#include "collectives/verifier.h"
#include "unit/collectives/plan_cases.h"
#include "unit/collectives/plan_runs.h"

namespace gyre::plan {
namespace {

bool full() {
  return std::getenv("GYRE_TEST_FULL") != nullptr;
}

std::vector<int> roots_of(Collective collective, int ranks) {
  if (!has_root(collective) || ranks == 1) return {0};
  return ranks == 2 ? std::vector{0, 1} : std::vector{0, ranks / 2, ranks - 1};
}

class Catalog : public testing::TestWithParam<PlanCase> {
 protected:
  template <typename Body>
  void for_each_root(int ranks, Body&& body) {
    for (const int root : roots_of(GetParam().collective, ranks)) {
      body(make_plan(recipe_of(GetParam(), ranks, root)));
    }
  }
};

std::string verdict(const Plan& plan, const VerifyOptions& options = {}) {
  const Status status = verify(plan, options);
  return status ? "" : status.error().message;
}

TEST_P(Catalog, IsProvedForUpTo67Ranks) {
  for (int ranks = 1; ranks <= 67; ranks += ranks < 20 || full() ? 1 : 7) {
    for_each_root(ranks, [&](const Plan& plan) {
      ASSERT_EQ(verdict(plan, {.tiles = 3}), "") << title(plan) << " root " << plan.root;
      ASSERT_EQ(verdict(plan, {.tiles = 2, .slots = plan.slots + ranks % 3}), "") << title(plan);
    });
  }
}

TEST_P(Catalog, IsProvedForManyRanks) {
  const std::vector<int> counts = full() ? std::vector{128, 257, 1024} : std::vector{128};
  for (const int ranks : counts) {
    const Plan plan = make_plan(recipe_of(GetParam(), ranks, ranks / 3));
    ASSERT_EQ(verdict(plan, {.tiles = ranks < 1000 ? 2 : 1}), "") << title(plan);
  }
}

// Plan::slots is the least that works, for some number of ranks.
TEST_P(Catalog, DeclaresNoMoreSlotsThanItNeeds) {
  bool deadlocks = false;
  for (int ranks = 2; ranks <= 9; ++ranks) {
    const Plan plan = make_plan(recipe_of(GetParam(), ranks, 0));
    if (plan.slots == 1 || plan.protocol == Protocol::direct) return;
    deadlocks |= !verify(plan, {.tiles = 3, .slots = plan.slots - 1});
  }
  EXPECT_TRUE(deadlocks);
}

// A root sends and receives with as few slots as shared memory gives at least.
TEST_P(Catalog, RunsWithTheFewestSlotsThatATransportHas) {
  EXPECT_LE(make_plan(recipe_of(GetParam(), 16, 0)).slots, 2);
}

TEST_P(Catalog, DoesOnDataWhatItIsFor) {
  for (const int ranks : {1, 2, 3, 4, 5, 7, 8, 13}) {
    for_each_root(ranks, [&](const Plan& plan) {
      for (const std::uint64_t count : {1, 7, 16, 17, 200}) {
        for (const bool in_place : {false, true}) {
          if (in_place && !plan.in_place_safe) continue;
          ASSERT_EQ(
              fault_on_data(plan, count, 128, in_place, count + static_cast<std::uint64_t>(ranks)),
              "")
              << title(plan) << " of " << ranks << ", root " << plan.root << ", count " << count
              << (in_place ? ", in place" : "");
        }
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(All, Catalog, testing::ValuesIn(plan_cases()), plan_case_name);

// A plan with a root elsewhere than it says does not do what it says.
TEST(CatalogVerifier, ARootMatters) {
  for (const Collective collective : planned_collectives) {
    if (!has_root(collective)) continue;
    for (const Recipe& recipe : recipes(collective, 4, 1)) {
      Plan plan = make_plan(recipe);
      plan.root = 2;
      EXPECT_NE(verdict(plan), "") << title(plan);
      plan.root = 4;
      EXPECT_NE(verdict(plan), "") << title(plan);
    }
  }
}

// What a direct plan's steps reach into is what is asked of the buffers before it runs.
TEST(CatalogReach, IsWhatTheStepsName) {
  int plans = 0;
  for (const Collective collective : planned_collectives) {
    for (const Recipe& recipe : recipes(collective, 4, 1)) {
      if (recipe.protocol != Protocol::direct) continue;
      const Reach reach = reach_of(make_plan(recipe));
      const Reach asked = reach_of(collective);
      EXPECT_EQ(reach.inputs, asked.inputs) << name_of_case(recipe);
      // One-shot AllReduce writes its own output only; the buffers of both are asked for.
      if (collective != Collective::all_reduce || recipe.algorithm != Algorithm::one_shot) {
        EXPECT_EQ(reach.outputs, asked.outputs) << name_of_case(recipe);
      }
      ++plans;
    }
  }
  EXPECT_EQ(plans, 9);
}

}  // namespace
}  // namespace gyre::plan
