// SPDX-License-Identifier: Apache-2.0
// Collectives in two exchanges; AllReduce's is in all_reduce.h.
#pragma once

#include "collectives/plan.h"

namespace gyre::plan {

[[nodiscard]] Program two_shot_reduce(int rank, int ranks, int root);  // two_shot_reduce.cpp

}  // namespace gyre::plan
