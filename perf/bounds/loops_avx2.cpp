// SPDX-License-Identifier: Apache-2.0
#include "perf/bounds/loops_body.inc"

namespace bounds {

const Loops avx2_loops{"avx2", copy, add, add_twice, add_and_keep, add_many};

}  // namespace bounds
