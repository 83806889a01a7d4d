// SPDX-License-Identifier: Apache-2.0
// The vector targets that kernels are compiled for, to be included before any Highway header.
// Each costs compile time and code: on x86, AVX2 and AVX-512 (Highway's AVX3) cover the servers of
// the last ten years, older ones get the scalar kernels; on Arm, NEON. The SVE targets have vectors
// without a size, which cannot be kept in the arrays that the kernels unroll with.
#pragma once

#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
