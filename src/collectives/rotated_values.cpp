// SPDX-License-Identifier: Apache-2.0
#include "collectives/rotated_values.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace gyre::plan {

RotatedValues::RotatedValues(int ranks, int tiles) : ranks_(ranks) {
  for (int tile = 0; tile < tiles; ++tile) {
    for (int block = 0; block < ranks; ++block) nodes_.push_back({.tile = tile, .block = block});
  }
}

RotatedValue RotatedValues::contribution(int tile, int rank, int block) const {
  return {tile * ranks_ + wrapped(block - rank), wrapped(rank)};
}

RotatedValue RotatedValues::rotated(RotatedValue value, int by) const {
  return {value.node, wrapped(value.rotation + by)};
}

int RotatedValues::block_of(RotatedValue value) const {
  return wrapped(node(value).block + value.rotation);
}

int RotatedValues::tile_of(RotatedValue value) const {
  return node(value).tile;
}

bool RotatedValues::is_completed(RotatedValue value) const {
  return node(value).completion;
}

RotatedValue RotatedValues::combination(const std::vector<RotatedValue>& operands) {
  return operands.size() == 1 ? operands.front() : intern(false, operands);
}

RotatedValue RotatedValues::completion(RotatedValue value) {
  return intern(true, {value});
}

// An expression is kept as it looks when its first operand is not shifted.
RotatedValue RotatedValues::intern(bool completion, const std::vector<RotatedValue>& operands) {
  const int rotation = operands.front().rotation;
  Node made{.completion = completion,
            .tile = tile_of(operands.front()),
            .block = wrapped(block_of(operands.front()) - rotation),
            .leaves = 0};
  std::vector<int> key = {completion ? 1 : 0};
  for (const RotatedValue operand : operands) {
    made.operands.push_back(rotated(operand, -rotation));
    // Saturating: repeated doubling of a value would overflow.
    made.leaves = std::min<std::int64_t>(made.leaves + node(operand).leaves,
                                         std::numeric_limits<std::int32_t>::max());
    key.push_back(operand.node);
    key.push_back(made.operands.back().rotation);
  }
  const auto [found, inserted] = interned_.emplace(key, static_cast<int>(nodes_.size()));
  if (inserted) nodes_.push_back(std::move(made));
  return {found->second, rotation};
}

std::vector<int> RotatedValues::contributors(RotatedValue value) const {
  std::vector<int> ranks;
  std::vector<RotatedValue> pending = {value};
  while (!pending.empty()) {
    const RotatedValue next = pending.back();
    pending.pop_back();
    if (node(next).operands.empty()) ranks.push_back(next.rotation);
    for (const RotatedValue operand : node(next).operands) {
      pending.push_back(rotated(operand, next.rotation));
    }
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::string RotatedValues::compare(RotatedValue value, int tile, const Wanted& wanted) const {
  if (!value.is_defined()) return "it was never written";
  if (tile_of(value) != tile || block_of(value) != wanted.block) {
    return fmt::format("it holds block {} of tile {} where block {} of tile {} belongs",
                       block_of(value), tile_of(value), wanted.block, tile);
  }
  if (node(value).leaves != wanted.count) {
    return fmt::format("it holds {} contributions where {} belong", node(value).leaves,
                       wanted.count);
  }
  const std::vector<int> ranks = contributors(value);
  for (int i = 0; i < wanted.count; ++i) {
    if (ranks[static_cast<std::size_t>(i)] == wanted.first + i) continue;
    return fmt::format("the contribution of rank {} is missing", wanted.first + i);
  }
  return {};
}

}  // namespace gyre::plan
