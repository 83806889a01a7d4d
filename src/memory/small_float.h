// SPDX-License-Identifier: Apache-2.0
// The 16- and 8-bit floats: what each bit pattern is worth, and how a float32 is rounded to one.
// These scalar functions are the definition; the vector kernels are tested against them bit by bit.
//
// Rounding is to nearest, ties to even, done on integers: neither the rounding mode nor the
// flush-to-zero flags of the processor have a say. Every NaN narrows to one canonical NaN.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace gyre {

// What happens to a magnitude that is too large after rounding. infinity: it becomes infinity.
// saturate: finite values become the largest finite value.
enum class Overflow : std::uint8_t { infinity, saturate };

struct SmallFloatFormat {
  int mantissa_bits;
  int bias;                    // of the exponent
  Overflow overflow;           // of finite values
  std::uint32_t largest_code;  // magnitude bits of the largest finite value
  std::uint32_t
      infinity_code;       // to which infinity narrows; the largest finite one if there is none
  std::uint32_t nan_code;  // the canonical NaN, sign positive
};

// IEEE 754 binary16.
inline constexpr SmallFloatFormat float16_format = {10,     15,     Overflow::infinity,
                                                    0x7bff, 0x7c00, 0x7e00};
// The upper half of a float32.
inline constexpr SmallFloatFormat bfloat16_format = {7,      127,    Overflow::infinity,
                                                     0x7f7f, 0x7f80, 0x7fc0};
// OCP 8-bit floating point, E4M3: no infinity, one NaN magnitude, largest value 448.
inline constexpr SmallFloatFormat float8e4m3_format = {3, 7, Overflow::saturate, 0x7e, 0x7e, 0x7f};
// OCP 8-bit floating point, E5M2: as IEEE, largest finite value 57344.
inline constexpr SmallFloatFormat float8e5m2_format = {2, 15, Overflow::saturate, 0x7b, 0x7c, 0x7e};

namespace small_float {

inline constexpr std::uint32_t float32_infinity = 0x7f800000;
inline constexpr int float32_mantissa_bits = 23;
inline constexpr int float32_bias = 127;

// Position of the sign bit: the number of magnitude bits.
constexpr int sign_position(const SmallFloatFormat& format) {
  return std::bit_width(format.nan_code);
}

// Magnitude bits of the float32 with magnitude bits `magnitude`, finite, before overflow is
// looked at.
constexpr std::uint32_t round_magnitude(std::uint32_t magnitude, const SmallFloatFormat& format) {
  const int field = static_cast<int>(magnitude >> float32_mantissa_bits);
  const int exponent = field == 0 ? 1 : field;
  const std::uint32_t hidden = field == 0 ? 0 : 1U << float32_mantissa_bits;
  const std::uint32_t significand = (magnitude & ((1U << float32_mantissa_bits) - 1)) | hidden;

  // Below the smallest normal exponent the spacing stays what it is there: more bits are dropped.
  const int smallest = float32_bias - format.bias + 1;
  const int below = exponent < smallest ? smallest - exponent : 0;
  const int dropped = float32_mantissa_bits - format.mantissa_bits + below;
  if (dropped > float32_mantissa_bits + 1) {
    return 0;  // less than half of the smallest value
  }
  const std::uint32_t rest = significand & ((1U << dropped) - 1);
  const std::uint32_t half = 1U << (dropped - 1);
  std::uint32_t kept = significand >> dropped;
  if (rest > half || (rest == half && (kept & 1U) != 0)) {
    ++kept;
  }
  // Adding lets the hidden bit, and a carry out of the mantissa, count the exponent up.
  const auto above = static_cast<std::uint32_t>(exponent > smallest ? exponent - smallest : 0);
  return (above << format.mantissa_bits) + kept;
}

constexpr std::uint32_t narrow(float value, const SmallFloatFormat& format) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > float32_infinity) {
    return format.nan_code;
  }
  const std::uint32_t sign = (bits >> 31) << sign_position(format);
  if (magnitude == float32_infinity) {
    return sign | format.infinity_code;
  }
  const std::uint32_t code = round_magnitude(magnitude, format);
  if (code > format.largest_code) {
    return sign |
           (format.overflow == Overflow::infinity ? format.infinity_code : format.largest_code);
  }
  return sign | code;
}

// The value of `code`; exact. Any NaN gives the canonical NaN of float32.
constexpr float widen(std::uint32_t code, const SmallFloatFormat& format) {
  const int position = sign_position(format);
  const std::uint32_t sign = ((code >> position) & 1U) << 31;
  const std::uint32_t magnitude = code & ((1U << position) - 1);
  if (magnitude > format.infinity_code) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  if (magnitude > format.largest_code) {
    return std::bit_cast<float>(sign | float32_infinity);
  }
  const int shift = float32_mantissa_bits - format.mantissa_bits;
  if (magnitude >> format.mantissa_bits != 0 || format.bias == float32_bias) {
    const auto rebias = static_cast<std::uint32_t>(float32_bias - format.bias)
                        << float32_mantissa_bits;
    return std::bit_cast<float>(sign | ((magnitude << shift) + rebias));
  }
  // Subnormal: an integer times the smallest value, 2^(1 - bias - mantissa_bits).
  const auto unit_field =
      static_cast<std::uint32_t>(float32_bias + 1 - format.bias - format.mantissa_bits);
  const auto unit = std::bit_cast<float>(unit_field << float32_mantissa_bits);
  const float value = static_cast<float>(magnitude) * unit;
  return sign != 0 ? -value : value;
}

}  // namespace small_float

constexpr float float16_to_float32(std::uint16_t code) {
  return small_float::widen(code, float16_format);
}
constexpr std::uint16_t float32_to_float16(float value) {
  return static_cast<std::uint16_t>(small_float::narrow(value, float16_format));
}
constexpr float bfloat16_to_float32(std::uint16_t code) {
  return small_float::widen(code, bfloat16_format);
}
constexpr std::uint16_t float32_to_bfloat16(float value) {
  return static_cast<std::uint16_t>(small_float::narrow(value, bfloat16_format));
}
constexpr float float8e4m3_to_float32(std::uint8_t code) {
  return small_float::widen(code, float8e4m3_format);
}
constexpr std::uint8_t float32_to_float8e4m3(float value) {
  return static_cast<std::uint8_t>(small_float::narrow(value, float8e4m3_format));
}
constexpr float float8e5m2_to_float32(std::uint8_t code) {
  return small_float::widen(code, float8e5m2_format);
}
constexpr std::uint8_t float32_to_float8e5m2(float value) {
  return static_cast<std::uint8_t>(small_float::narrow(value, float8e5m2_format));
}

}  // namespace gyre
