// SPDX-License-Identifier: Apache-2.0
#include "collectives/values.h"

#include <algorithm>

#include <fmt/format.h>

namespace gyre::plan {

namespace {

constexpr std::uint32_t too_many_leaves = std::numeric_limits<std::uint32_t>::max();

std::uint32_t saturating_sum(std::uint32_t a, std::uint32_t b) {
  return a > too_many_leaves - b ? too_many_leaves : a + b;
}

// The finalizer of MurmurHash3: spreads every input bit over the word.
std::uint64_t mixed(std::uint64_t word) {
  word = (word ^ (word >> 33)) * 0xff51afd7ed558ccdU;
  word = (word ^ (word >> 33)) * 0xc4ceb9fe1a85ec53U;
  return word ^ (word >> 33);
}

}  // namespace

ValueTable::ValueTable(int ranks, int blocks, int tiles)
    : ranks_(ranks),
      blocks_(blocks),
      leaves_(static_cast<std::int64_t>(tiles) * blocks * ranks),
      interned_(0, Hash{this}, Equal{this}) {}

std::size_t ValueTable::Hash::operator()(ValueId value) const {
  const Node& node = table->node(value);
  std::uint64_t hash = static_cast<std::uint64_t>(node.kind);
  for (const ValueId operand : table->operands(node)) {
    hash = mixed(hash + static_cast<std::uint64_t>(operand) + 1);
  }
  return hash;
}

bool ValueTable::Equal::operator()(ValueId a, ValueId b) const {
  const Node& left = table->node(a);
  const Node& right = table->node(b);
  const auto left_operands = table->operands(left);
  const auto right_operands = table->operands(right);
  return left.kind == right.kind && std::equal(left_operands.begin(), left_operands.end(),
                                               right_operands.begin(), right_operands.end());
}

ValueId ValueTable::contribution(int tile, int rank, int block) const {
  return (tile * blocks_ + block) * ranks_ + rank;
}

ValueTable::Leaf ValueTable::leaf(ValueId value) const {
  const std::int64_t tile_and_block = value / ranks_;
  return {static_cast<int>(tile_and_block / blocks_), static_cast<int>(value % ranks_),
          static_cast<int>(tile_and_block % blocks_)};
}

bool ValueTable::same_block(ValueId a, ValueId b) const {
  return a_leaf_of(a) / ranks_ == a_leaf_of(b) / ranks_;
}

bool ValueTable::is_completed(ValueId value) const {
  return !is_leaf(value) && node(value).kind == Kind::completion;
}

ValueId ValueTable::combination(std::span<const ValueId> operands) {
  return operands.size() == 1 ? operands[0] : intern(Kind::combination, operands);
}

ValueId ValueTable::completion(ValueId value) {
  return intern(Kind::completion, std::span(&value, 1));
}

// Appends the node first, so that the set can compare it with the others by id, and takes it back
// when an equal one is there.
ValueId ValueTable::intern(Kind kind, std::span<const ValueId> operands) {
  const std::size_t first = operands_.size();
  std::uint32_t leaves = 0;
  for (const ValueId operand : operands) {
    operands_.push_back(operand);
    leaves = saturating_sum(leaves, leaf_count(operand));
  }
  nodes_.push_back(
      {kind, static_cast<std::uint32_t>(operands.size()), leaves, first, a_leaf_of(operands[0])});
  const ValueId candidate = leaves_ + static_cast<ValueId>(nodes_.size()) - 1;
  const auto [found, inserted] = interned_.insert(candidate);
  if (!inserted) {
    nodes_.pop_back();
    operands_.resize(first);
  }
  return *found;
}

std::vector<int> ValueTable::contributors(ValueId value) const {
  std::vector<int> ranks;
  std::vector<ValueId> pending = {value};
  while (!pending.empty()) {
    const ValueId next = pending.back();
    pending.pop_back();
    if (is_leaf(next)) {
      ranks.push_back(leaf(next).rank);
    } else {
      const auto more = operands(node(next));
      pending.insert(pending.end(), more.begin(), more.end());
    }
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

bool ValueTable::is_canonical(ValueId value) const {
  if (value == undefined_value || !is_completed(value)) return false;
  const ValueId completed = operands(node(value))[0];
  if (is_leaf(completed)) return ranks_ == 1;
  const auto combined = operands(node(completed));
  for (std::size_t rank = 0; rank < combined.size(); ++rank) {
    if (!is_leaf(combined[rank]) || leaf(combined[rank]).rank != static_cast<int>(rank))
      return false;
  }
  return static_cast<std::int64_t>(combined.size()) == ranks_;
}

std::string ValueTable::why_incomplete(ValueId value) const {
  const Leaf some = leaf(a_leaf_of(value));
  return compare(value, some.tile, {some.block, 0, static_cast<int>(ranks_)});
}

std::string ValueTable::compare(ValueId value, int tile, const Wanted& wanted) const {
  if (value == undefined_value) return "it was never written";
  const Leaf some = leaf(a_leaf_of(value));
  if (some.tile != tile || some.block != wanted.block) {
    return fmt::format("it holds block {} of tile {} where block {} of tile {} belongs", some.block,
                       some.tile, wanted.block, tile);
  }
  if (leaf_count(value) > static_cast<std::uint32_t>(wanted.count)) {
    return fmt::format("it holds {} contributions where {} belong, so some are in it twice",
                       leaf_count(value), wanted.count);
  }
  const std::vector<int> ranks = contributors(value);
  for (std::size_t i = 0; i < static_cast<std::size_t>(wanted.count); ++i) {
    const int expected = wanted.first + static_cast<int>(i);
    if (i < ranks.size() && ranks[i] == expected) continue;
    if (i < ranks.size() && ranks[i] < expected) {
      return fmt::format("the contribution of rank {} is in it {}", ranks[i],
                         i > 0 && ranks[i - 1] == ranks[i] ? "twice" : "and does not belong");
    }
    return fmt::format("the contribution of rank {} is missing", expected);
  }
  return {};
}

}  // namespace gyre::plan
