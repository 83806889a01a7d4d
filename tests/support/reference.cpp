// SPDX-License-Identifier: Apache-2.0
#include "support/reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "support/element.h"

namespace gyre::test {
namespace {

using Words = std::span<const std::uint64_t>;

// Arithmetic in 64 bits wraps to the same low bits as in the type itself.
std::uint64_t combine_bits(Operation operation, std::uint64_t a, std::uint64_t b) {
  switch (operation) {
    case Operation::prod:
      return a * b;
    case Operation::band:
      return a & b;
    case Operation::bor:
      return a | b;
    case Operation::bxor:
    case Operation::user_xor:
      return a ^ b;
    default:
      return a + b;
  }
}

std::uint64_t leftmost(std::uint64_t low_rank, std::uint64_t high_rank) {
  std::uint64_t result = 0;
  for (int shift = 0; shift < 64; shift += 8) {
    const std::uint64_t mask = std::uint64_t{0xff} << shift;
    result |= (low_rank & mask) != 0 ? low_rank & mask : high_rank & mask;
  }
  return result;
}

template <typename T>
std::uint64_t integer_result(Operation operation, Words inputs) {
  const auto as_bits = [](T value) {
    return static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<T>>(value));
  };
  const auto less = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<T>(a) < static_cast<T>(b);
  };
  if (operation == Operation::max) {
    return *std::ranges::max_element(inputs, less);
  }
  if (operation == Operation::min) {
    return *std::ranges::min_element(inputs, less);
  }
  std::uint64_t result = inputs[0];
  for (const std::uint64_t input : inputs.subspan(1)) {
    result = combine_bits(operation, result, input);
  }
  const T value = static_cast<T>(result);
  return as_bits(operation == Operation::avg ? static_cast<T>(value / static_cast<T>(inputs.size()))
                                             : value);
}

std::uint64_t integer_result(Operation operation, gyreDataType_t type, Words inputs) {
  switch (type) {
    case gyreInt8:
      return integer_result<std::int8_t>(operation, inputs);
    case gyreUint8:
      return integer_result<std::uint8_t>(operation, inputs);
    case gyreInt32:
      return integer_result<std::int32_t>(operation, inputs);
    case gyreUint32:
      return integer_result<std::uint32_t>(operation, inputs);
    case gyreInt64:
      return integer_result<std::int64_t>(operation, inputs);
    default:
      return integer_result<std::uint64_t>(operation, inputs);
  }
}

std::string compare(double output, double expected, double tolerance) {
  if (std::fabs(output - expected) <= tolerance) {
    return "";
  }
  return std::to_string(output) + " instead of " + std::to_string(expected) + " +- " +
         std::to_string(tolerance);
}

// Each of n operations rounds once, relative to what has been summed so far.
std::string fault_in_float(Operation operation, gyreDataType_t type, Words inputs, double output) {
  std::vector<double> values;
  for (const std::uint64_t input : inputs) {
    values.push_back(decode(type, input));
  }
  const auto n = static_cast<double>(values.size());
  for (std::size_t rank = 0; rank < values.size(); ++rank) {
    if (operation == Operation::premulsum) {
      values[rank] *= decode(type, scalar_of(type, static_cast<int>(rank)));
    } else if (operation == Operation::avg) {
      values[rank] /= n;
    }
  }
  if (operation == Operation::max || operation == Operation::min) {
    const double best = operation == Operation::max ? *std::ranges::max_element(values)
                                                    : *std::ranges::min_element(values);
    return compare(output, best, 0);
  }
  const double epsilon = std::ldexp(1.0, -fraction_bits(type));
  double expected = values[0];
  double magnitude = std::fabs(values[0]);
  for (const double value : std::span(values).subspan(1)) {
    expected = operation == Operation::prod ? expected * value : expected + value;
    magnitude += std::fabs(value);
  }
  if (operation == Operation::prod) {
    // A subnormal rounding early on is multiplied by what follows, each less than 2.
    return compare(output, expected,
                   n * epsilon * std::fabs(expected) +
                       std::ldexp(smallest_subnormal(type), static_cast<int>(n)));
  }
  return compare(output, expected, (n + 1) * (epsilon * magnitude + smallest_subnormal(type)));
}

std::string fault_in_bits(std::uint64_t output, std::uint64_t expected) {
  return output == expected
             ? ""
             : std::to_string(output) + " instead of " + std::to_string(expected) + " (bits)";
}

}  // namespace

std::string_view name_of(Operation operation) {
  static constexpr std::array<std::string_view, operation_count> names = {
      "sum", "prod", "max",       "min",      "avg",          "band",
      "bor", "bxor", "premulsum", "user xor", "user leftmost"};
  return names.at(static_cast<std::size_t>(operation));
}

bool defined_for(Operation operation, gyreDataType_t type) {
  const bool bitwise =
      operation == Operation::band || operation == Operation::bor || operation == Operation::bxor;
  return !bitwise || !is_float(type);
}

std::uint64_t scalar_of(gyreDataType_t type, int rank) {
  static constexpr std::array<double, 4> factors = {0.5, 1.5, -1.0, 2.0};
  return is_float(type) ? encode_exactly(type, factors.at(static_cast<std::size_t>(rank) % 4))
                        : static_cast<std::uint64_t>(rank) + 2;
}

std::string fault_in(Operation operation, gyreDataType_t type, Words inputs, std::uint64_t output) {
  if (operation == Operation::user_leftmost) {
    return fault_in_bits(output,
                         std::accumulate(inputs.begin() + 1, inputs.end(), inputs[0], leftmost));
  }
  if (operation == Operation::user_xor) {
    return fault_in_bits(
        output, std::accumulate(inputs.begin() + 1, inputs.end(), inputs[0], std::bit_xor<>()));
  }
  if (is_float(type)) {
    return fault_in_float(operation, type, inputs, decode(type, output));
  }
  if (operation != Operation::premulsum) {
    return fault_in_bits(output, integer_result(operation, type, inputs));
  }
  std::vector<std::uint64_t> scaled;
  for (std::size_t rank = 0; rank < inputs.size(); ++rank) {
    scaled.push_back(inputs[rank] * scalar_of(type, static_cast<int>(rank)));
  }
  return fault_in_bits(output, integer_result(Operation::sum, type, scaled));
}

}  // namespace gyre::test
