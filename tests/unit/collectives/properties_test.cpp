// SPDX-License-Identifier: Apache-2.0
// Plans drawn at random, with every parameter that there is: proved by the verifier, and right on
// data. RC_PARAMS explores further or reproduces.
#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "collectives/verifier.h"
#include "unit/collectives/plan_cases.h"
#include "unit/collectives/plan_runs.h"

namespace gyre::plan {
namespace {

// The same inputs in every run, unless RC_PARAMS is set.
const int fixed_seed = setenv("RC_PARAMS", "seed=1 max_success=400", 0);

Recipe any_recipe(int most_ranks) {
  const int ranks = *rc::gen::inRange(1, most_ranks + 1);
  const std::vector<PlanCase> cases = plan_cases();
  Recipe recipe = recipe_of(cases[*rc::gen::inRange<std::size_t>(0, cases.size())], ranks,
                            *rc::gen::inRange(0, ranks));
  recipe.hierarchy.levels.resize(*rc::gen::inRange<std::size_t>(0, 5));
  for (int& size : recipe.hierarchy.levels) size = *rc::gen::inRange(1, 9);
  return recipe;
}

RC_GTEST_PROP(PlanProperties, EveryPlanIsProved, ()) {
  const Recipe recipe = any_recipe(80);
  const Plan plan = make_plan(recipe);
  const VerifyOptions options{.tiles = *rc::gen::inRange(1, 5),
                              .slots = plan.slots + *rc::gen::inRange(0, 4)};
  const Status status = verify(plan, options);
  RC_LOG() << name_of_case(recipe) << " of " << recipe.ranks << ", root " << recipe.root
           << (status ? "" : status.error().message);
  RC_ASSERT(status.has_value());
}

RC_GTEST_PROP(PlanProperties, EveryPlanIsRightOnData, ()) {
  const Recipe recipe = any_recipe(24);
  const Plan plan = make_plan(recipe);
  const bool in_place = plan.in_place_safe && *rc::gen::arbitrary<bool>();
  const std::uint64_t count = *rc::gen::inRange<std::uint64_t>(1, 300);
  const std::uint64_t slot_bytes = 8 * *rc::gen::inRange<std::uint64_t>(1, 40);
  const std::string fault =
      fault_on_data(plan, count, slot_bytes, in_place, *rc::gen::arbitrary<std::uint64_t>());
  RC_LOG() << name_of_case(recipe) << " of " << recipe.ranks << ", root " << recipe.root
           << ", count " << count << ": " << fault;
  RC_ASSERT(fault.empty());
}

// The program that a rank builds by itself is the one in the whole plan, with the same description.
RC_GTEST_PROP(PlanProperties, ARankBuildsItsPartAlone, ()) {
  const Recipe recipe = any_recipe(40);
  const Plan plan = make_plan(recipe);
  const int rank = *rc::gen::inRange(0, recipe.ranks);
  RC_ASSERT(program_of(recipe, rank) == plan.programs[static_cast<std::size_t>(rank)]);
  RC_ASSERT(describe(recipe).blocks == plan.blocks);
}

}  // namespace
}  // namespace gyre::plan
