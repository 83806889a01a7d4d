// SPDX-License-Identifier: Apache-2.0
// The rules that a plan must keep step by step, whatever the other steps are.
#pragma once

#include "base/status.h"
#include "collectives/goal.h"
#include "collectives/plan.h"

namespace gyre::plan {

// Ranks, peers and blocks in range; sources and destinations that can be read and written; only
// the places and steps that the protocol has. The first fault is the answer.
[[nodiscard]] Status check_structure(const Plan& plan, const Goal& goal);

}  // namespace gyre::plan
