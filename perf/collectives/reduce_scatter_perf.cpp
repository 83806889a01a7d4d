// SPDX-License-Identifier: Apache-2.0
// reduce_scatter_perf: Gyre's ReduceScatter, timed and checked.
#include "perf/gyre_bench/gyre_library.h"

int main(int argc, char** argv) {
  return perf::gyre_benchmark_main(argc, argv, perf::CollectiveKind::reduce_scatter);
}
