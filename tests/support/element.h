// SPDX-License-Identifier: Apache-2.0
// Elements of every type, written from the definition of the formats and not from the library that
// is tested with them. Small floats by decoding, in float64, which holds all of them exactly.
#pragma once

#include <gyre/gyre.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace gyre::test {

inline constexpr int type_count = gyreNumTypes;

[[nodiscard]] std::size_t size_of(gyreDataType_t type);
[[nodiscard]] std::string_view name_of(gyreDataType_t type);
[[nodiscard]] bool is_float(gyreDataType_t type);

// Bits of the fraction: 2^-fraction_bits is the distance of the numbers from 1 up.
[[nodiscard]] int fraction_bits(gyreDataType_t float_type);
[[nodiscard]] double smallest_subnormal(gyreDataType_t float_type);

// The bits of an element, in the low end of a word.
[[nodiscard]] std::uint64_t load_bits(gyreDataType_t type, const std::byte* from);
void store_bits(gyreDataType_t type, std::uint64_t bits, std::byte* to);

[[nodiscard]] double decode(gyreDataType_t float_type, std::uint64_t bits);
// `value` must be a normal number of the type, or 0.
[[nodiscard]] std::uint64_t encode_exactly(gyreDataType_t float_type, double value);
[[nodiscard]] std::uint64_t quiet_nan(gyreDataType_t float_type);

// A number without any pattern from (seed, index): the same in every process.
[[nodiscard]] std::uint64_t scramble(std::uint64_t seed, std::uint64_t index);
// Integers: any. Floats: +-[1/4, 2), so that products of ten neither vanish nor overflow.
[[nodiscard]] std::uint64_t random_element(gyreDataType_t type, std::uint64_t seed,
                                           std::uint64_t index);

[[nodiscard]] std::uint64_t hash(std::span<const std::byte> bytes);

}  // namespace gyre::test
