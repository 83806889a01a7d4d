// SPDX-License-Identifier: Apache-2.0
#include "collectives/verifier.h"

#include <fmt/format.h>

#include "collectives/goal.h"
#include "collectives/structure.h"
#include "collectives/symbolic_run.h"

namespace gyre::plan {

namespace {

Status check_execution(SymbolicRun& run) {
  GYRE_TRY(run.run());
  GYRE_TRY(run.check_leftovers());
  GYRE_TRY(run.check_ends());
  GYRE_TRY(run.check_results());
  return run.check_in_place();
}

}  // namespace

Status verify(const Plan& plan, const VerifyOptions& options) {
  const Result<bool> order = has_canonical_order(plan, options);
  return order ? Status() : Unexpected(order.error());
}

Result<bool> has_canonical_order(const Plan& plan, const VerifyOptions& options) {
  if (options.tiles < 1 || options.slots < 0) {
    return fail(Code::invalid_argument,
                fmt::format("A plan cannot be verified with {} tiles and {} slots.", options.tiles,
                            options.slots));
  }
  const Result<Goal> goal = goal_of(plan);
  if (!goal) return Unexpected(goal.error());
  GYRE_TRY(check_structure(plan, *goal));
  SymbolicRun run(plan, *goal, options.tiles, options.slots == 0 ? plan.slots : options.slots);
  GYRE_TRY(check_execution(run));
  return !goal->reduces || run.has_canonical_results();
}

}  // namespace gyre::plan
