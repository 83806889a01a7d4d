// SPDX-License-Identifier: Apache-2.0
// What a reduction must give, element by element: integers exactly, floats from float64 within
// what the roundings of the type may add up to.
#pragma once

#include <gyre/gyre.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gyre::test {

enum class Operation : std::uint8_t {
  sum,
  prod,
  max,
  min,
  avg,
  band,
  bor,
  bxor,
  premulsum,      // rank r multiplies by scalar_of(type, r)
  user_xor,       // of the bytes: commutative
  user_leftmost,  // of each byte, that of the lowest rank where it is not 0: not commutative
};
inline constexpr int operation_count = 11;

[[nodiscard]] std::string_view name_of(Operation operation);
[[nodiscard]] bool defined_for(Operation operation, gyreDataType_t type);
// Bits of the factor of a rank in `premulsum`; exact in every type.
[[nodiscard]] std::uint64_t scalar_of(gyreDataType_t type, int rank);

// `inputs`: bits of one element on each rank. "" when `output` is right, else what it should be.
[[nodiscard]] std::string fault_in(Operation operation, gyreDataType_t type,
                                   std::span<const std::uint64_t> inputs, std::uint64_t output);

}  // namespace gyre::test
