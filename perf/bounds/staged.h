// SPDX-License-Identifier: Apache-2.0
// Staged floor: AllReduce between two processes with private user buffers, through a shared ring of
// slots that stay in the cache: copy in, reduce out of the slot, copy out, chunk after chunk. What
// a library without access to the other's memory can reach.
#pragma once

#include <cstddef>
#include <vector>

#include "perf/bounds/contest.h"

namespace bounds {

[[nodiscard]] std::vector<Best> measure_staged_floor(const std::vector<std::size_t>& sizes,
                                                     const ClockRule& rule);

}  // namespace bounds
