// SPDX-License-Identifier: Apache-2.0
// A barrier has no result to look at; what can be checked is that nobody leaves it too early.
#pragma once

#include "perf/common/library.h"

namespace perf {

// Collective, between ranks of one host, which read the same clock. Rank `late` comes later than
// the others. 1 if this rank left before the last one had come, else 0.
[[nodiscard]] double left_too_early(Library& library, Collective& collective, int late);

}  // namespace perf
