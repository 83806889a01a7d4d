// SPDX-License-Identifier: Apache-2.0
// A copy whose stores go around the caches, compiled for each target.
#include "memory/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "memory/simd/stream.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "memory/kernel_table.h"

HWY_BEFORE_NAMESPACE();
namespace gyre {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
// Whole, aligned cache lines are streamed; the ragged ends are ordinary stores.
void stream_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  const hn::ScalableTag<std::uint8_t> tag;
  constexpr std::size_t line = 64;
  constexpr std::size_t step = hn::MaxLanes(tag);
  const auto misalignment = reinterpret_cast<std::uintptr_t>(to) % line;
  const std::size_t head = std::min(misalignment == 0 ? 0 : line - misalignment, bytes);
  std::memcpy(to, from, head);
  std::size_t done = head;
  for (; bytes - done >= line; done += line) {
    for (std::size_t part = done; part < done + line; part += step) {
      const auto* source = reinterpret_cast<const std::uint8_t*>(from + part);
      hn::Stream(hn::LoadU(tag, source), tag, reinterpret_cast<std::uint8_t*>(to + part));
    }
  }
  std::memcpy(to + done, from + done, bytes - done);
}
#endif

void add_stream_kernel([[maybe_unused]] KernelTable& table) {
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  table.stream = stream_bytes;
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace gyre
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gyre {
namespace {
HWY_EXPORT(add_stream_kernel);
}  // namespace

void add_stream_kernel(KernelTable& table) {
  HWY_DYNAMIC_DISPATCH(add_stream_kernel)(table);
}

}  // namespace gyre
#endif
