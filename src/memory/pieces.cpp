// SPDX-License-Identifier: Apache-2.0
#include "memory/pieces.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "memory/active_kernels.h"

namespace gyre {
namespace {

// A piece is written and read again while it is in the first-level cache (32 KiB or more), which is
// shared with as many source bytes. Streaming stores then come in runs that fill whole lines.
constexpr std::size_t piece_bytes = 4096;

void copy_to_all(std::span<std::byte* const> destinations, const std::byte* source,
                 std::size_t bytes, StoreHint hint) {
  for (std::byte* destination : destinations) {
    if (destination != source) {
      copy_bytes(destination, source, bytes, hint);
    }
  }
}

void reduce_cached(RangeKernel kernel, std::size_t element_bytes,
                   std::span<std::byte* const> destinations,
                   std::span<const std::byte* const> sources, std::size_t count) {
  const std::size_t piece = piece_bytes / element_bytes;
  for (std::size_t begin = 0; begin < count; begin += piece) {
    const std::size_t length = std::min(piece, count - begin);
    const std::size_t offset = begin * element_bytes;
    std::byte* const first = destinations[0] + offset;
    kernel(first, sources.data(), sources.size(), begin, length);
    for (std::byte* destination : destinations.subspan(1)) {
      std::memcpy(destination + offset, first, length * element_bytes);
    }
  }
}

void reduce_streaming(RangeKernel kernel, std::size_t element_bytes,
                      std::span<std::byte* const> destinations,
                      std::span<const std::byte* const> sources, std::size_t count) {
  const StreamKernel stream = active_kernels().stream;
  alignas(64) std::array<std::byte, piece_bytes> results;
  const std::size_t piece = piece_bytes / element_bytes;
  for (std::size_t begin = 0; begin < count; begin += piece) {
    const std::size_t length = std::min(piece, count - begin);
    kernel(results.data(), sources.data(), sources.size(), begin, length);
    for (std::byte* destination : destinations) {
      stream(destination + begin * element_bytes, results.data(), length * element_bytes);
    }
  }
  hwy::FlushStream();
}

}  // namespace

void reduce_by_pieces(RangeKernel kernel, std::size_t element_bytes,
                      std::span<std::byte* const> destinations,
                      std::span<const std::byte* const> sources, std::size_t count,
                      StoreHint hint) {
  const std::size_t bytes = count * element_bytes;
  if (sources.size() == 1) {
    copy_to_all(destinations, sources[0], bytes, hint);
  } else if (hint == StoreHint::streaming && bytes >= smallest_stream_bytes) {
    reduce_streaming(kernel, element_bytes, destinations, sources, count);
  } else {
    reduce_cached(kernel, element_bytes, destinations, sources, count);
  }
}

}  // namespace gyre
