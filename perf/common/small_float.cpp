// SPDX-License-Identifier: Apache-2.0
#include "perf/common/small_float.h"

#include <bit>
#include <cmath>
#include <limits>

namespace perf {
namespace {

struct Format {
  int exponent_bits;
  int fraction_bits;
  bool has_infinity;  // e4m3 has none: its one all-ones pattern is NaN
  [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] int top_exponent() const { return (1 << exponent_bits) - 1; }
  // Weight of the last bit of a subnormal, as a power of two.
  [[nodiscard]] int smallest() const { return 1 - bias() - fraction_bits; }
};

Format format_of(ElementType type) {
  switch (type) {
    case ElementType::float16:
      return {5, 10, true};
    case ElementType::bfloat16:
      return {8, 7, true};
    case ElementType::float8e4m3:
      return {4, 3, false};
    default:
      return {5, 2, true};
  }
}

}  // namespace

std::uint16_t encode_small_float(ElementType type, float value) {
  const Format format = format_of(type);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 31) << (format.exponent_bits + format.fraction_bits);
  const int exponent = static_cast<int>((bits >> 23) & 0xff) - 127 + format.bias();
  const std::uint32_t fraction = (bits & 0x7fffff) >> (23 - format.fraction_bits);
  if (exponent > 0) {
    const auto shifted = static_cast<std::uint32_t>(exponent) << format.fraction_bits;
    return static_cast<std::uint16_t>(sign | shifted | fraction);
  }
  const auto steps = static_cast<std::uint32_t>(std::ldexp(std::fabs(value), -format.smallest()));
  return static_cast<std::uint16_t>(sign | steps);
}

float decode_small_float(ElementType type, std::uint16_t bits) {
  const Format format = format_of(type);
  const int fraction = bits & ((1 << format.fraction_bits) - 1);
  const int exponent = (bits >> format.fraction_bits) & format.top_exponent();
  const float sign = (bits >> (format.exponent_bits + format.fraction_bits)) & 1 ? -1.0F : 1.0F;
  const int all_ones = (1 << format.fraction_bits) - 1;
  if (exponent == format.top_exponent()) {
    if (format.has_infinity && fraction == 0) return sign * std::numeric_limits<float>::infinity();
    if (format.has_infinity || fraction == all_ones) {
      return std::numeric_limits<float>::quiet_NaN();
    }
  }
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), format.smallest());
  const int significand = fraction | (1 << format.fraction_bits);
  return sign * std::ldexp(static_cast<float>(significand),
                           exponent - format.bias() - format.fraction_bits);
}

}  // namespace perf
