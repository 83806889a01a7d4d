// SPDX-License-Identifier: Apache-2.0
// AllReduce: the builders, one file each, and the plan made of them.
#pragma once

#include "collectives/algorithm.h"
#include "collectives/hierarchy.h"
#include "collectives/plan.h"

namespace gyre::plan {

// The program of one rank; the hierarchical one is in hierarchical.h. In each of them a rank's result is, block by block, the same expression
// over the same ranks, so results are bitwise equal everywhere.
[[nodiscard]] Program ring_all_reduce(int rank, int ranks);  // ring_all_reduce.cpp
[[nodiscard]] Program one_shot_all_reduce(int rank, int ranks,
                                          Protocol protocol);  // one_shot_all_reduce.cpp
[[nodiscard]] Program two_shot_all_reduce(int rank, int ranks,
                                          Protocol protocol);    // two_shot_all_reduce.cpp
[[nodiscard]] Program tree_all_reduce(int rank, int ranks);      // tree_all_reduce.cpp
[[nodiscard]] Program doubling_all_reduce(int rank, int ranks);  // doubling_all_reduce.cpp
[[nodiscard]] Program halving_all_reduce(int rank, int ranks);   // halving_all_reduce.cpp

// Plan::blocks of each.
inline constexpr int tree_all_reduce_blocks = 8;
[[nodiscard]] int halving_all_reduce_blocks(int ranks);

// Whether the algorithm can be run over the protocol: one_shot and two_shot over all, a ring has nothing
// to gain from direct access, and what forwards messages runs staged only.
[[nodiscard]] bool supports(Algorithm algorithm, Protocol protocol);

// Whether contributions are combined in the order of ranks, as operations need that do not commute.
[[nodiscard]] bool keeps_order(Algorithm algorithm);

// The plan without its programs: name, blocks, slots, in_place_safe. What a rank needs beside its
// own program in order to run.
[[nodiscard]] Plan describe_all_reduce(Algorithm algorithm, Protocol protocol, int ranks,
                                       const Hierarchy& hierarchy = {});
[[nodiscard]] Program all_reduce_program(Algorithm algorithm, Protocol protocol, int rank,
                                         int ranks, const Hierarchy& hierarchy = {});

// The plan with the programs of all ranks, to be verified or printed. supports(...) must hold.
[[nodiscard]] Plan make_all_reduce(Algorithm algorithm, Protocol protocol, int ranks,
                                   const Hierarchy& hierarchy = {});

}  // namespace gyre::plan
