// SPDX-License-Identifier: Apache-2.0
// What the kernels compute, element by element, against plain arithmetic written here.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "memory/small_float.h"
#include "unit/memory/kernel_fixtures.h"

namespace gyre {
namespace {

std::vector<KernelTable> every_table() {
  std::vector<KernelTable> tables = vector_kernels();
  tables.push_back(scalar_kernels());
  return tables;
}

template <typename T>
std::vector<T> reduce(KernelTable& table, DataType type, ReduceOp op,
                      const std::vector<std::vector<T>>& sources) {
  std::vector<T> result(sources[0].size());
  std::vector<const std::byte*> pointers;
  for (const std::vector<T>& source : sources) {
    pointers.push_back(reinterpret_cast<const std::byte*>(source.data()));
  }
  const std::array<std::byte*, 1> destinations = {reinterpret_cast<std::byte*>(result.data())};
  table.reduce(type, op)(destinations, pointers, result.size(), StoreHint::cached);
  return result;
}

// As bits, so that NaNs compare and zeros differ.
template <typename T>
auto bits_of(T value) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<std::uint32_t>(value);
  } else {
    return std::bit_cast<std::uint64_t>(value);
  }
}

// Twenty elements: vector body and tail.
template <typename T>
void expect_all(const std::vector<T>& results, T expected, const std::string& what) {
  for (const T result : results) {
    EXPECT_EQ(bits_of(result), bits_of(expected)) << what << ": " << result << ", not " << expected;
  }
}

template <typename T>
void check_float_rules(KernelTable& table, DataType type) {
  using Limits = std::numeric_limits<T>;
  const T nan = Limits::quiet_NaN();
  const T infinity = Limits::infinity();
  const auto run = [&](ReduceOp op, std::vector<T> values) {
    std::vector<std::vector<T>> sources;
    for (const T value : values) {
      sources.emplace_back(37, value);
    }
    return reduce<T>(table, type, op, sources);
  };
  const std::string name = std::string(table.target) + " " + std::string(name_of(type));

  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max}) {
    for (std::size_t position = 0; position < 3; ++position) {
      for (const T bad : {nan, -nan, Limits::signaling_NaN()}) {
        std::vector<T> values = {1, -2, infinity};
        values[position] = bad;
        expect_all(run(op, values), nan, name + " NaN in " + std::string(name_of(op)));
      }
    }
    expect_all(run(op, {-nan, Limits::signaling_NaN()}), nan, name + " two NaNs");
  }
  expect_all(run(ReduceOp::sum, {infinity, -infinity}), nan, name + " inf - inf");
  expect_all(run(ReduceOp::prod, {0, -infinity}), nan, name + " 0 * inf");
  expect_all(run(ReduceOp::min, {T{0}, -T{0}}), -T{0}, name + " min of zeros");
  expect_all(run(ReduceOp::min, {-T{0}, T{0}}), -T{0}, name + " min of zeros");
  expect_all(run(ReduceOp::max, {T{0}, -T{0}}), T{0}, name + " max of zeros");
  expect_all(run(ReduceOp::max, {-T{0}, T{0}, -T{0}}), T{0}, name + " max of zeros");
  expect_all(run(ReduceOp::max, {-3, -infinity}), T{-3}, name + " max");
  expect_all(run(ReduceOp::sum, {T{1}, Limits::epsilon() / 2, Limits::epsilon() / 2}), T{1},
             name + " sum in order");
  expect_all(run(ReduceOp::sum, {Limits::epsilon() / 2, Limits::epsilon() / 2, T{1}}),
             1 + Limits::epsilon(), name + " sum in order");
  expect_all(run(ReduceOp::sum, {Limits::denorm_min(), Limits::denorm_min()}),
             2 * Limits::denorm_min(), name + " subnormals");
}

TEST(NumericsTest, FloatRules) {
  for (KernelTable& table : every_table()) {
    check_float_rules<float>(table, DataType::float32);
    check_float_rules<double>(table, DataType::float64);
  }
}

template <typename T>
void check_integer_rules(KernelTable& table, DataType type) {
  using Limits = std::numeric_limits<T>;
  const T ones = static_cast<T>(~T{0});
  const auto run = [&](ReduceOp op, T a, T b) {
    const auto results = reduce<T>(table, type, op, {std::vector<T>(77, a), std::vector<T>(77, b)});
    for (const T result : results) {
      EXPECT_EQ(result, results[0]);
    }
    return results[0];
  };
  EXPECT_EQ(run(ReduceOp::sum, Limits::max(), 1), Limits::min());
  EXPECT_EQ(run(ReduceOp::prod, Limits::max(), 2), static_cast<T>(-2));
  EXPECT_EQ(run(ReduceOp::prod, Limits::min(), ones), std::is_signed_v<T> ? Limits::min() : T{0});
  EXPECT_EQ(run(ReduceOp::prod, 7, 11), T{77});
  EXPECT_EQ(run(ReduceOp::max, 1, ones), std::is_signed_v<T> ? T{1} : ones);
  EXPECT_EQ(run(ReduceOp::min, 1, ones), std::is_signed_v<T> ? ones : T{1});
  EXPECT_EQ(run(ReduceOp::band, 12, 10), T{8});
  EXPECT_EQ(run(ReduceOp::bor, 12, 10), T{14});
  EXPECT_EQ(run(ReduceOp::bxor, 12, 10), T{6});
}

TEST(NumericsTest, IntegersWrap) {
  for (KernelTable& table : every_table()) {
    check_integer_rules<std::int8_t>(table, DataType::int8);
    check_integer_rules<std::uint8_t>(table, DataType::uint8);
    check_integer_rules<std::int32_t>(table, DataType::int32);
    check_integer_rules<std::uint32_t>(table, DataType::uint32);
    check_integer_rules<std::int64_t>(table, DataType::int64);
    check_integer_rules<std::uint64_t>(table, DataType::uint64);
  }
}

// The small floats in plain float arithmetic.
struct SmallType {
  DataType type;
  SmallFloatFormat format;
};
constexpr std::array<SmallType, 2> float8_types = {
    {{DataType::float8e4m3, float8e4m3_format}, {DataType::float8e5m2, float8e5m2_format}}};
constexpr std::array<SmallType, 2> float16_types = {
    {{DataType::float16, float16_format}, {DataType::bfloat16, bfloat16_format}}};

float plain(ReduceOp op, float a, float b) {
  switch (op) {
    case ReduceOp::sum:
      return a + b;
    case ReduceOp::prod:
      return a * b;
    case ReduceOp::min:
      return std::isnan(a) || std::isnan(b) ? NAN : std::min({a, b}, [](float x, float y) {
        return x < y || (x == y && std::signbit(x) && !std::signbit(y));
      });
    default:
      return std::isnan(a) || std::isnan(b) ? NAN : std::max({a, b}, [](float x, float y) {
        return x < y || (x == y && std::signbit(x) && !std::signbit(y));
      });
  }
}

TEST(NumericsTest, AllPairsOfFloat8) {
  std::vector<std::uint8_t> a;
  std::vector<std::uint8_t> b;
  for (int pair = 0; pair < 65536; ++pair) {
    a.push_back(static_cast<std::uint8_t>(pair >> 8));
    b.push_back(static_cast<std::uint8_t>(pair));
  }
  for (KernelTable& table : every_table()) {
    for (const auto& [type, format] : float8_types) {
      for (const ReduceOp op : operations_of(type)) {
        const auto results = reduce<std::uint8_t>(table, type, op, {a, b});
        for (std::size_t i = 0; i < results.size(); ++i) {
          const float exact =
              plain(op, small_float::widen(a[i], format), small_float::widen(b[i], format));
          ASSERT_EQ(results[i], small_float::narrow(exact, format))
              << table.target << " " << name_of(type) << " " << name_of(op) << " " << int{a[i]}
              << " " << int{b[i]};
        }
      }
    }
  }
}

// Every code as it is (plus -0), and times factors that make ties, subnormals and overflows.
TEST(NumericsTest, AllFloat16Codes) {
  std::vector<std::uint16_t> codes;
  for (int code = 0; code < 65536; ++code) {
    codes.push_back(static_cast<std::uint16_t>(code));
  }
  for (KernelTable& table : every_table()) {
    for (const auto& [type, format] : float16_types) {
      for (const float factor : {1.0F, -1.0F, 0.5F, 1.5F, 0x1p-9F, 3.0F, 1.0F / 3, 0x1p11F}) {
        std::vector<std::uint16_t> results(codes.size());
        table.scale(type)(reinterpret_cast<std::byte*>(results.data()),
                          reinterpret_cast<const std::byte*>(codes.data()), &factor, codes.size());
        for (std::size_t i = 0; i < codes.size(); ++i) {
          const float exact = small_float::widen(codes[i], format) * factor;
          ASSERT_EQ(results[i], small_float::narrow(exact, format))
              << table.target << " " << name_of(type) << " " << codes[i] << " * " << factor;
        }
      }
      const std::vector<std::uint16_t> zeros(codes.size(), 0x8000);
      const auto sums = reduce<std::uint16_t>(table, type, ReduceOp::sum, {codes, zeros});
      for (std::size_t i = 0; i < codes.size(); ++i) {
        ASSERT_EQ(sums[i], small_float::narrow(small_float::widen(codes[i], format), format));
      }
    }
  }
}

// Floats between all the small ones are reached through the float32 factor: 1 times it is the
// conversion of any float32.
TEST(NumericsTest, RoundingOfAnyFloat32) {
  std::mt19937 random(3);
  for (KernelTable& table : every_table()) {
    for (const auto& [type, format] :
         {float8_types[0], float8_types[1], float16_types[0], float16_types[1]}) {
      const std::uint32_t one = small_float::narrow(1.0F, format);
      const std::vector<std::byte> ones = [&] {
        std::vector<std::byte> bytes(size_of(type) * 64);
        for (std::size_t i = 0; i < 64; ++i) {
          std::memcpy(bytes.data() + i * size_of(type), &one, size_of(type));
        }
        return bytes;
      }();
      for (int i = 0; i < 50'000; ++i) {
        std::uint32_t bits = static_cast<std::uint32_t>(random());
        if (i % 2 == 0) {  // near the small values: a code and a tie or nearly one
          const float near =
              small_float::widen(bits & (size_of(type) == 1 ? 0xffU : 0xffffU), format);
          const int dropped = 23 - format.mantissa_bits;
          bits = std::bit_cast<std::uint32_t>(near) + (1U << (dropped - 1)) - 1 + (bits >> 16) % 3;
        }
        const auto factor = std::bit_cast<float>(bits);
        std::vector<std::byte> results(ones.size());
        table.scale(type)(results.data(), ones.data(), &factor, 64);
        std::uint32_t code = 0;
        std::memcpy(&code, results.data(), size_of(type));
        ASSERT_EQ(code, small_float::narrow(factor, format))
            << table.target << " " << name_of(type) << " " << factor;
      }
    }
  }
}

template <typename T>
void check_division(DataType type) {
  using Limits = std::numeric_limits<T>;
  std::mt19937_64 random(9);
  std::vector<T> values = {Limits::min(), Limits::max(), 0, 1, static_cast<T>(-1), 100};
  for (int i = 0; i < 1000; ++i) {
    values.push_back(static_cast<T>(random()));
  }
  for (const std::size_t divisor :
       {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7}, std::size_t{8},
        std::size_t{127}, std::size_t{128}, std::size_t{255}, std::size_t{256}, std::size_t{641},
        std::size_t{1} << 31, (std::size_t{1} << 31) + 1, (std::size_t{1} << 32) - 1,
        (std::size_t{1} << 32) + 1, std::size_t{1} << 63,
        std::numeric_limits<std::size_t>::max()}) {
    std::vector<T> results = values;
    divide_kernel(type)(reinterpret_cast<std::byte*>(results.data()), divisor, results.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const __int128 expected = static_cast<__int128>(values[i]) / static_cast<__int128>(divisor);
      ASSERT_EQ(results[i], static_cast<T>(expected)) << +values[i] << " / " << divisor;
    }
  }
}

TEST(NumericsTest, DivisionIsTowardsZero) {
  check_division<std::int8_t>(DataType::int8);
  check_division<std::uint8_t>(DataType::uint8);
  check_division<std::int32_t>(DataType::int32);
  check_division<std::uint32_t>(DataType::uint32);
  check_division<std::int64_t>(DataType::int64);
  check_division<std::uint64_t>(DataType::uint64);
}

}  // namespace
}  // namespace gyre
