// SPDX-License-Identifier: Apache-2.0
#include "support/matrix_inputs.h"

#include <cmath>

#include "support/element.h"

namespace gyre::test {
namespace {

double signed_by(std::uint64_t word, double magnitude) {
  return word >> 63 != 0 ? -magnitude : magnitude;
}

// Whether this rank is among the `most` ranks that an element is about.
bool takes_part(int rank, int ranks, std::uint64_t element, int most) {
  return (static_cast<std::uint64_t>(rank) + element) % static_cast<std::uint64_t>(ranks) <
         static_cast<std::uint64_t>(most);
}

// Magnitudes add up to no more than 2^(fraction bits + 1): 16 ranks with 2^(bits - 4) each, or, where
// that is less than 1, as many ranks as fit with 1 each.
double exact_summand(const MatrixCase& one, int rank, std::uint64_t element, std::uint64_t word) {
  const int bits = fraction_bits(one.type);
  constexpr int bits_for_ranks = 4;
  if (bits <= bits_for_ranks) {
    return takes_part(rank, one.ranks, element, 6) ? signed_by(word, 1) : 0;
  }
  const std::uint64_t most = std::uint64_t{1} << (bits - bits_for_ranks);
  return signed_by(word, static_cast<double>(word % most + 1));
}

// Powers of two, few of them not 1.
double exact_factor(const MatrixCase& one, int rank, std::uint64_t element, std::uint64_t word) {
  const double power = word % 2 == 0 ? 2 : 0.5;
  return signed_by(word, takes_part(rank, one.ranks, element, 3) ? power : 1);
}

double rough_factor(const MatrixCase& one, std::uint64_t word) {
  const int bits = fraction_bits(one.type);
  const std::uint64_t quarter = std::uint64_t{1} << (bits - 2);
  const double above = std::ldexp(static_cast<double>(word % (quarter + 1)), -bits);
  const double below = std::ldexp(static_cast<double>(word % (2 * quarter) + 1), -bits - 1);
  return signed_by(word, (word >> 62 & 1) != 0 ? 1 + above : 1 - below);
}

}  // namespace

std::uint64_t input_bits(const MatrixCase& one, int rank, std::size_t section, std::size_t i) {
  const std::uint64_t seed = (one.number * 64 + static_cast<std::uint64_t>(rank)) * 64 +
                             static_cast<std::uint64_t>(section);
  const bool rounds = one.traits().reduces && is_float(one.type);
  const bool exact = i % 2 == 0;
  if (rounds && one.operation == Operation::sum && exact) {
    return encode_exactly(one.type, exact_summand(one, rank, i / 2, scramble(seed, i)));
  }
  if (rounds && one.operation == Operation::prod) {
    const std::uint64_t word = scramble(seed, i);
    return encode_exactly(one.type,
                          exact ? exact_factor(one, rank, i / 2, word) : rough_factor(one, word));
  }
  return random_element(one.type, seed, i);
}

}  // namespace gyre::test
