// SPDX-License-Identifier: Apache-2.0
#include "support/reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
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

// What the roundings of a type may add up to, whatever the order and however many partial results
// are stored on the way (docs/numerics.md: 16- and 8-bit floats are combined in float32 and rounded
// when they are stored).
//
// Let u be half the distance of numbers next to 1: a rounding to the type changes a value by a factor
// within 1 +- u, or by at most half a subnormal where the result is one. A value that is combined in
// float32 and then stored is rounded by both, so by at most growth = (1 + u) (1 + u32).
//
//   sum    Each contribution passes at most n - 1 additions, so it comes out within a factor
//          growth^(n-1), and the result within (growth^(n-1) - 1) times the sum of magnitudes (N. J.
//          Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, section 4.2). A sum
//          that is subnormal is exact: all operands are multiples of the smallest number.
//   scaled (avg, premulsum) Each product is rounded too, and for avg 1/n was: two roundings more, and
//          half a subnormal for each contribution.
//   prod   n - 1 roundings, as many as there are multiplications. Where a partial product can be
//          subnormal, half a subnormal each time, times all that may follow.
//   exact  A sum of multiples of q whose magnitudes add up to no more than 2^(fraction bits + 1) q is
//          exact, in any order; so is a product of powers of two. Tests make half of their elements
//          like that, for the other bounds let pass much when n is large and the type small.
//
// The reference itself is rounded up to n + 1 times, to float64.
class Bound {
 public:
  Bound(gyreDataType_t type, std::span<const double> values, bool scaled)
      : values_(values), smallest_(smallest_subnormal(type)), bits_(fraction_bits(type)) {
    const auto n = static_cast<double>(values.size());
    const double unit = std::ldexp(1.0, -bits_ - 1);
    const double in_float32 = bits_ < float32_bits ? std::ldexp(1.0, -float32_bits - 1) : 0;
    const double roundings = n - 1 + (scaled ? 2 : 0);
    // growth^roundings - 1, which is too small for float64 to tell from 0 if 1 were added first.
    more_ = std::expm1(roundings * (std::log1p(unit) + std::log1p(in_float32)) +
                       (n + 1) * std::log1p(std::ldexp(1.0, -float64_bits - 1)));
    underflow_ = scaled ? n * smallest_ / 2 * (1 + more_) : 0;
  }

  [[nodiscard]] double of_sum() const {
    double magnitude = 0;
    for (const double value : values_) magnitude += std::fabs(value);
    return is_exact(magnitude) ? 0 : more_ * magnitude + underflow_;
  }
  [[nodiscard]] double of_product(double product) const {
    double least = 1;
    double most = 1;
    bool exact = true;
    for (const double value : values_) {
      exact = exact && std::ldexp(1.0, std::ilogb(value)) == std::fabs(value);
      least *= std::min(std::fabs(value), 1.0);
      most *= std::max(std::fabs(value), 1.0);
    }
    if (exact && least >= smallest_) return 0;
    const double smallest_normal = std::ldexp(smallest_, bits_);
    const bool may_underflow = least < smallest_normal * (1 + more_);
    const auto n = static_cast<double>(values_.size());
    return more_ * std::fabs(product) +
           (may_underflow ? n * smallest_ / 2 * most * (1 + more_) : 0);
  }

 private:
  static constexpr int float32_bits = 23;
  static constexpr int float64_bits = 52;

  [[nodiscard]] bool is_exact(double magnitude) const {
    if (magnitude == 0) return true;
    const double q = std::max(std::ldexp(1.0, std::ilogb(magnitude) - bits_), smallest_);
    return underflow_ == 0 && std::ranges::all_of(values_, [&](double value) {
             return std::remainder(value, q) == 0;
           });
  }

  std::span<const double> values_;
  double smallest_;
  int bits_;
  double more_;
  double underflow_;
};

std::string fault_in_float(Operation operation, gyreDataType_t type, Words inputs, double output) {
  std::vector<double> values;
  for (const std::uint64_t input : inputs) {
    values.push_back(decode(type, input));
  }
  const bool scaled = operation == Operation::premulsum || operation == Operation::avg;
  for (std::size_t rank = 0; scaled && rank < values.size(); ++rank) {
    values[rank] *= operation == Operation::avg
                        ? 1 / static_cast<double>(values.size())
                        : decode(type, scalar_of(type, static_cast<int>(rank)));
  }
  if (operation == Operation::max || operation == Operation::min) {
    const double best = operation == Operation::max ? *std::ranges::max_element(values)
                                                    : *std::ranges::min_element(values);
    return compare(output, best, 0);
  }
  const Bound bound(type, values, scaled);
  const bool product = operation == Operation::prod;
  const double expected =
      product ? std::accumulate(values.begin(), values.end(), 1.0, std::multiplies<>())
              : std::accumulate(values.begin(), values.end(), 0.0);
  return compare(output, expected, product ? bound.of_product(expected) : bound.of_sum());
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
