// SPDX-License-Identifier: Apache-2.0
// Element types and operations as the command line names them.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace perf {

// The numbers are those of gyreDataType_t and gyreRedOp_t (mulsum has none: it is made at run
// time).
enum class ElementType {
  int8,
  uint8,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  float32,
  float64,
  bfloat16,
  float8e4m3,
  float8e5m2
};
enum class Operation { sum, prod, max, min, avg, band, bor, bxor, mulsum };

[[nodiscard]] std::size_t size_of(ElementType type);
[[nodiscard]] constexpr bool is_integer(ElementType type) {
  return type <= ElementType::uint64;
}
[[nodiscard]] constexpr bool is_bitwise(Operation op) {
  return op == Operation::band || op == Operation::bor || op == Operation::bxor;
}
// Bits of precision of a float, the implicit one included: integers up to 2^digits are exact.
[[nodiscard]] int significand_digits(ElementType type);

[[nodiscard]] std::string_view name_of(ElementType type);
[[nodiscard]] std::string_view name_of(Operation op);

// A comma list of names, or "all". Throws Failure that names the wrong word and the right ones.
[[nodiscard]] std::vector<ElementType> parse_types(std::string_view list);
[[nodiscard]] std::vector<Operation> parse_operations(std::string_view list);

}  // namespace perf
