// SPDX-License-Identifier: Apache-2.0
#include "collectives/geometry.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace gyre::plan {
namespace {

constexpr std::uint64_t line = 64;  // bytes

// The same inputs in every run, unless RC_PARAMS is set to explore or to reproduce.
const int fixed_seed = setenv("RC_PARAMS", "seed=1 max_success=3000", 0);

rc::Gen<std::uint64_t> between(std::uint64_t low, std::uint64_t high) {
  return rc::gen::inRange<std::uint64_t>(low, high + 1);
}

GeometryInput any_input(std::uint64_t largest_count) {
  GeometryInput input;
  input.element_bytes = *rc::gen::element<std::uint64_t>(1, 2, 4, 8);
  input.count = *between(0, largest_count);
  input.blocks = *between(1, 70);
  input.slot_bytes =
      *rc::gen::oneOf(between(input.element_bytes, 4096), rc::gen::just<std::uint64_t>(32768),
                      rc::gen::just(unbounded_slot));
  input.channels = *between(1, 5);
  return input;
}

// Blocks of a tile, in order, must begin where the last one ended.
void check_tile(const Geometry& geometry, const GeometryInput& input, std::uint64_t tile,
                std::uint64_t& position) {
  const bool aligned = input.slot_bytes >= line;
  std::uint64_t longest = 0;
  std::uint64_t shortest = unbounded_slot;
  std::uint64_t empty = 0;
  RC_ASSERT(geometry.tile(tile).offset == position);
  for (std::uint64_t block = 0; block < input.blocks; ++block) {
    const auto [offset, length] = geometry.block(tile, block);
    RC_ASSERT(offset == position);
    RC_ASSERT(length <= input.slot_bytes / input.element_bytes);
    if (aligned && length > 0) RC_ASSERT(offset * input.element_bytes % line == 0U);
    position += length;
    longest = std::max(longest, length);
    shortest = std::min(shortest, length);
    empty += length == 0 ? 1 : 0;
  }
  const std::uint64_t length = geometry.tile(tile).length;
  RC_ASSERT(position == geometry.tile(tile).offset + length);
  // Evenly: within a cache line, and the ragged end shortens one block by less than another.
  const std::uint64_t unit = line / input.element_bytes;
  RC_ASSERT(longest - shortest <= 2 * unit);
  const std::uint64_t lines = (length + unit - 1) / unit;
  if (aligned) RC_ASSERT(empty == (lines < input.blocks ? input.blocks - lines : 0U));
}

RC_GTEST_PROP(Geometry, BlocksPartitionTheElements, ()) {
  const GeometryInput input = any_input(20'000);
  const Geometry geometry(input);
  std::uint64_t position = 0;
  for (std::uint64_t tile = 0; tile < geometry.tiles(); ++tile) {
    check_tile(geometry, input, tile, position);
  }
  RC_ASSERT(position == input.count);
}

RC_GTEST_PROP(Geometry, HugeCountsDoNotOverflow, ()) {
  GeometryInput input = any_input(std::uint64_t{1} << 60);
  input.count = (std::uint64_t{1} << *between(30, 60)) - *between(0, 1000);
  const Geometry geometry(input);
  const std::uint64_t tiles = geometry.tiles();
  RC_ASSERT(tiles > 0U);
  for (const std::uint64_t tile : {std::uint64_t{0}, tiles / 2, tiles - 1}) {
    std::uint64_t position = geometry.tile(tile).offset;
    check_tile(geometry, input, tile, position);
    RC_ASSERT(position == (tile == tiles - 1 ? input.count : geometry.tile(tile + 1).offset));
  }
}

RC_GTEST_PROP(Geometry, EveryTileIsDealtToOneChannel, ()) {
  const GeometryInput input = any_input(5'000);
  const Geometry geometry(input);
  std::vector<int> seen(geometry.tiles(), 0);
  for (std::uint64_t channel = 0; channel < input.channels; ++channel) {
    for (std::uint64_t turn = 0; turn < geometry.tiles_of(channel); ++turn) {
      ++seen.at(geometry.tile_of(channel, turn));
    }
  }
  RC_ASSERT(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
}

TEST(Geometry, TwoToTheFortyElements) {
  const std::uint64_t count = std::uint64_t{1} << 40;
  const Geometry geometry(
      {.count = count, .element_bytes = 8, .blocks = 4, .slot_bytes = 32768, .channels = 2});
  EXPECT_EQ(geometry.tiles(), count / (4 * 4096));
  EXPECT_EQ(geometry.block(geometry.tiles() - 1, 3), (ElementRange{count - 4096, 4096}));
}

TEST(Geometry, NothingIsNoTile) {
  const Geometry geometry({.count = 0, .element_bytes = 4, .blocks = 8, .slot_bytes = 4096});
  EXPECT_EQ(geometry.tiles(), 0U);
  EXPECT_EQ(geometry.tiles_of(0), 0U);
}

TEST(Geometry, UnboundedSlotsMakeOneTile) {
  const Geometry geometry({.count = 1'000'003, .element_bytes = 2, .blocks = 7});
  EXPECT_EQ(geometry.tiles(), 1U);
  EXPECT_EQ(geometry.tile(0), (ElementRange{0, 1'000'003}));
}

TEST(Geometry, TheLastTileIsSpreadOverAllBlocks) {
  // 3 blocks of 1024 bytes make a tile of 768 floats; 100 floats (7 cache lines) are left over.
  const Geometry geometry(
      {.count = 868, .element_bytes = 4, .blocks = 3, .slot_bytes = 1024, .channels = 1});
  ASSERT_EQ(geometry.tiles(), 2U);
  EXPECT_EQ(geometry.block(1, 0), (ElementRange{768, 48}));
  EXPECT_EQ(geometry.block(1, 1), (ElementRange{816, 32}));
  EXPECT_EQ(geometry.block(1, 2), (ElementRange{848, 20}));
}

}  // namespace
}  // namespace gyre::plan
