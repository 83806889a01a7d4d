// SPDX-License-Identifier: Apache-2.0
// How the destinations of a kernel can be written around the caches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "memory/kernels.h"

namespace gyre {

// Below this, a line that is written around the caches costs more than it saves.
inline constexpr std::size_t smallest_stream_bytes = 1024;

[[nodiscard]] inline bool is_streamed(StoreHint hint, std::size_t destination) {
  return (hint.streamed >> std::min<std::size_t>(destination, 63) & 1U) != 0;
}

// Non-temporal stores need whole vectors at aligned addresses. One pass over the sources can do
// that if the streamed destinations come first and begin at the same place of a cache line.
struct OnePass {
  bool possible = false;
  std::size_t head = 0;      // bytes before the first whole line
  std::size_t streamed = 0;  // destinations
};

[[nodiscard]] inline OnePass plan_one_pass(std::span<std::byte* const> destinations,
                                           std::size_t element_bytes, StoreHint hint) {
  constexpr std::uintptr_t line = 64;
  const auto place = [](const std::byte* at) {
    return reinterpret_cast<std::uintptr_t>(at) % line;
  };
  const std::size_t head = (line - place(destinations[0])) % line;
  OnePass plan{head % element_bytes == 0, head, 0};
  for (std::size_t d = 0; d < destinations.size(); ++d) {
    if (!is_streamed(hint, d)) {
      continue;
    }
    plan.possible =
        plan.possible && plan.streamed == d && place(destinations[d]) == place(destinations[0]);
    ++plan.streamed;
  }
  return plan;
}

}  // namespace gyre
