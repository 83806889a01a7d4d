// SPDX-License-Identifier: Apache-2.0
// Where the elements of tiles and blocks lie. Pure arithmetic: no allocation, O(1) per question.
//
// Every rank of a communicator computes the same geometry from the same five numbers; nothing of it
// is ever sent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace gyre::plan {

// For direct plans, which have no slots: everything is one tile.
inline constexpr std::uint64_t unbounded_slot = std::numeric_limits<std::uint64_t>::max();

struct GeometryInput {
  std::uint64_t count = 0;                    // elements, at most 2^60
  std::uint64_t element_bytes = 1;            // a divisor of 64
  std::uint64_t blocks = 1;                   // Plan::blocks, at least 1
  std::uint64_t slot_bytes = unbounded_slot;  // at least element_bytes
  std::uint64_t channels = 1;                 // at least 1
};

// In elements from the start of the buffer.
struct ElementRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  friend bool operator==(const ElementRange&, const ElementRange&) = default;
};

class Geometry {
 public:
  explicit Geometry(const GeometryInput& input);

  // 0 when there are no elements.
  [[nodiscard]] std::uint64_t tiles() const { return tiles_; }
  // Tiles are dealt in turn: channel c has tiles c, c + channels, c + 2 channels, ...
  [[nodiscard]] std::uint64_t tiles_of(std::uint64_t channel) const {
    return channel < channels_ && channel < tiles_ ? (tiles_ - channel - 1) / channels_ + 1 : 0;
  }
  // The tile that a channel runs in its turn 0, 1, ..., tiles_of(channel) - 1.
  [[nodiscard]] std::uint64_t tile_of(std::uint64_t channel, std::uint64_t turn) const {
    return channel + turn * channels_;
  }

  [[nodiscard]] ElementRange tile(std::uint64_t tile) const {
    const std::uint64_t offset = tile * tile_elements_;
    return {offset, std::min(tile_elements_, count_ - offset)};
  }
  // At most slot_bytes long. All tiles are full, but for the last one, whose elements are spread
  // evenly over the blocks. Each block starts at a multiple of 64 bytes from the start of the
  // buffer (of the slot, where a slot is shorter than that), so no two ranks write to one cache
  // line. Hence a block is empty only if the tile has fewer cache lines than blocks.
  [[nodiscard]] ElementRange block(std::uint64_t tile, std::uint64_t block) const;

 private:
  std::uint64_t count_;
  std::uint64_t blocks_;
  std::uint64_t channels_;
  std::uint64_t unit_;           // elements of a cache line: blocks are multiples of it
  std::uint64_t tile_elements_;  // of a full tile
  std::uint64_t tiles_;
};

}  // namespace gyre::plan
