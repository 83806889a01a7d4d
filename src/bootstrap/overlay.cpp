// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/overlay.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <set>

namespace gyre::bootstrap {
namespace {

// Is `peer` an offset ahead of `rank` on the ring?
bool is_ahead(int rank, int peer, int size) {
  const auto distance = static_cast<unsigned>((peer - rank + size) % size);
  return std::has_single_bit(distance);
}

}  // namespace

std::vector<int> overlay_offsets(int size) {
  std::vector<int> offsets;
  for (std::int64_t offset = 1; offset < size; offset *= 2) {
    offsets.push_back(static_cast<int>(offset));
  }
  return offsets;
}

std::vector<int> overlay_neighbours(int rank, int size) {
  std::set<int> neighbours;
  for (const int offset : overlay_offsets(size)) {
    neighbours.insert(static_cast<int>((std::int64_t{rank} + offset) % size));
    neighbours.insert((rank - offset + size) % size);
  }
  return {neighbours.begin(), neighbours.end()};
}

// The rank behind dials the one ahead. Where each is ahead of the other the lower one dials.
bool overlay_dials(int rank, int peer, int size) {
  const bool ahead = is_ahead(rank, peer, size);
  const bool behind = is_ahead(peer, rank, size);
  return ahead && (!behind || rank < peer);
}

}  // namespace gyre::bootstrap
