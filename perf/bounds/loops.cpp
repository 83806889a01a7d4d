// SPDX-License-Identifier: Apache-2.0
#include "perf/bounds/loops.h"

namespace bounds {

const Loops& best_loops() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return avx512_loops;
  if (__builtin_cpu_supports("avx2")) return avx2_loops;
#endif
  return plain_loops;
}

}  // namespace bounds
