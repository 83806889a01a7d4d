// SPDX-License-Identifier: Apache-2.0
// AllReduce: the builders, one file each, and the plan made of them.
#pragma once

#include "collectives/algorithm.h"
#include "collectives/plan.h"

namespace gyre::plan {

// The program of one rank. In each of them a rank's result is, block by block, the same expression
// over the same ranks, so results are bitwise equal everywhere.
[[nodiscard]] Program ring_all_reduce(int rank, int ranks);  // ring_all_reduce.cpp
[[nodiscard]] Program one_shot_all_reduce(int rank, int ranks,
                                          Protocol protocol);  // one_shot_all_reduce.cpp
[[nodiscard]] Program two_shot_all_reduce(int rank, int ranks,
                                          Protocol protocol);  // two_shot_all_reduce.cpp

// Whether the algorithm can be run over the protocol: a ring has nothing to gain from direct
// access, every other pair exists.
[[nodiscard]] bool supports(Algorithm algorithm, Protocol protocol);

// The plan without its programs: name, blocks, slots, in_place_safe. What a rank needs beside its
// own program in order to run.
[[nodiscard]] Plan describe_all_reduce(Algorithm algorithm, Protocol protocol, int ranks);
[[nodiscard]] Program all_reduce_program(Algorithm algorithm, Protocol protocol, int rank,
                                         int ranks);

// The plan with the programs of all ranks, to be verified or printed. supports(...) must hold.
[[nodiscard]] Plan make_all_reduce(Algorithm algorithm, Protocol protocol, int ranks);

}  // namespace gyre::plan
