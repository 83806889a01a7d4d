// SPDX-License-Identifier: Apache-2.0
#include "perf/common/barrier_check.h"

#include <chrono>

#include "perf/common/timing.h"

namespace perf {
namespace {

// CLOCK_MONOTONIC: the same for all processes of a host.
double now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

}  // namespace

double left_too_early(Library& library, Collective& collective, int late) {
  constexpr double delay_us = 300;  // far longer than any barrier between running ranks
  barrier(library);
  const double start = now_us();
  double entered = start;
  while (library.rank() == late && entered < start + delay_us) entered = now_us();
  collective.repeat({}, 1);
  library.wait_until_done();
  const double left = now_us();
  double last_entry = entered;
  library.combine({&last_entry, 1}, Combine::max);
  return left < last_entry ? 1.0 : 0.0;
}

}  // namespace perf
