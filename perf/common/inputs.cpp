// SPDX-License-Identifier: Apache-2.0
#include "perf/common/inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "perf/common/small_float.h"

namespace perf {
namespace {

// Work goes in blocks so that the intermediate values stay in the first-level cache.
constexpr std::size_t block_elements = 1024;
using IntegerBlock = std::array<std::uint64_t, block_elements>;
using FloatBlock = std::array<double, block_elements>;

// The finalizer of splitmix64: every input bit reaches every output bit.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

std::uint64_t seed_of(const InputKey& key, int rank) {
  return mix((static_cast<std::uint64_t>(rank) << 32) + key.iteration + 1);
}

std::uint64_t hash_of(std::uint64_t seed, std::size_t index) {
  return mix(seed + index * 0x9e3779b97f4a7c15ULL);
}

// ---- integers: wrapping arithmetic in 64 bits, whose low bits are right for every width
// ----------

int bits_of(ElementType type) {
  return static_cast<int>(size_of(type)) * 8;
}

bool is_signed(ElementType type) {
  return type == ElementType::int8 || type == ElementType::int32 || type == ElementType::int64;
}

// Keeps the low bits of `value` and extends them as the type would read them back.
std::uint64_t wrap(ElementType type, std::uint64_t value) {
  const int unused = 64 - bits_of(type);
  const std::uint64_t top = value << unused;
  return is_signed(type) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(top) >> unused)
                         : top >> unused;
}

// The whole range of the type; for averages a part of it whose sum over all ranks cannot wrap.
void integer_inputs(const InputKey& key, int rank, std::size_t first, std::size_t count,
                    IntegerBlock& values) {
  const std::uint64_t seed = seed_of(key, rank);
  for (std::size_t i = 0; i < count; ++i) values[i] = wrap(key.type, hash_of(seed, first + i));
  if (key.op != Operation::avg) return;
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = is_signed(key.type)
                    ? static_cast<std::uint64_t>(static_cast<std::int64_t>(values[i]) / key.ranks)
                    : values[i] / static_cast<std::uint64_t>(key.ranks);
  }
}

bool less(ElementType type, std::uint64_t a, std::uint64_t b) {
  return is_signed(type) ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
}

std::uint64_t combine(const InputKey& key, std::uint64_t a, std::uint64_t b) {
  switch (key.op) {
    case Operation::prod:
      return wrap(key.type, a * b);
    case Operation::max:
      return less(key.type, a, b) ? b : a;
    case Operation::min:
      return less(key.type, a, b) ? a : b;
    case Operation::band:
      return a & b;
    case Operation::bor:
      return a | b;
    case Operation::bxor:
      return a ^ b;
    default:
      return wrap(key.type, a + b);
  }
}

void integer_results(const InputKey& key, std::size_t first, std::size_t count,
                     IntegerBlock& results) {
  IntegerBlock values;
  for (int rank = 0; rank < key.ranks; ++rank) {
    integer_inputs(key, rank, first, count, values);
    if (key.op == Operation::mulsum) {
      const auto factor = static_cast<std::uint64_t>(mulsum_factor(rank));
      for (std::size_t i = 0; i < count; ++i) values[i] = wrap(key.type, values[i] * factor);
    }
    for (std::size_t i = 0; i < count; ++i) {
      results[i] = rank == 0 ? values[i] : combine(key, results[i], values[i]);
    }
  }
  if (key.op != Operation::avg) return;
  for (std::size_t i = 0; i < count; ++i) {
    results[i] = is_signed(key.type)
                     ? static_cast<std::uint64_t>(static_cast<std::int64_t>(results[i]) / key.ranks)
                     : results[i] / static_cast<std::uint64_t>(key.ranks);
  }
}

// ---- floats: doubles that are exact in the type
// --------------------------------------------------

// Largest integer below which every integer is a value of the type.
std::int64_t exact_limit(ElementType type) {
  return std::int64_t{1} << significand_digits(type);
}

bool adds(Operation op) {
  return op == Operation::sum || op == Operation::avg || op == Operation::mulsum;
}

// Sums: |value| <= limit / ranks, so that no partial sum leaves the exact integers. When there are
// more ranks than that allows, most ranks contribute zero, different ones for each element.
struct SumRange {
  std::int64_t magnitude;
  std::size_t stride;  // every stride-th rank contributes
};

SumRange sum_range(const InputKey& key) {
  if (!adds(key.op)) return {exact_limit(key.type), 1};
  const std::int64_t share = key.op == Operation::mulsum ? 2L * key.ranks : key.ranks;
  const std::int64_t limit = exact_limit(key.type);
  if (share <= limit) return {limit / share, 1};
  return {1, static_cast<std::size_t>((share + limit - 1) / limit)};
}

// Averages scale each contribution by 1/ranks before it is added: multiples of `ranks` stay exact
// where the type can hold them.
bool average_is_exact(const InputKey& key) {
  return significand_digits(key.type) <= 11 && key.ranks <= exact_limit(key.type);
}

void product_inputs(std::uint64_t seed, int rank, std::size_t first, std::size_t count,
                    FloatBlock& values) {
  // Exponents of the first eight ranks only: 2^8 and 2^-8 are in the range of every type.
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t hash = hash_of(seed, first + i);
    const double sign = (hash & 1) != 0 ? -1.0 : 1.0;
    const double magnitude = rank >= 8 || (hash & 6) == 0 ? 1.0 : (hash & 6) == 2 ? 0.5 : 2.0;
    values[i] = sign * magnitude;
  }
}

void float_inputs(const InputKey& key, int rank, std::size_t first, std::size_t count,
                  FloatBlock& values) {
  const std::uint64_t seed = seed_of(key, rank);
  if (key.op == Operation::prod) return product_inputs(seed, rank, first, count, values);
  const SumRange range = sum_range(key);
  const auto choices = static_cast<std::uint64_t>(2 * range.magnitude + 1);
  const bool whole = key.op == Operation::avg && key.ranks <= exact_limit(key.type);
  const std::int64_t scale = whole ? key.ranks : 1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t hash = hash_of(seed, first + i);
    // Multiply-shift instead of a division: the high 53 bits, scaled to [0, choices).
    const auto drawn = static_cast<std::int64_t>(static_cast<double>(hash >> 11) * 0x1p-53 *
                                                 static_cast<double>(choices));
    const bool silent = (first + i + static_cast<std::size_t>(rank)) % range.stride != 0;
    values[i] = silent ? 0.0 : static_cast<double>((drawn - range.magnitude) * scale);
  }
}

struct FloatExpectation {
  FloatBlock value;
  FloatBlock tolerance;
};

void accumulate(const InputKey& key, int rank, std::size_t count, const FloatBlock& values,
                FloatExpectation& expected) {
  const double factor = key.op == Operation::mulsum ? mulsum_factor(rank)
                        : key.op == Operation::avg  ? 1.0 / key.ranks
                                                    : 1.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double term = values[i] * factor;
    double& sum = expected.value[i];
    if (rank == 0) {
      sum = term;
    } else if (key.op == Operation::prod) {
      sum *= term;
    } else if (key.op == Operation::max) {
      sum = std::max(sum, term);
    } else if (key.op == Operation::min) {
      sum = std::min(sum, term);
    } else {
      sum += term;
    }
    expected.tolerance[i] += std::fabs(term);
  }
}

void float_results(const InputKey& key, std::size_t first, std::size_t count,
                   FloatExpectation& expected) {
  expected.tolerance.fill(0.0);
  FloatBlock values;
  for (int rank = 0; rank < key.ranks; ++rank) {
    float_inputs(key, rank, first, count, values);
    accumulate(key, rank, count, values, expected);
  }
  const bool exact = key.op != Operation::avg || average_is_exact(key);
  // One rounding for each scaled term, one for each addition, one at the end.
  const double unit = std::ldexp(1.0, -significand_digits(key.type));
  const double errors = exact ? 0.0 : unit * (key.ranks + 2);
  for (std::size_t i = 0; i < count; ++i) expected.tolerance[i] *= errors;
  if (!exact || key.op != Operation::avg) return;
  for (std::size_t i = 0; i < count; ++i) expected.value[i] = std::round(expected.value[i]);
}

// ---- stores and loads
// ------------------------------------------------------------------------------

void store_integers(ElementType type, const IntegerBlock& values, std::size_t count,
                    std::byte* to) {
  const std::size_t bytes = size_of(type);
  for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i * bytes, &values[i], bytes);
}

std::uint64_t load_integer(ElementType type, const std::byte* from) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, size_of(type));
  return wrap(type, value);
}

void store_floats(ElementType type, const FloatBlock& values, std::size_t count, std::byte* to) {
  const std::size_t bytes = size_of(type);
  for (std::size_t i = 0; i < count; ++i) {
    const auto narrow = static_cast<float>(values[i]);
    if (type == ElementType::float64) {
      std::memcpy(to + i * bytes, &values[i], bytes);
    } else if (type == ElementType::float32) {
      std::memcpy(to + i * bytes, &narrow, bytes);
    } else {
      const std::uint16_t bits = encode_small_float(type, narrow);
      std::memcpy(to + i * bytes, &bits, bytes);
    }
  }
}

double load_float(ElementType type, const std::byte* from) {
  if (type == ElementType::float64) {
    double value = 0;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  if (type == ElementType::float32) {
    float value = 0;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, from, size_of(type));
  return decode_small_float(type, bits);
}

std::size_t wrong_integers(const InputKey& key, std::size_t first, std::size_t count,
                           const std::byte* result) {
  IntegerBlock expected;
  integer_results(key, first, count, expected);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t found = load_integer(key.type, result + i * size_of(key.type));
    wrong += found != expected[i] ? 1 : 0;
  }
  return wrong;
}

std::size_t wrong_floats(const InputKey& key, std::size_t first, std::size_t count,
                         const std::byte* result) {
  FloatExpectation expected;
  float_results(key, first, count, expected);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double found = load_float(key.type, result + i * size_of(key.type));
    // Written so that a NaN counts as wrong.
    const bool right = std::fabs(found - expected.value[i]) <= expected.tolerance[i];
    wrong += right ? 0 : 1;
  }
  return wrong;
}

// Elements [first, first + count) of what `rank` hands in, count <= block_elements.
void store_input(const InputKey& key, int rank, std::size_t first, std::size_t count,
                 std::byte* to) {
  if (is_integer(key.type)) {
    IntegerBlock integers;
    integer_inputs(key, rank, first, count, integers);
    store_integers(key.type, integers, count, to);
  } else {
    FloatBlock floats;
    float_inputs(key, rank, first, count, floats);
    store_floats(key.type, floats, count, to);
  }
}

std::size_t different_elements(const std::byte* a, const std::byte* b, std::size_t count,
                               std::size_t bytes) {
  if (std::memcmp(a, b, count * bytes) == 0) return 0;
  std::size_t different = 0;
  for (std::size_t i = 0; i < count; ++i) {
    different += std::memcmp(a + i * bytes, b + i * bytes, bytes) != 0 ? 1 : 0;
  }
  return different;
}

}  // namespace

void fill_input(const InputKey& key, int rank, std::byte* to, std::size_t count) {
  const std::size_t bytes = size_of(key.type);
  for (std::size_t at = 0; at < count; at += block_elements) {
    store_input(key, rank, at, std::min(block_elements, count - at), to + at * bytes);
  }
}

std::size_t count_wrong_results(const InputKey& key, std::size_t first, const std::byte* result,
                                std::size_t count) {
  const std::size_t bytes = size_of(key.type);
  std::size_t wrong = 0;
  for (std::size_t at = 0; at < count; at += block_elements) {
    const std::size_t part = std::min(block_elements, count - at);
    const std::byte* from = result + at * bytes;
    wrong += is_integer(key.type) ? wrong_integers(key, first + at, part, from)
                                  : wrong_floats(key, first + at, part, from);
  }
  return wrong;
}

std::size_t count_wrong_copies(const InputKey& key, int source, std::size_t first,
                               const std::byte* result, std::size_t count) {
  const std::size_t bytes = size_of(key.type);
  std::array<std::byte, block_elements * sizeof(double)> expected;
  std::size_t wrong = 0;
  for (std::size_t at = 0; at < count; at += block_elements) {
    const std::size_t part = std::min(block_elements, count - at);
    store_input(key, source, first + at, part, expected.data());
    wrong += different_elements(expected.data(), result + at * bytes, part, bytes);
  }
  return wrong;
}

}  // namespace perf
