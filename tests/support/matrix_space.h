// SPDX-License-Identifier: Apache-2.0
// The parameters of the test matrix, their values, and which of them may meet: what a user can ask
// of the library, as numbers. tests/unit/support/matrix_space_test.cpp holds the algorithms against
// those of the library.
#pragma once

#include <gyre/gyre.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/pairwise.h"
#include "support/reference.h"

namespace gyre::test {

// The first four make the environment of a job; it has many cases.
enum class Parameter : std::uint8_t {
  ranks,
  algorithm,
  protocol,
  cut,
  collective,
  type,
  operation,
  count,
  in_place,
  root,
  misaligned,
  memory,
};
inline constexpr int parameter_count = 12;
inline constexpr int environment_parameters = 4;

enum class MatrixCollective : std::uint8_t {
  all_reduce,
  reduce,
  reduce_scatter,
  all_gather,
  broadcast,
  gather,
  scatter,
  all_to_all,
  all_to_all_v,
  send_recv,
};

struct CollectiveTraits {
  std::string_view name;
  bool reduces;
  bool rooted;
  bool alike;  // the whole output is the same on all ranks
};
[[nodiscard]] std::span<const CollectiveTraits> collective_traits();

// An algorithm of a collective, by the names of GYRE_ALGO and GYRE_PROTO; "": has no name.
struct Way {
  MatrixCollective collective;
  std::string_view algorithm;
  std::string_view protocol;
  bool in_order = true;  // reduces in the order of ranks, or does not reduce
};
[[nodiscard]] std::span<const Way> ways();

// How data is cut: GYRE_CHUNK, GYRE_CHANNELS, GYRE_SLOTS; 0: chosen by the library.
struct Cut {
  int chunk, channels, slots;
};

enum class MatrixMemory : std::uint8_t { heap, shared, mixed };  // mixed: heap on odd ranks

struct MatrixCase {
  int ranks = 1;
  std::string_view algorithm, protocol;  // "": chosen by the library
  Cut cut{};
  MatrixCollective collective = MatrixCollective::all_reduce;
  gyreDataType_t type = gyreInt8;
  Operation operation = Operation::sum;
  std::size_t count = 0;
  bool in_place = false;
  int root = 0;
  std::size_t input_offset = 0, output_offset = 0;  // bytes beside the alignment of a cache line
  MatrixMemory memory = MatrixMemory::heap;
  std::uint64_t number = 0;  // encode() of its row

  [[nodiscard]] const CollectiveTraits& traits() const {
    return collective_traits()[static_cast<std::size_t>(collective)];
  }
  [[nodiscard]] std::string text() const;
  // NAME=VALUE; equal for cases with equal environment parameters.
  [[nodiscard]] std::vector<std::string> environment() const;
};

[[nodiscard]] const Space& matrix_space();
// The row must be full.
[[nodiscard]] MatrixCase case_of(const Row& row);
// A row as its number in the full product, and back.
[[nodiscard]] std::uint64_t encode(const Row& row);
[[nodiscard]] Row decode_row(std::uint64_t number);
// The largest buffer of any case, in bytes.
[[nodiscard]] std::size_t largest_buffer(int ranks);

}  // namespace gyre::test
