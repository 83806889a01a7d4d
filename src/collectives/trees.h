// SPDX-License-Identifier: Apache-2.0
// Collectives with a root over a chain, a binomial tree or a double binary tree. Ranks are numbered from the root.
#pragma once

#include "collectives/plan.h"

namespace gyre::plan {

// chain_broadcast.cpp
[[nodiscard]] Program chain_broadcast(int rank, int ranks, int root);

// binomial.cpp
[[nodiscard]] Program binomial_broadcast(int rank, int ranks, int root);
[[nodiscard]] Program binomial_reduce(int rank, int ranks, int root);

// tree_rooted.cpp
inline constexpr int tree_rooted_blocks = 2;  // one for each tree
[[nodiscard]] Program tree_broadcast(int rank, int ranks, int root);
[[nodiscard]] Program tree_reduce(int rank, int ranks, int root);

}  // namespace gyre::plan
