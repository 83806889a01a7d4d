// SPDX-License-Identifier: Apache-2.0
#include "perf/bounds/loops_body.inc"

namespace bounds {

const Loops avx512_loops{"avx512", copy, add, add_twice, add_and_keep, add_many};

}  // namespace bounds
