// SPDX-License-Identifier: Apache-2.0
// The benchmark itself: every type, operation, root and size of the options, timed and checked.
#pragma once

#include "perf/common/library.h"
#include "perf/common/options.h"

namespace perf {

// Collective over all ranks of `library`; rank 0 prints. Returns the exit status: 1 when a result
// was wrong. Throws Failure.
int run_benchmark(const Options& options, Library& library, Collective& collective);

}  // namespace perf
