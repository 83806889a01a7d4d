// SPDX-License-Identifier: Apache-2.0
// The algorithms that could run a call, by what the cost model expects of them.
#pragma once

#include <vector>

#include "collectives/chooser.h"

namespace gyre::plan {

struct Candidate {
  Choice choice;
  double seconds = 0;  // predicted
};

// Staged plans of every algorithm that the call may run, the fastest first. Empty without costs, for
// one or two ranks (between two, all algorithms do the same), and for so many ranks that counting
// their steps would take longer than it saves.
[[nodiscard]] std::vector<Candidate> rank_candidates(Collective collective,
                                                     const ChoiceInput& input);

// `chosen` by rules, or what the model expects to be clearly faster.
[[nodiscard]] Choice better_of(const Choice& chosen, Collective collective,
                               const ChoiceInput& input);

}  // namespace gyre::plan
