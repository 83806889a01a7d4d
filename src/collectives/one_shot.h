// SPDX-License-Identifier: Apache-2.0
// Collectives in one step, through slots or lines; AllReduce's is in all_reduce.h.
#pragma once

#include "collectives/plan.h"

namespace gyre::plan {

// one_shot_exchange.cpp
[[nodiscard]] Program one_shot_all_gather(int rank, int ranks);
[[nodiscard]] Program one_shot_reduce_scatter(int rank, int ranks);
[[nodiscard]] Program one_shot_all_to_all(int rank, int ranks);

// one_shot_rooted.cpp
[[nodiscard]] Program one_shot_broadcast(int rank, int ranks, int root);
[[nodiscard]] Program one_shot_scatter(int rank, int ranks, int root);
[[nodiscard]] Program one_shot_gather(int rank, int ranks, int root);
[[nodiscard]] Program one_shot_reduce(int rank, int ranks, int root);

}  // namespace gyre::plan
