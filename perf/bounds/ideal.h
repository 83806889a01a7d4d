// SPDX-License-Identifier: Apache-2.0
// Ideal: AllReduce by threads of one address space, each with direct access to all user buffers.
// Nothing is staged, nothing copied twice: what no library can be much faster than.
#pragma once

#include <cstddef>
#include <vector>

#include "perf/bounds/contest.h"

namespace bounds {

// One result a size (bytes per rank).
[[nodiscard]] std::vector<Best> measure_ideal(int ranks, const std::vector<std::size_t>& sizes,
                                              const ClockRule& rule);

}  // namespace bounds
