// SPDX-License-Identifier: Apache-2.0
// all_gather_perf: Gyre's AllGather, timed and checked.
#include "perf/gyre_bench/gyre_library.h"

int main(int argc, char** argv) {
  return perf::gyre_benchmark_main(argc, argv, perf::CollectiveKind::all_gather);
}
