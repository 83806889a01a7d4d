// SPDX-License-Identifier: Apache-2.0
// Collectives with sections in logarithmically many rounds or to logarithmically many peers, and
// AllToAll in pairs.
#pragma once

#include "collectives/plan.h"

namespace gyre::plan {

// doubling_all_gather.cpp
[[nodiscard]] Program doubling_all_gather(int rank, int ranks);

// bruck.cpp; the scratch blocks that a plan needs beside it
[[nodiscard]] Program bruck_all_gather(int rank, int ranks);
[[nodiscard]] Program bruck_all_to_all(int rank, int ranks);
[[nodiscard]] int bruck_all_to_all_scratch(int ranks);

// pairwise_all_to_all.cpp
[[nodiscard]] Program pairwise_all_to_all(int rank, int ranks);

// pat.cpp
[[nodiscard]] Program pat_reduce_scatter(int rank, int ranks);
[[nodiscard]] int pat_reduce_scatter_scratch(int ranks);
[[nodiscard]] Program pat_all_gather(int rank, int ranks);

}  // namespace gyre::plan
