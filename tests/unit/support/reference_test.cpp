// SPDX-License-Identifier: Apache-2.0
// The reference that reductions are held against: whatever order a reduction takes, its result is
// within the bound; and a contribution that is missing or doubled is not.
#include "support/reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "support/element.h"
#include "support/matrix_inputs.h"

namespace gyre::test {
namespace {

// Small types, whose roundings are large and whose values can be listed.
constexpr gyreDataType_t small_types[] = {gyreFloat16, gyreBfloat16, gyreFloat8e4m3,
                                          gyreFloat8e5m2};

// All finite values of a type, with their bits: rounding by looking them up.
class Rounding {
 public:
  explicit Rounding(gyreDataType_t type) {
    const std::uint64_t patterns = std::uint64_t{1} << (8 * size_of(type));
    for (std::uint64_t bits = 0; bits < patterns; ++bits) {
      const double value = decode(type, bits);
      if (std::isfinite(value)) bits_.emplace(value, bits);
    }
  }
  // To the nearest, ties to the even one; the largest where it is too large.
  [[nodiscard]] std::uint64_t round(double value) const {
    const auto above = bits_.lower_bound(value);
    if (above == bits_.end()) return std::prev(above)->second;
    if (above == bits_.begin() || above->first == value) return above->second;
    const auto below = std::prev(above);
    const double up = above->first - value;
    const double down = value - below->first;
    if (up != down) return up < down ? above->second : below->second;
    return above->second % 2 == 0 ? above->second : below->second;
  }

 private:
  std::map<double, std::uint64_t> bits_;
};

double combined(Operation operation, double a, double b) {
  return operation == Operation::prod ? a * b : a + b;
}

// A reduction in random order: any two partial results become one, and are rounded, until one is left.
std::uint64_t reduced(Operation operation, gyreDataType_t type, const Rounding& rounding,
                      std::vector<double> values, std::mt19937& random) {
  while (values.size() > 1) {
    std::swap(values[random() % values.size()], values.back());
    const double last = values.back();
    values.pop_back();
    double& into = values[random() % values.size()];
    into = decode(type, rounding.round(combined(operation, into, last)));
  }
  return rounding.round(values.front());
}

MatrixCase case_with(gyreDataType_t type, Operation operation, int ranks) {
  MatrixCase one;
  one.ranks = ranks;
  one.type = type;
  one.operation = operation;
  one.number = 4711;
  return one;
}

std::vector<std::uint64_t> inputs_of(const MatrixCase& one, std::size_t i) {
  std::vector<std::uint64_t> inputs;
  for (int rank = 0; rank < one.ranks; ++rank) inputs.push_back(input_bits(one, rank, 0, i));
  return inputs;
}

std::vector<double> values_of(gyreDataType_t type, const std::vector<std::uint64_t>& inputs) {
  std::vector<double> values;
  for (const std::uint64_t bits : inputs) values.push_back(decode(type, bits));
  return values;
}

TEST(Reference, AcceptsAnyOrder) {
  std::mt19937 random(5);
  for (const gyreDataType_t type : small_types) {
    const Rounding rounding(type);
    for (const Operation operation : {Operation::sum, Operation::prod}) {
      for (const int ranks : {2, 3, 5, 8, 16}) {
        const MatrixCase one = case_with(type, operation, ranks);
        for (std::size_t i = 0; i < 300; ++i) {
          const auto inputs = inputs_of(one, i);
          const std::uint64_t result =
              reduced(operation, type, rounding, values_of(type, inputs), random);
          ASSERT_EQ(fault_in(operation, type, inputs, result), "")
              << name_of(type) << ", " << name_of(operation) << " of " << ranks;
        }
      }
    }
  }
}

// Averages round each contribution to the type first.
TEST(Reference, AcceptsAveragesInAnyOrder) {
  std::mt19937 random(6);
  for (const gyreDataType_t type : small_types) {
    const Rounding rounding(type);
    for (const int ranks : {2, 3, 7, 16}) {
      const MatrixCase one = case_with(type, Operation::avg, ranks);
      for (std::size_t i = 0; i < 300; ++i) {
        const auto inputs = inputs_of(one, i);
        std::vector<double> values = values_of(type, inputs);
        for (double& value : values) value = decode(type, rounding.round(value / ranks));
        const std::uint64_t result = reduced(Operation::sum, type, rounding, values, random);
        ASSERT_EQ(fault_in(Operation::avg, type, inputs, result), "")
            << name_of(type) << " of " << ranks;
      }
    }
  }
}

// In the even elements, where sums and products are exact: a rank that is left out, or comes twice,
// in every element to whose result it matters.
TEST(Reference, SeesAContributionThatIsMissingOrDoubled) {
  std::mt19937 random(7);
  for (const gyreDataType_t type : small_types) {
    const Rounding rounding(type);
    for (const Operation operation : {Operation::sum, Operation::prod}) {
      for (const int ranks : {2, 5, 16}) {
        const MatrixCase one = case_with(type, operation, ranks);
        std::set<int> seen;
        for (std::size_t i = 0; i < 1000; i += 2) {
          const auto inputs = inputs_of(one, i);
          const auto values = values_of(type, inputs);
          const auto left_out =
              static_cast<int>(scramble(9, i) % static_cast<std::uint64_t>(ranks));
          const double own = values[static_cast<std::size_t>(left_out)];
          if (own == (operation == Operation::sum ? 0 : 1)) continue;
          auto fewer = values;
          fewer.erase(fewer.begin() + left_out);
          auto more = values;
          more.push_back(own);
          for (const auto& wrong : {fewer, more}) {
            const std::uint64_t result = reduced(operation, type, rounding, wrong, random);
            ASSERT_NE(fault_in(operation, type, inputs, result), "")
                << name_of(type) << ", " << name_of(operation) << " of " << ranks << ", " << own;
          }
          seen.insert(left_out);
        }
        EXPECT_EQ(seen.size(), static_cast<std::size_t>(ranks));
      }
    }
  }
}

TEST(Reference, SeesTheOtherOfTwoIntegers) {
  const std::vector<std::uint64_t> inputs = {0xf0, 0x11};
  EXPECT_EQ(fault_in(Operation::sum, gyreUint8, inputs, 0x01), "");
  EXPECT_NE(fault_in(Operation::sum, gyreUint8, inputs, 0x02), "");
  EXPECT_EQ(fault_in(Operation::max, gyreInt8, inputs, 0x11), "");
  EXPECT_NE(fault_in(Operation::max, gyreUint8, inputs, 0x11), "");
}

}  // namespace
}  // namespace gyre::test
