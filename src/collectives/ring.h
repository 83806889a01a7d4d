// SPDX-License-Identifier: Apache-2.0
// Collectives round a ring; AllReduce's is in all_reduce.h.
#pragma once

#include "collectives/plan.h"

namespace gyre::plan {

// ring_sections.cpp
[[nodiscard]] Program ring_all_gather(int rank, int ranks);
[[nodiscard]] Program ring_reduce_scatter(int rank, int ranks);

}  // namespace gyre::plan
