// SPDX-License-Identifier: Apache-2.0
// What a collective has to do, as moves between the users' buffers: the bounds are made from these.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "perf/common/collective.h"

namespace bounds {

using Collective = perf::CollectiveKind;

// As perf::parse_collective. Of alltoallv no bound is known, but between two ranks, where it is alltoall.
[[nodiscard]] Collective parse_collective(std::string_view name, int ranks);

// One section of one member's result: out[to_at, to_at + count) of `to` becomes the section
// in[from_at, from_at + count) of `from`, or the sum of everyone's.
struct Move {
  static constexpr int everyone = -1;

  int to = 0;
  std::size_t to_at = 0;
  int from = everyone;
  std::size_t from_at = 0;
};

// The root is member 0. A Broadcast is in place: its root has no second buffer.
class Problem {
 public:
  // `bytes` of the larger buffer of a member, rounded down to whole sections.
  Problem(Collective collective, int ranks, std::size_t bytes);

  [[nodiscard]] Collective collective() const { return collective_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] std::size_t count() const { return count_; }  // elements of a section
  [[nodiscard]] bool reduces() const;
  [[nodiscard]] std::size_t in_count(int rank) const;
  [[nodiscard]] std::size_t out_count(int rank) const;
  // Ordered so that members who each do their own begin with different sections.
  [[nodiscard]] std::vector<Move> moves() const;
  // Element `index` of the result of `rank`, by the definition of the collective.
  [[nodiscard]] float expected(int rank, std::size_t index) const;

 private:
  [[nodiscard]] std::vector<Move> sums() const;
  [[nodiscard]] std::vector<Move> copies() const;
  [[nodiscard]] bool is_real(const Move& move) const;

  Collective collective_;
  int ranks_;
  std::size_t count_;
};

}  // namespace bounds
