// SPDX-License-Identifier: Apache-2.0
// What each rank hands in, and what it must get: the check of every collective.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "perf/common/library.h"

namespace perf {

// A piece of a rank's result.
struct Piece {
  static constexpr int everyone = -1;

  std::size_t at = 0;  // in the receive buffer, in elements
  std::size_t count = 0;
  int source = everyone;  // whose contribution it is; everyone: all contributions, combined
  std::size_t first = 0;  // where it begins in the contribution
};

// All that `rank` must get: the pieces cover its receive buffer.
[[nodiscard]] std::vector<Piece> expected_pieces(CollectiveKind kind, const Call& call, int rank,
                                                 int ranks);

struct CheckedRun {
  CollectiveKind kind = CollectiveKind::all_reduce;
  int rank = 0;
  int ranks = 1;
  std::uint32_t iteration = 0;  // each has inputs of its own
};

// Poisons the receive buffer, then writes this rank's contribution: in place the latter may be a
// part of the former.
void prepare_buffers(const CheckedRun& run, const Call& call);
// Elements of this rank's result that are not what they must be.
[[nodiscard]] std::size_t count_wrong(const CheckedRun& run, const Call& call);

}  // namespace perf
