// SPDX-License-Identifier: Apache-2.0
#include "memory/types.h"

#include <array>

namespace gyre {

std::string_view name_of(DataType type) {
  static constexpr std::array<std::string_view, data_type_count> names = {
      "int8",    "uint8",   "int32",   "uint32",   "int64",      "uint64",
      "float16", "float32", "float64", "bfloat16", "float8e4m3", "float8e5m2"};
  const auto index = static_cast<std::size_t>(type);
  return index < names.size() ? names[index] : "unknown type";
}

std::string_view name_of(ReduceOp op) {
  static constexpr std::array<std::string_view, reduce_op_count> names = {
      "sum", "prod", "max", "min", "band", "bor", "bxor"};
  const auto index = static_cast<std::size_t>(op);
  return index < names.size() ? names[index] : "unknown operation";
}

}  // namespace gyre
