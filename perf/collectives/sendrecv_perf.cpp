// SPDX-License-Identifier: Apache-2.0
// sendrecv_perf: Gyre's Send and Recv around the ring of ranks, timed and checked.
#include "perf/gyre_bench/gyre_library.h"

int main(int argc, char** argv) {
  return perf::gyre_benchmark_main(argc, argv, perf::CollectiveKind::sendrecv);
}
