// SPDX-License-Identifier: Apache-2.0
// all_reduce_perf: Gyre's AllReduce, timed and checked.
#include "perf/gyre_bench/gyre_library.h"

int main(int argc, char** argv) {
  return perf::gyre_benchmark_main(argc, argv, perf::CollectiveKind::all_reduce);
}
