// SPDX-License-Identifier: Apache-2.0
// Starting the ranks of a run on this host, for people without mpirun.
#pragma once

#include <optional>

#include "perf/common/options.h"

namespace perf {

// In the process that a person started with --ranks N: starts N copies of this program, waits for
// all and returns the exit status (the first that was not 0). In such a copy, and in a process that
// a launcher started: binds to a CPU if told so, and returns nothing: go on as a rank.
std::optional<int> start_ranks(const Options& options, char** argv);

}  // namespace perf
