// SPDX-License-Identifier: Apache-2.0
// Reduction and copy kernels for CPU memory, vectorised by Highway and chosen at run time.
//
// Rules (docs/numerics.md): sources are combined in the order given, ((s0 op s1) op s2) ...;
// 16- and 8-bit floats accumulate in float32 and are rounded once at the end; no fused
// multiply-add; NaN propagates through min and max, and -0 < +0; a result that is NaN is the one
// canonical NaN of its type; integers wrap. All targets, and body and tail, give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "memory/types.h"

namespace gyre {

// Which destinations are stored past the caches (non-temporal): results that are larger than the
// cache, and messages, whose lines would else be fetched from the reader's cache before they are
// written. The kernel fences before it returns, so that a later flag is not seen first. Where
// nothing can be gained (few bytes, no such instruction) the stores are ordinary ones.
struct StoreHint {
  std::uint64_t streamed = 0;  // bit d: destination d; the last bit is for all further ones

  static const StoreHint cached, streaming;
  friend bool operator==(const StoreHint&, const StoreHint&) = default;
};
inline constexpr StoreHint StoreHint::cached{0};
inline constexpr StoreHint StoreHint::streaming{~std::uint64_t{0}};

// destinations[d][i] = combine(sources[0][i], ..., sources[k-1][i]) for i in [0, count).
// One source: a copy, bit by bit. Any alignment. A destination may be the same range as a source
// (exactly), not a shifted one; destinations do not overlap each other.
using ReduceKernel = void (*)(std::span<std::byte* const> destinations,
                              std::span<const std::byte* const> sources, std::size_t count,
                              StoreHint hint);

[[nodiscard]] ReduceKernel reduce_kernel(DataType type, ReduceOp op);

// to[i] = round(from[i] * scale). `scale` points at one element: of float32 for the 8- and 16-bit
// floats, else of `type` itself. to == from is allowed.
using ScaleKernel = void (*)(std::byte* to, const std::byte* from, const void* scale,
                             std::size_t count);
[[nodiscard]] ScaleKernel scale_kernel(DataType type);

// values[i] = values[i] / divisor, towards zero; divisor >= 1, even if the type cannot hold it.
// Integer types only (nullptr otherwise).
using DivideKernel = void (*)(std::byte* values, std::size_t divisor, std::size_t count);
[[nodiscard]] DivideKernel divide_kernel(DataType type);

// memcpy with a hint; `to` and `from` do not overlap.
void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes, StoreHint hint);

// Name of the instruction set that was chosen, e.g. "AVX3" (AVX-512) or "scalar".
[[nodiscard]] const char* kernel_target();
// Forces the scalar kernels (GYRE_SIMD=scalar) for this process; call before any other use.
void force_scalar_kernels();

}  // namespace gyre
