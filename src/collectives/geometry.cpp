// SPDX-License-Identifier: Apache-2.0
#include "collectives/geometry.h"

#include <algorithm>

namespace gyre::plan {

namespace {

constexpr std::uint64_t cache_line_bytes = 64;

constexpr std::uint64_t divide_up(std::uint64_t value, std::uint64_t by) {
  return value / by + (value % by != 0 ? 1 : 0);
}

}  // namespace

Geometry::Geometry(const GeometryInput& input)
    : count_(input.count), blocks_(input.blocks), channels_(input.channels) {
  const std::uint64_t slot_elements =
      std::max<std::uint64_t>(input.slot_bytes / input.element_bytes, 1);
  unit_ = std::min(cache_line_bytes / input.element_bytes, slot_elements);
  // A block never needs more than its share of everything. That bound keeps the product below
  // from overflowing when slots are unbounded.
  const std::uint64_t share_units =
      std::max<std::uint64_t>(divide_up(divide_up(count_, unit_), blocks_), 1);
  const std::uint64_t block_units = std::min(slot_elements / unit_, share_units);
  tile_elements_ = block_units * unit_ * blocks_;
  tiles_ = divide_up(count_, tile_elements_);
}

ElementRange Geometry::block(std::uint64_t tile_index, std::uint64_t block) const {
  const ElementRange whole = tile(tile_index);
  if (blocks_ == 1) {  // small messages: no time for divisions
    return whole;
  }
  const std::uint64_t units = divide_up(whole.length, unit_);
  const std::uint64_t each = units / blocks_;
  const std::uint64_t longer = units % blocks_;  // the first ones have one unit more
  const std::uint64_t first = block * each + std::min(block, longer);
  const std::uint64_t end = first + each + (block < longer ? 1 : 0);
  const std::uint64_t from = std::min(first * unit_, whole.length);
  const std::uint64_t to = std::min(end * unit_, whole.length);
  return {whole.offset + from, to - from};
}

}  // namespace gyre::plan
