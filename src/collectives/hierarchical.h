// SPDX-License-Identifier: Apache-2.0
// Collectives by levels, composed of what the catalog has for the members of one level.
#pragma once

#include "base/status.h"
#include "collectives/catalog.h"
#include "collectives/plan.h"

namespace gyre::plan {

// AllReduce, AllGather, ReduceScatter, Broadcast.
[[nodiscard]] bool has_hierarchical(Collective collective);
// Whether the algorithms of the recipe's hierarchy have the forms that it needs: inside a level
// AllReduce is a reduce-scatter and an all-gather, Broadcast a broadcast and an all-gather, the others are
// themselves; across the outermost each is itself. A ring's form of Broadcast is a chain, that of pat a
// binomial tree, and two-shot is made of one-shots.
[[nodiscard]] Status check_hierarchy(const Recipe& recipe);

// Of a recipe that passes.
[[nodiscard]] Plan describe_hierarchical(const Recipe& recipe);
[[nodiscard]] Program hierarchical_program(const Recipe& recipe, int rank);

}  // namespace gyre::plan
