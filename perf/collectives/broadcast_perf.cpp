// SPDX-License-Identifier: Apache-2.0
// broadcast_perf: Gyre's Broadcast, timed and checked.
#include "perf/gyre_bench/gyre_library.h"

int main(int argc, char** argv) {
  return perf::gyre_benchmark_main(argc, argv, perf::CollectiveKind::broadcast);
}
