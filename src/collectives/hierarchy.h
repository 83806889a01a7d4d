// SPDX-License-Identifier: Apache-2.0
// Which ranks are near each other, level by level: those of a socket, of a host, of a cluster.
#pragma once

#include <vector>

#include "collectives/algorithm.h"

namespace gyre::plan {

// For the hierarchical algorithms. Ranks that follow one another are near each other.
struct Hierarchy {
  // The innermost first: {4, 2, 8} are 4 ranks a socket, 2 sockets a host, 8 hosts. What they leave of
  // the ranks is one level more. A size that does not divide what is left counts as the greatest common
  // divisor of both: those ranks are near each other all the same.
  std::vector<int> levels = {};
  // What runs among the members of a level, as far as there is a form of it (hierarchical.h).
  Algorithm inside = Algorithm::one_shot;  // on all levels but the outermost
  Algorithm across = Algorithm::ring;      // on the outermost
};

// Ranks as numbers whose digits are their places on the levels, the innermost being the lowest.
class Levels {
 public:
  Levels(const Hierarchy& hierarchy, int ranks);

  // At least one.
  [[nodiscard]] int count() const { return static_cast<int>(levels_.size()); }
  [[nodiscard]] int outermost() const { return count() - 1; }
  [[nodiscard]] int size(int level) const { return at(level).size; }
  // How far apart the members of a level are: how many ranks the levels inside it have.
  [[nodiscard]] int stride(int level) const { return at(level).stride; }
  [[nodiscard]] int place_of(int rank, int level) const {
    return rank / stride(level) % size(level);
  }
  // The rank that differs from `rank` in its place on one level only.
  [[nodiscard]] int rank_at(int rank, int level, int place) const {
    return rank + (place - place_of(rank, level)) * stride(level);
  }

 private:
  struct Level {
    int stride, size;
  };
  [[nodiscard]] const Level& at(int level) const {
    return levels_[static_cast<std::size_t>(level)];
  }

  std::vector<Level> levels_;
};

}  // namespace gyre::plan
