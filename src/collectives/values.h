// SPDX-License-Identifier: Apache-2.0
// Symbolic values: which contributions a block holds and in what order they were combined.
//
// Values are hash-consed: equal expressions have equal ids, so "bitwise equal on all ranks,
// whatever the data" is an integer comparison. (a op b) op c in one step and the same in two steps
// are different expressions: 8- and 16-bit floats are rounded once a step.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "collectives/goal.h"

namespace gyre::plan {

using ValueId = std::int64_t;
inline constexpr ValueId undefined_value = -1;

class ValueTable {
 public:
  ValueTable(int ranks, int blocks, int tiles);
  ValueTable(const ValueTable&) = delete;  // the set below refers to this object
  ValueTable& operator=(const ValueTable&) = delete;

  // Block `block` of tile `tile` of the input of `rank`.
  [[nodiscard]] ValueId contribution(int tile, int rank, int block) const;
  // The operands must belong to one block of one tile (same_block).
  ValueId combination(std::span<const ValueId> operands);
  ValueId completion(ValueId value);

  [[nodiscard]] bool same_block(ValueId a, ValueId b) const;
  [[nodiscard]] bool is_completed(ValueId value) const;
  // Empty if the value holds each rank's contribution to its block exactly once.
  [[nodiscard]] std::string why_incomplete(ValueId value) const;
  // Empty if the value is exactly what is wanted, else what is missing or too much. Costs as much
  // as there are contributions, at most wanted.count + 1.
  [[nodiscard]] std::string compare(ValueId value, int tile, const Wanted& wanted) const;
  // A completed value that is one combination of all contributions, in the order of ranks.
  [[nodiscard]] bool is_canonical(ValueId value) const;

 private:
  enum class Kind : std::uint8_t { combination, completion };
  struct Node {
    Kind kind = Kind::combination;
    std::uint32_t operands = 0;
    std::uint32_t leaves = 0;  // saturating
    std::size_t first = 0;     // of its operands in operands_
    ValueId a_leaf = 0;        // any of its contributions: tells tile and block
  };
  struct Hash {
    const ValueTable* table;
    std::size_t operator()(ValueId value) const;
  };
  struct Equal {
    const ValueTable* table;
    bool operator()(ValueId a, ValueId b) const;
  };
  struct Leaf {
    int tile, rank, block;
  };

  [[nodiscard]] bool is_leaf(ValueId value) const { return value < leaves_; }
  [[nodiscard]] const Node& node(ValueId value) const {
    return nodes_[static_cast<std::size_t>(value - leaves_)];
  }
  [[nodiscard]] std::span<const ValueId> operands(const Node& of) const {
    return {operands_.data() + of.first, of.operands};
  }
  [[nodiscard]] std::uint32_t leaf_count(ValueId value) const {
    return is_leaf(value) ? 1 : node(value).leaves;
  }
  [[nodiscard]] ValueId a_leaf_of(ValueId value) const {
    return is_leaf(value) ? value : node(value).a_leaf;
  }
  [[nodiscard]] Leaf leaf(ValueId value) const;
  [[nodiscard]] std::vector<int> contributors(ValueId value) const;
  ValueId intern(Kind kind, std::span<const ValueId> operands);

  const std::int64_t ranks_;
  const std::int64_t blocks_;
  const std::int64_t leaves_;  // ids below are contributions, by (tile, block, rank)
  std::vector<Node> nodes_;
  std::vector<ValueId> operands_;
  std::unordered_set<ValueId, Hash, Equal> interned_;
};

}  // namespace gyre::plan
