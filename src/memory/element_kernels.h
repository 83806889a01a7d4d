// SPDX-License-Identifier: Apache-2.0
// Kernels as plain loops over elements: the reference, the fallback of processors without a vector
// target, and the path for a handful of elements, where setting up vectors costs more than it
// saves.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "memory/element.h"
#include "memory/kernels.h"

namespace gyre {

// Two sources and one destination: what small messages between two ranks come to, so it is worth a
// loop without loops in it.
template <DataType type, ReduceOp op>
void reduce_two(std::byte* to, const std::byte* a, const std::byte* b, std::size_t count) {
  using Format = Element<type>;
  using Stored = typename Format::Stored;
  for (std::size_t i = 0; i < count; ++i) {
    const auto x = Format::widen(load_element<Stored>(a, i));
    const auto y = Format::widen(load_element<Stored>(b, i));
    store_element(to, i, Format::narrow(finish(combine<op>(x, y))));
  }
}

// All sources of an element are read before its first destination is written, so that a destination
// may be a source.
template <DataType type, ReduceOp op>
void reduce_elements(std::span<std::byte* const> destinations,
                     std::span<const std::byte* const> sources, std::size_t count) {
  using Format = Element<type>;
  using Stored = typename Format::Stored;
  for (std::size_t i = 0; i < count; ++i) {
    Stored result = load_element<Stored>(sources[0], i);
    if (sources.size() > 1) {  // one source is a copy, whatever its bits
      typename Format::Wide wide = Format::widen(result);
      for (const std::byte* source : sources.subspan(1)) {
        wide = combine<op>(wide, Format::widen(load_element<Stored>(source, i)));
      }
      result = Format::narrow(finish(wide));
    }
    for (std::byte* destination : destinations) {
      store_element(destination, i, result);
    }
  }
}

template <DataType type>
void scale_elements(std::byte* to, const std::byte* from, const void* scale, std::size_t begin,
                    std::size_t end) {
  using Format = Element<type>;
  using Stored = typename Format::Stored;
  typename Format::Wide factor;
  std::memcpy(&factor, scale, sizeof(factor));
  for (std::size_t i = begin; i < end; ++i) {
    const auto wide = Format::widen(load_element<Stored>(from, i));
    store_element(to, i, Format::narrow(finish(combine<ReduceOp::prod>(wide, factor))));
  }
}

}  // namespace gyre
