// SPDX-License-Identifier: Apache-2.0
#include "support/element.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace gyre::test {
namespace {

struct Format {
  std::string_view name;
  std::size_t bytes;
  int exponent_bits = 0;  // 0: an integer
  int fraction = 0;
};

// By number of gyreDataType_t.
constexpr std::array<Format, type_count> formats = {{{"int8", 1},
                                                     {"uint8", 1},
                                                     {"int32", 4},
                                                     {"uint32", 4},
                                                     {"int64", 8},
                                                     {"uint64", 8},
                                                     {"float16", 2, 5, 10},
                                                     {"float32", 4, 8, 23},
                                                     {"float64", 8, 11, 52},
                                                     {"bfloat16", 2, 8, 7},
                                                     {"float8e4m3", 1, 4, 3},
                                                     {"float8e5m2", 1, 5, 2}}};

const Format& format(gyreDataType_t type) {
  return formats.at(static_cast<std::size_t>(type));
}

std::uint64_t bias(const Format& f) {
  return (std::uint64_t{1} << (f.exponent_bits - 1)) - 1;
}

std::uint64_t assemble(const Format& f, bool negative, std::uint64_t exponent,
                       std::uint64_t fraction) {
  return (negative ? std::uint64_t{1} << (f.exponent_bits + f.fraction) : 0) |
         exponent << f.fraction | fraction;
}

}  // namespace

std::size_t size_of(gyreDataType_t type) {
  return format(type).bytes;
}

std::string_view name_of(gyreDataType_t type) {
  return format(type).name;
}

bool is_float(gyreDataType_t type) {
  return format(type).exponent_bits > 0;
}

int fraction_bits(gyreDataType_t float_type) {
  return format(float_type).fraction;
}

double smallest_subnormal(gyreDataType_t float_type) {
  const Format& f = format(float_type);
  return std::ldexp(1.0, 1 - static_cast<int>(bias(f)) - f.fraction);
}

std::uint64_t load_bits(gyreDataType_t type, const std::byte* from) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, size_of(type));
  return bits;
}

void store_bits(gyreDataType_t type, std::uint64_t bits, std::byte* to) {
  std::memcpy(to, &bits, size_of(type));
}

double decode(gyreDataType_t float_type, std::uint64_t bits) {
  if (float_type == gyreFloat32) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  }
  if (float_type == gyreFloat64) {
    return std::bit_cast<double>(bits);
  }
  const Format& f = format(float_type);
  const std::uint64_t most_fraction = (std::uint64_t{1} << f.fraction) - 1;
  const std::uint64_t most_exponent = (std::uint64_t{1} << f.exponent_bits) - 1;
  const std::uint64_t fraction = bits & most_fraction;
  const std::uint64_t exponent = bits >> f.fraction & most_exponent;
  const double sign = (bits >> (f.exponent_bits + f.fraction) & 1) != 0 ? -1.0 : 1.0;
  // E4M3 has no infinities: of its largest exponent only the last number is a NaN.
  const bool special =
      exponent == most_exponent && (float_type != gyreFloat8e4m3 || fraction == most_fraction);
  if (special) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  const std::uint64_t whole = exponent > 0 ? std::uint64_t{1} << f.fraction : 0;
  const int power = static_cast<int>(exponent > 0 ? exponent : 1) - static_cast<int>(bias(f));
  return sign * std::ldexp(static_cast<double>(whole + fraction), power - f.fraction);
}

std::uint64_t encode_exactly(gyreDataType_t float_type, double value) {
  const Format& f = format(float_type);
  if (value == 0) {
    return 0;
  }
  int power = 0;
  const double half_to_one = std::frexp(std::fabs(value), &power);
  const auto fraction = static_cast<std::uint64_t>(std::ldexp(half_to_one * 2 - 1, f.fraction));
  return assemble(f, value < 0, bias(f) + static_cast<std::uint64_t>(power - 1), fraction);
}

std::uint64_t quiet_nan(gyreDataType_t float_type) {
  const Format& f = format(float_type);
  const std::uint64_t most_exponent = (std::uint64_t{1} << f.exponent_bits) - 1;
  const std::uint64_t fraction = float_type == gyreFloat8e4m3
                                     ? (std::uint64_t{1} << f.fraction) - 1
                                     : std::uint64_t{1} << (f.fraction - 1);
  return assemble(f, false, most_exponent, fraction);
}

// The finaliser of SplitMix64 over a counter.
std::uint64_t scramble(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t word = seed * 0x9e3779b97f4a7c15ULL + index * 0xd1b54a32d192ed03ULL;
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9ULL;
  word = (word ^ word >> 27) * 0x94d049bb133111ebULL;
  return word ^ word >> 31;
}

std::uint64_t random_element(gyreDataType_t type, std::uint64_t seed, std::uint64_t index) {
  const Format& f = format(type);
  const std::uint64_t word = scramble(seed, index);
  if (f.exponent_bits == 0) {
    return f.bytes == 8 ? word : word & ((std::uint64_t{1} << (8 * f.bytes)) - 1);
  }
  const std::uint64_t fraction = word & ((std::uint64_t{1} << f.fraction) - 1);
  return assemble(f, (word >> 60 & 1) != 0, bias(f) - (word >> 61) % 3, fraction);
}

std::uint64_t hash(std::span<const std::byte> bytes) {
  std::uint64_t sum = bytes.size();
  while (!bytes.empty()) {
    const std::size_t length = bytes.size() < 8 ? bytes.size() : 8;
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), length);
    sum = scramble(sum, word);
    bytes = bytes.subspan(length);
  }
  return sum;
}

}  // namespace gyre::test
