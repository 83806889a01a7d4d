// SPDX-License-Identifier: Apache-2.0
// Inputs that every rank can compute for every other rank, and the result that they must give.
//
// Each value is a hash of (rank, index, iteration). Float inputs are small integers, or powers of
// two for products, chosen so that every partial result is exact in the type whatever the order of
// the ranks: the check then asks for equality, and a lost or doubled contribution shows in 8-bit
// floats too. Only averages need a tolerance, stated in rounding errors of the type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "perf/common/element.h"

namespace perf {

struct InputKey {
  ElementType type = ElementType::float32;
  Operation op = Operation::sum;
  int ranks = 1;
  std::uint32_t iteration = 0;
};

// Writes rank `rank`'s contribution, elements [0, count).
void fill_input(const InputKey& key, int rank, std::byte* to, std::size_t count);

// How many of `count` elements are not op over all ranks' contributions [first, first + count).
[[nodiscard]] std::size_t count_wrong_results(const InputKey& key, std::size_t first,
                                              const std::byte* result, std::size_t count);
// How many of `count` elements are not rank `source`'s contribution [first, first + count).
[[nodiscard]] std::size_t count_wrong_copies(const InputKey& key, int source, std::size_t first,
                                             const std::byte* result, std::size_t count);

// The factor of `rank` under mulsum.
[[nodiscard]] constexpr int mulsum_factor(int rank) {
  return 1 + rank % 2;
}

}  // namespace perf
