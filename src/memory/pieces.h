// SPDX-License-Identifier: Apache-2.0
// The parts of a reduction that do not depend on type and operation: copies, several destinations
// and streaming stores, all built on a kernel that writes one destination through the cache.
#pragma once

#include <cstddef>
#include <span>

#include "memory/kernels.h"

namespace gyre {

// Below this, going around the caches and the fence after it cost more than they save; such results
// are stored through the cache whatever the hint.
inline constexpr std::size_t smallest_stream_bytes = 1024;

// to[i] = combine(sources[0][begin + i], ..., sources[source_count - 1][begin + i]), i in
// [0, count), for two or more sources. `begin` and `count` are in elements.
using RangeKernel = void (*)(std::byte* to, const std::byte* const* sources,
                             std::size_t source_count, std::size_t begin, std::size_t count);

void reduce_by_pieces(RangeKernel kernel, std::size_t element_bytes,
                      std::span<std::byte* const> destinations,
                      std::span<const std::byte* const> sources, std::size_t count, StoreHint hint);

}  // namespace gyre
