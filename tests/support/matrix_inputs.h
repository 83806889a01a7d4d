// SPDX-License-Identifier: Apache-2.0
// What the ranks of a case of the matrix contribute: without any pattern, other on each rank, and the
// same in every process that asks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "support/matrix_space.h"

namespace gyre::test {

// Bits of element i of section `section` of the input of `rank`.
//
// Floats that are summed or multiplied are of two kinds in turn. Odd elements take any fraction;
// products stay in [3/4, 5/4] a factor, so that 16 of them neither vanish nor overflow in 8 bits.
// Even elements have sums and products that every order computes exactly, so that a contribution
// that is missing, doubled or another's is seen although the bound of small types is wide.
[[nodiscard]] std::uint64_t input_bits(const MatrixCase& one, int rank, std::size_t section,
                                       std::size_t i);

}  // namespace gyre::test
