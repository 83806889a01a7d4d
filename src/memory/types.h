// SPDX-License-Identifier: Apache-2.0
// Element types and reduction operations; the numbers are those of gyre.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gyre {

enum class DataType : std::uint8_t {
  int8 = 0,
  uint8 = 1,
  int32 = 2,
  uint32 = 3,
  int64 = 4,
  uint64 = 5,
  float16 = 6,
  float32 = 7,
  float64 = 8,
  bfloat16 = 9,
  float8e4m3 = 10,
  float8e5m2 = 11,
};
inline constexpr int data_type_count = 12;

// What a kernel combines with. avg and premulsum are not here: they are a sum with each
// contribution scaled first (floats), or divided at the end (integer avg).
enum class ReduceOp : std::uint8_t {
  sum = 0,
  prod = 1,
  max = 2,
  min = 3,
  band = 4,
  bor = 5,
  bxor = 6,
};
inline constexpr int reduce_op_count = 7;

[[nodiscard]] constexpr std::size_t size_of(DataType type) {
  switch (type) {
    case DataType::int8:
    case DataType::uint8:
    case DataType::float8e4m3:
    case DataType::float8e5m2:
      return 1;
    case DataType::float16:
    case DataType::bfloat16:
      return 2;
    case DataType::int32:
    case DataType::uint32:
    case DataType::float32:
      return 4;
    case DataType::int64:
    case DataType::uint64:
    case DataType::float64:
      return 8;
  }
  return 0;
}

[[nodiscard]] constexpr bool is_integer(DataType type) {
  return static_cast<int>(type) <= 5;
}

[[nodiscard]] std::string_view name_of(DataType type);  // "float32"
[[nodiscard]] std::string_view name_of(ReduceOp op);    // "sum"

}  // namespace gyre
