// SPDX-License-Identifier: Apache-2.0
// Everything that can be built, by name: the one place that knows which algorithms and protocols
// each collective has.
#pragma once

#include <vector>

#include "collectives/algorithm.h"
#include "collectives/hierarchy.h"
#include "collectives/plan.h"

namespace gyre::plan {

struct Recipe {
  Collective collective = Collective::all_reduce;
  Algorithm algorithm = Algorithm::one_shot;
  Protocol protocol = Protocol::staged;
  int ranks = 1;
  int root = -1;             // of collectives that have one
  Hierarchy hierarchy = {};  // of the hierarchical ones
};

[[nodiscard]] bool exists(Collective collective, Algorithm algorithm, Protocol protocol);
// Whether the plans have the canonical order of reduction for every number of ranks: what
// GYRE_REPRODUCIBLE admits. A test holds this against has_canonical_order (verifier.h).
[[nodiscard]] bool in_canonical_order(Collective collective, Algorithm algorithm);
// All recipes of a collective, for `ranks` ranks.
[[nodiscard]] std::vector<Recipe> recipes(Collective collective, int ranks, int root = 0);

// The plan without its programs: name, blocks, slots, in_place_safe. The recipe must exist.
[[nodiscard]] Plan describe(const Recipe& recipe);
[[nodiscard]] Program program_of(const Recipe& recipe, int rank);
// The plan with the programs of all ranks.
[[nodiscard]] Plan make_plan(const Recipe& recipe);

}  // namespace gyre::plan
