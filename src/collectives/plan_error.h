// SPDX-License-Identifier: Apache-2.0
// Errors about plans: all begin with where in the plan the fault is.
#pragma once

#include <string_view>

#include "base/status.h"
#include "collectives/plan.h"

namespace gyre::plan {

// "The plan ring/staged for 4 ranks is wrong: <what>"
[[nodiscard]] Unexpected fail_plan(const Plan& plan, std::string_view what);
// "The plan ring/staged for 4 ranks is wrong at rank 2, step 5 (wait peer 1): <what>"
[[nodiscard]] Unexpected fail_step(const Plan& plan, int rank, int step, std::string_view what);
// "rank 2, step 5 (wait peer 1)"
[[nodiscard]] std::string locate(const Plan& plan, int rank, int step);

}  // namespace gyre::plan
