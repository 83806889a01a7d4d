// SPDX-License-Identifier: Apache-2.0
// Ideal: a collective by threads of one address space, each with direct access to all user buffers.
// Nothing is staged, nothing copied twice: what no library can be much faster than.
#pragma once

#include <cstddef>
#include <vector>

#include "perf/bounds/contest.h"
#include "perf/bounds/problem.h"

namespace bounds {

// One result a size (bytes of the larger buffer of a rank).
[[nodiscard]] std::vector<Best> measure_ideal(Collective collective, int ranks,
                                              const std::vector<std::size_t>& sizes,
                                              const ClockRule& rule);

// Any collective but AllReduce, which has ways of its own. All members leave a call together: the
// root of a Broadcast waits until everybody has read.
[[nodiscard]] Best measure_moves(const Problem& problem, const ClockRule& rule);

}  // namespace bounds
