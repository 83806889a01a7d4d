// SPDX-License-Identifier: Apache-2.0
// What one element means: its stored form, the wide form that it is combined in, and the operations
// on that. The scalar kernels are loops over these functions, and the vector kernels must give the
// same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "memory/small_float.h"
#include "memory/types.h"

namespace gyre {

// A type whose wide form is itself.
template <typename T>
struct PlainElement {
  using Stored = T;
  using Wide = T;
  static constexpr Wide widen(Stored value) { return value; }
  static constexpr Stored narrow(Wide value) { return value; }
};

// A type that is combined in float32.
template <typename T, const SmallFloatFormat& format>
struct SmallFloatElement {
  using Stored = T;
  using Wide = float;
  static constexpr Wide widen(Stored code) { return small_float::widen(code, format); }
  static constexpr Stored narrow(Wide value) {
    return static_cast<Stored>(small_float::narrow(value, format));
  }
};

template <DataType type>
struct Element;
template <>
struct Element<DataType::int8> : PlainElement<std::int8_t> {};
template <>
struct Element<DataType::uint8> : PlainElement<std::uint8_t> {};
template <>
struct Element<DataType::int32> : PlainElement<std::int32_t> {};
template <>
struct Element<DataType::uint32> : PlainElement<std::uint32_t> {};
template <>
struct Element<DataType::int64> : PlainElement<std::int64_t> {};
template <>
struct Element<DataType::uint64> : PlainElement<std::uint64_t> {};
template <>
struct Element<DataType::float32> : PlainElement<float> {};
template <>
struct Element<DataType::float64> : PlainElement<double> {};
template <>
struct Element<DataType::float16> : SmallFloatElement<std::uint16_t, float16_format> {};
template <>
struct Element<DataType::bfloat16> : SmallFloatElement<std::uint16_t, bfloat16_format> {};
template <>
struct Element<DataType::float8e4m3> : SmallFloatElement<std::uint8_t, float8e4m3_format> {};
template <>
struct Element<DataType::float8e5m2> : SmallFloatElement<std::uint8_t, float8e5m2_format> {};

// Buffers are bytes of any alignment.
template <typename T>
T load_element(const std::byte* base, std::size_t index) {
  T value;
  std::memcpy(&value, base + index * sizeof(T), sizeof(T));
  return value;
}
template <typename T>
void store_element(std::byte* base, std::size_t index, T value) {
  std::memcpy(base + index * sizeof(T), &value, sizeof(T));
}

[[nodiscard]] constexpr bool is_bitwise(ReduceOp op) {
  return op == ReduceOp::band || op == ReduceOp::bor || op == ReduceOp::bxor;
}

template <ReduceOp op, typename T>
constexpr T combine_integers(T a, T b) {
  // Unsigned arithmetic wraps; signed overflow would be undefined.
  using Unsigned = std::make_unsigned_t<T>;
  const auto x = static_cast<Unsigned>(a);
  const auto y = static_cast<Unsigned>(b);
  switch (op) {
    case ReduceOp::sum:
      return static_cast<T>(x + y);
    case ReduceOp::prod:
      return static_cast<T>(x * y);
    case ReduceOp::max:
      return a < b ? b : a;
    case ReduceOp::min:
      return b < a ? b : a;
    case ReduceOp::band:
      return static_cast<T>(x & y);
    case ReduceOp::bor:
      return static_cast<T>(x | y);
    case ReduceOp::bxor:
      return static_cast<T>(x ^ y);
  }
  return a;
}

// -0 is less than +0, so that the result does not depend on the order of the sources.
template <typename T>
constexpr T float_min(T a, T b) {
  if (a != a || b != b) {
    return std::numeric_limits<T>::quiet_NaN();
  }
  const bool first = a < b || (a == b && __builtin_signbit(a) != 0);
  return first ? a : b;
}

template <ReduceOp op, typename T>
constexpr T combine_floats(T a, T b) {
  static_assert(!is_bitwise(op));
  switch (op) {
    case ReduceOp::prod:
      return a * b;
    case ReduceOp::max:
      return -float_min(-a, -b);
    case ReduceOp::min:
      return float_min(a, b);
    default:
      return a + b;
  }
}

template <ReduceOp op, typename T>
constexpr T combine(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return combine_integers<op>(a, b);
  } else {
    return combine_floats<op>(a, b);
  }
}

// The last step before a result is narrowed and stored. Which of two NaNs an addition keeps, and
// the sign of the one it makes of inf - inf, differ between processors and even between the
// compiler's choices of operand order; so a result that is NaN is always the same NaN.
template <typename T>
constexpr T finish(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return value != value ? std::numeric_limits<T>::quiet_NaN() : value;
  } else {
    return value;
  }
}

}  // namespace gyre
