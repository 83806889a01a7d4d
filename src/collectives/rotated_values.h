// SPDX-License-Identifier: Apache-2.0
// Symbolic values up to rotation: a value is an expression over contributions and the number of ranks
// that it is shifted by. Two values are rotations of each other if their expressions are one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collectives/goal.h"

namespace gyre::plan {

struct RotatedValue {
  static constexpr int undefined = -1;
  int node = undefined;
  int rotation = 0;
  [[nodiscard]] bool is_defined() const { return node != undefined; }
  friend bool operator==(const RotatedValue&, const RotatedValue&) = default;
};

// For as many blocks as ranks. The hash-consing of values.h, where shifting a value is adding a number.
class RotatedValues {
 public:
  RotatedValues(int ranks, int tiles);

  // Block `block` of tile `tile` of the input of `rank`.
  [[nodiscard]] RotatedValue contribution(int tile, int rank, int block) const;
  // The operands must belong to one block of one tile.
  RotatedValue combination(const std::vector<RotatedValue>& operands);
  RotatedValue completion(RotatedValue value);
  [[nodiscard]] RotatedValue rotated(RotatedValue value, int by) const;

  [[nodiscard]] int block_of(RotatedValue value) const;
  [[nodiscard]] int tile_of(RotatedValue value) const;
  [[nodiscard]] bool is_completed(RotatedValue value) const;
  // Empty if the value is exactly what is wanted.
  [[nodiscard]] std::string compare(RotatedValue value, int tile, const Wanted& wanted) const;

 private:
  struct Node {
    bool completion = false;
    int tile = 0, block = 0;  // before rotation
    std::int64_t leaves = 1;
    std::vector<RotatedValue> operands = {};  // none: a contribution of rank 0
  };
  RotatedValue intern(bool completion, const std::vector<RotatedValue>& operands);
  [[nodiscard]] const Node& node(RotatedValue value) const {
    return nodes_[static_cast<std::size_t>(value.node)];
  }
  [[nodiscard]] int wrapped(int number) const { return (number % ranks_ + ranks_) % ranks_; }
  [[nodiscard]] std::vector<int> contributors(RotatedValue value) const;

  const int ranks_;
  std::vector<Node> nodes_;  // the first ones are contributions of rank 0, by (tile, block)
  std::map<std::vector<int>, int> interned_;
};

}  // namespace gyre::plan
