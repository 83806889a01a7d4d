// SPDX-License-Identifier: Apache-2.0
// alltoallv_perf: Gyre's AllToAllV, timed and checked.
#include "perf/gyre_bench/gyre_library.h"

int main(int argc, char** argv) {
  return perf::gyre_benchmark_main(argc, argv, perf::CollectiveKind::alltoallv);
}
