// SPDX-License-Identifier: Apache-2.0
// The scalar definitions against an independent one: values by ldexp in double, rounding by search
// for the nearest of all values.
#include "memory/small_float.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace gyre {
namespace {

struct Case {
  std::string name;
  SmallFloatFormat format;
  int exponent_bits;
  bool has_infinity;
  double largest;
  double smallest;
};

void PrintTo(const Case& value, std::ostream* out) {
  *out << value.name;
}

std::vector<Case> all_cases() {
  return {{"float16", float16_format, 5, true, 65504, 0x1p-24},
          {"bfloat16", bfloat16_format, 8, true, 0x1.fep127, 0x1p-133},
          {"float8e4m3", float8e4m3_format, 4, false, 448, 0x1p-9},
          {"float8e5m2", float8e5m2_format, 5, true, 57344, 0x1p-16}};
}

class SmallFloatTest : public testing::TestWithParam<Case> {
 protected:
  // Value of magnitude bits as the standards define it.
  [[nodiscard]] double value_of(std::uint32_t code) const {
    const auto& [name, format, exponent_bits, has_infinity, largest, smallest] = GetParam();
    const int field = static_cast<int>(code >> format.mantissa_bits);
    const auto mantissa = static_cast<double>(code & ((1U << format.mantissa_bits) - 1));
    const double fraction = std::ldexp(mantissa, -format.mantissa_bits);
    if (has_infinity && field == (1 << exponent_bits) - 1) {
      return mantissa == 0 ? INFINITY : NAN;
    }
    if (!has_infinity && code == (1U << sign_bit()) - 1) {
      return NAN;
    }
    return field == 0 ? std::ldexp(fraction, 1 - format.bias)
                      : std::ldexp(1 + fraction, field - format.bias);
  }

  [[nodiscard]] int sign_bit() const {
    return GetParam().exponent_bits + GetParam().format.mantissa_bits;
  }

  // values_[code], of the finite positive codes, and one step beyond as if the range went on.
  void SetUp() override {
    std::uint32_t code = 0;
    for (; std::isfinite(value_of(code)); ++code) {
      values_.push_back(value_of(code));
    }
    finite_ = code;
    values_.push_back(2 * values_[code - 1] - values_[code - 2]);
  }

  [[nodiscard]] std::uint32_t nearest(double magnitude) const {
    const auto above = std::lower_bound(values_.begin(), values_.end(), magnitude);
    if (above == values_.end()) {
      return finite_;
    }
    const auto high = static_cast<std::uint32_t>(above - values_.begin());
    if (*above == magnitude || high == 0) {
      return high;
    }
    const double to_high = *above - magnitude;
    const double to_low = magnitude - values_[high - 1];
    const bool up = to_high < to_low || (to_high == to_low && high % 2 == 0);
    return up ? high : high - 1;
  }

  [[nodiscard]] std::uint32_t expected(float value) const {
    if (std::isnan(value)) {
      return GetParam().format.nan_code;
    }
    const std::uint32_t sign = std::signbit(value) ? 1U << sign_bit() : 0;
    const bool saturates = GetParam().name.starts_with("float8");
    if (std::isinf(value)) {
      return sign | (GetParam().has_infinity ? finite_ : finite_ - 1);
    }
    const std::uint32_t code = nearest(std::abs(static_cast<double>(value)));
    return sign | (code == finite_ && saturates ? finite_ - 1 : code);
  }

  void check(float value) const {
    ASSERT_EQ(small_float::narrow(value, GetParam().format), expected(value))
        << value << " bits " << std::hex << std::bit_cast<std::uint32_t>(value);
  }

  std::vector<double> values_;
  std::uint32_t finite_ = 0;
};

TEST_P(SmallFloatTest, LimitsAreThoseOfTheStandard) {
  EXPECT_EQ(value_of(GetParam().format.largest_code), GetParam().largest);
  EXPECT_EQ(values_[1], GetParam().smallest);
  EXPECT_TRUE(std::isnan(value_of(GetParam().format.nan_code)));
}

TEST_P(SmallFloatTest, EveryCodeWidensToItsValueAndComesBack) {
  const std::uint32_t sign = 1U << sign_bit();
  for (std::uint32_t code = 0; code < 2 * sign; ++code) {
    const double value = value_of(code & (sign - 1));
    const float wide = small_float::widen(code, GetParam().format);
    if (std::isnan(value)) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(wide), 0x7fc00000U) << code;
      ASSERT_EQ(small_float::narrow(wide, GetParam().format), GetParam().format.nan_code);
      continue;
    }
    ASSERT_EQ(static_cast<double>(wide), (code & sign) != 0 ? -value : value) << code;
    ASSERT_EQ(std::signbit(wide), (code & sign) != 0) << code;
    ASSERT_EQ(small_float::narrow(wide, GetParam().format), code);
  }
}

TEST_P(SmallFloatTest, TiesAndTheirNeighboursRoundToNearestEven) {
  for (std::uint32_t code = 0; code < finite_; ++code) {
    const auto tie = static_cast<float>((values_[code] + values_[code + 1]) / 2);
    for (const float sign : {1.0F, -1.0F}) {
      check(sign * tie);
      check(sign * std::nextafter(tie, 0.0F));
      check(sign * std::nextafter(tie, INFINITY));
    }
  }
}

TEST_P(SmallFloatTest, RandomBitsRoundToNearest) {
  std::mt19937 random(7);
  for (int i = 0; i < 500'000; ++i) {
    check(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  }
  // Most random floats are far outside of the range; these are inside.
  std::uniform_real_distribution<double> exponent(std::log2(GetParam().smallest) - 3,
                                                  std::log2(GetParam().largest) + 2);
  for (int i = 0; i < 500'000; ++i) {
    check(static_cast<float>(std::exp2(exponent(random))));
  }
}

TEST_P(SmallFloatTest, ExtremesSaturateOrOverflow) {
  for (const float value : {INFINITY, -INFINITY, std::numeric_limits<float>::max(), 0.0F, -0.0F,
                            std::numeric_limits<float>::denorm_min(), NAN, -NAN}) {
    check(value);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, SmallFloatTest, testing::ValuesIn(all_cases()),
                         [](const auto& parameter) { return parameter.param.name; });

static_assert(float32_to_float8e4m3(449.0F) == 0x7e);
static_assert(float32_to_float8e4m3(std::numeric_limits<float>::infinity()) == 0x7e);
static_assert(float32_to_float8e5m2(1e9F) == 0x7b);
static_assert(float32_to_float8e5m2(std::numeric_limits<float>::infinity()) == 0x7c);
static_assert(float32_to_float16(65520.0F) == 0x7c00);
static_assert(float32_to_bfloat16(1.0F) == 0x3f80);
static_assert(float16_to_float32(0x3c01) == 1.0F + 0x1p-10F);

}  // namespace
}  // namespace gyre
