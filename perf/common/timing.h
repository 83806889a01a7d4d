// SPDX-License-Identifier: Apache-2.0
// How times are taken, the same for every library: a barrier, a timestamp, n calls, a timestamp;
// divided by n, and combined over ranks as -a says.
#pragma once

#include <optional>

#include "perf/common/library.h"
#include "perf/common/options.h"
#include "perf/common/report.h"

namespace perf {

struct Timing {
  double microseconds = 0;  // per operation
  int iterations = 0;       // that were timed
  std::optional<SampleStatistics> samples;
};

// Collective. Every rank gets the same answer.
[[nodiscard]] Timing time_call(const Options& options, Library& library, Collective& collective,
                               const Call& call);

void barrier(Library& library);

}  // namespace perf
