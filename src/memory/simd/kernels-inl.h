// SPDX-License-Identifier: Apache-2.0
// The loops of the vector kernels, and how they get into the table. Included once for each target,
// hence no `#pragma once` but Highway's toggling guard.
#if defined(GYRE_MEMORY_SIMD_KERNELS) == defined(HWY_TARGET_TOGGLE)
#ifdef GYRE_MEMORY_SIMD_KERNELS
#undef GYRE_MEMORY_SIMD_KERNELS
#else
#define GYRE_MEMORY_SIMD_KERNELS
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "memory/element_kernels.h"
#include "memory/kernel_table.h"
#include "memory/streams.h"

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

// No vectors: what the scalar kernels do is as good, and they are in the table already.
namespace gyre::HWY_NAMESPACE {
template <DataType... types>
void add_types(KernelTable&) {}
}  // namespace gyre::HWY_NAMESPACE

#else

#include "memory/simd/formats-inl.h"
#include "memory/simd/operations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gyre {
namespace HWY_NAMESPACE {

// Counts up to this are done element by element: less than a function call and part of a vector
// cost, which is more when the part takes a detour through the stack, and less when each element
// would have to be widened and narrowed by integer arithmetic.
template <DataType type>
inline constexpr std::size_t few_elements = masked_bytes && sizeof(typename Element<type>::Wide) >
                                                                size_of(type)
                                                ? 1
                                                : 4;

// Vectors in flight: enough to hide the latency of a load and an operation.
inline constexpr std::size_t unroll = 4;

template <DataType type>
inline constexpr std::size_t raw_bytes = hn::MaxLanes(typename Format<type>::RawTag());

template <DataType type>
HWY_INLINE typename Format<type>::Wide load_wide(const std::byte* from) {
  const typename Format<type>::RawTag tag;
  return Format<type>::decode(hn::LoadU(tag, reinterpret_cast<const std::uint8_t*>(from)));
}

template <DataType type>
HWY_INLINE void store_wide(typename Format<type>::Wide wide, std::byte* to) {
  const typename Format<type>::RawTag tag;
  hn::StoreU(Format<type>::encode(wide), tag, reinterpret_cast<std::uint8_t*>(to));
}

// Where results go: all destinations, of which the first `streamed` are aligned to whole cache lines
// at the offset where the loop begins, and are written around the caches.
struct Targets {
  std::byte* const* to;
  std::size_t count;
  std::size_t streamed;
  std::size_t origin = 0;  // offset in the sources that corresponds to the destinations' beginning
};

template <class RawTag>
HWY_INLINE void store_to_all(hn::Vec<RawTag> raw, RawTag tag, const Targets& targets,
                             std::size_t offset) {
  std::size_t d = 0;
  // Highway streams whole blocks of 16 bytes, also for shorter vectors.
  for (; hn::MaxLanes(tag) >= 16 && d < targets.streamed; ++d) {
    hn::Stream(raw, tag,
               reinterpret_cast<std::uint8_t*>(targets.to[d] + (offset - targets.origin)));
  }
  for (; d < targets.count; ++d) {
    hn::StoreU(raw, tag,
               reinterpret_cast<std::uint8_t*>(targets.to[d] + (offset - targets.origin)));
  }
}

// One vector for each index of the sequence, kept in registers from the first source to the last.
// All are loaded before the first is stored, but that order matters only within an element.
template <DataType type, class Op, std::size_t... index>
HWY_INLINE void reduce_block(const Targets& targets, const std::byte* const* sources,
                             std::size_t source_count, std::size_t offset,
                             std::index_sequence<index...>) {
  constexpr std::size_t step = raw_bytes<type>;
  const std::byte* source = sources[0] + offset;
  typename Format<type>::Wide wide[] = {
      prepare_wide<Op>(load_wide<type>(source + index * step))...};
  for (std::size_t s = 1; s < source_count; ++s) {
    source = sources[s] + offset;
    ((wide[index] =
          combine_wide<Op>(wide[index], prepare_wide<Op>(load_wide<type>(source + index * step)))),
     ...);
  }
  const typename Format<type>::RawTag tag;
  (store_to_all(Format<type>::encode(finish_wide<Op>(wide[index])), tag, targets,
                offset + index * step),
   ...);
}

// Fewer elements than a vector holds: the missing ones are zeros that are computed with and not
// stored.
template <DataType type, class Op>
HWY_INLINE void reduce_rest(const Targets& targets, const std::byte* const* sources,
                            std::size_t source_count, std::size_t offset, std::size_t bytes) {
  const typename Format<type>::RawTag tag;
  auto wide = prepare_wide<Op>(Format<type>::decode(load_part(tag, sources[0] + offset, bytes)));
  for (std::size_t s = 1; s < source_count; ++s) {
    const auto next = Format<type>::decode(load_part(tag, sources[s] + offset, bytes));
    wide = combine_wide<Op>(wide, prepare_wide<Op>(next));
  }
  const auto raw = Format<type>::encode(finish_wide<Op>(wide));
  for (std::size_t d = 0; d < targets.count; ++d) {
    store_part(raw, tag, targets.to[d] + (offset - targets.origin), bytes);
  }
}

// Bytes [begin, end) of all ranges.
template <DataType type, class Op>
HWY_INLINE void reduce_bytes(const Targets& targets, const std::byte* const* sources,
                             std::size_t source_count, std::size_t begin, std::size_t end) {
  constexpr std::size_t step = raw_bytes<type>;
  std::size_t done = begin;
  for (; end - done >= unroll * step; done += unroll * step) {
    reduce_block<type, Op>(targets, sources, source_count, done,
                           std::make_index_sequence<unroll>());
  }
  for (; end - done >= step; done += step) {
    reduce_block<type, Op>(targets, sources, source_count, done, std::index_sequence<0>());
  }
  if (done < end) {
    reduce_rest<type, Op>(targets, sources, source_count, done, end - done);
  }
}

// Two sources and one or two destinations, by far the commonest, get loops of their own.
template <DataType type, class Op>
void reduce_range(const Targets& targets, const std::byte* const* sources, std::size_t source_count,
                  std::size_t begin, std::size_t end) {
  if (source_count != 2 || targets.count > 2) {
    reduce_bytes<type, Op>(targets, sources, source_count, begin, end);
    return;
  }
  const std::byte* const two[2] = {sources[0], sources[1]};
  std::byte* const to[2] = {targets.to[0], targets.to[targets.count - 1]};
  if (targets.count == 1 && targets.streamed == 0) {
    reduce_bytes<type, Op>({to, 1, 0, targets.origin}, two, 2, begin, end);
  } else if (targets.count == 1) {
    reduce_bytes<type, Op>({to, 1, 1, targets.origin}, two, 2, begin, end);
  } else if (targets.streamed == 0) {
    reduce_bytes<type, Op>({to, 2, 0, targets.origin}, two, 2, begin, end);
  } else if (targets.streamed == 1) {
    reduce_bytes<type, Op>({to, 2, 1, targets.origin}, two, 2, begin, end);
  } else {
    reduce_bytes<type, Op>({to, 2, 2, targets.origin}, two, 2, begin, end);
  }
}

// One source: its bits, whatever the type.
HWY_INLINE void copy_by_vectors(const Targets& targets, const std::byte* source, std::size_t begin,
                                std::size_t end) {
  const hn::ScalableTag<std::uint8_t> tag;
  constexpr std::size_t step = hn::MaxLanes(tag);
  std::size_t done = begin;
  for (; end - done >= unroll * step; done += unroll * step) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(source + done);
    const auto first = hn::LoadU(tag, from);
    const auto second = hn::LoadU(tag, from + step);
    const auto third = hn::LoadU(tag, from + 2 * step);
    const auto fourth = hn::LoadU(tag, from + 3 * step);
    store_to_all(first, tag, targets, done);
    store_to_all(second, tag, targets, done + step);
    store_to_all(third, tag, targets, done + 2 * step);
    store_to_all(fourth, tag, targets, done + 3 * step);
  }
  for (std::size_t d = 0; d < targets.count; ++d) {
    std::memmove(targets.to[d] + (done - targets.origin), source + done, end - done);
  }
}

inline void copy_range(const Targets& targets, const std::byte* source, std::size_t begin,
                       std::size_t end) {
  if (targets.count == 1 && targets.streamed == 0) {
    copy_by_vectors({targets.to, 1, 0, targets.origin}, source, begin, end);
  } else if (targets.count == 1) {
    copy_by_vectors({targets.to, 1, 1, targets.origin}, source, begin, end);
  } else {
    copy_by_vectors(targets, source, begin, end);
  }
}

// A copy past the caches to any address: the bytes before the first whole line and after the last
// are ordinary stores.
inline void stream_piece(std::byte* to, const std::byte* from, std::size_t bytes) {
  const std::size_t head =
      std::min<std::size_t>((64 - reinterpret_cast<std::uintptr_t>(to) % 64) % 64, bytes);
  std::memcpy(to, from, head);
  copy_range({&to, 1, 1}, from, head, bytes);
}

// For destinations that one pass cannot serve: the results of a piece are made in the first-level
// cache and copied from there, each as its destination wants it.
template <class Range>
void in_pieces(std::span<std::byte* const> destinations, std::size_t bytes, StoreHint hint,
               Range range) {
  constexpr std::size_t piece_bytes = 4096;
  HWY_ALIGN std::byte results[piece_bytes];
  for (std::size_t begin = 0; begin < bytes; begin += piece_bytes) {
    const std::size_t length = std::min(piece_bytes, bytes - begin);
    std::byte* const to = results;
    range(Targets{&to, 1, 0, begin}, begin, begin + length);
    for (std::size_t d = 0; d < destinations.size(); ++d) {
      if (is_streamed(hint, d)) {
        stream_piece(destinations[d] + begin, results, length);
      } else {
        std::memcpy(destinations[d] + begin, results, length);
      }
    }
  }
}

// Calls range(targets, begin, end) so that all bytes of all destinations are written as wished.
template <std::size_t element_bytes, class Range>
HWY_INLINE void with_hint(std::span<std::byte* const> destinations, std::size_t bytes,
                          StoreHint hint, Range range) {
  if (hint == StoreHint::cached || bytes < smallest_stream_bytes) {
    range(Targets{destinations.data(), destinations.size(), 0}, std::size_t{0}, bytes);
    return;
  }
  const OnePass plan = plan_one_pass(destinations, element_bytes, hint);
  if (plan.possible) {
    range(Targets{destinations.data(), destinations.size(), 0}, std::size_t{0}, plan.head);
    range(Targets{destinations.data(), destinations.size(), plan.streamed}, plan.head, bytes);
  } else {
    in_pieces(destinations, bytes, hint, range);
  }
  hwy::FlushStream();
}

template <DataType type, ReduceOp op>
void reduce(std::span<std::byte* const> destinations, std::span<const std::byte* const> sources,
            std::size_t count, StoreHint hint) {
  if (count <= few_elements<type>) {
    if (sources.size() == 2 && destinations.size() == 1) {
      reduce_two<type, op>(destinations[0], sources[0], sources[1], count);
      return;
    }
    reduce_elements<type, op>(destinations, sources, count);
    return;
  }
  constexpr std::size_t size = size_of(type);
  if (sources.size() == 1) {
    with_hint<1>(destinations, count * size, hint,
                 [&](const Targets& targets, std::size_t begin, std::size_t end) {
                   copy_range(targets, sources[0], begin, end);
                 });
    return;
  }
  with_hint<size>(destinations, count * size, hint,
                  [&](const Targets& targets, std::size_t begin, std::size_t end) {
                    reduce_range<type, Operation<op> >(targets, sources.data(), sources.size(),
                                                       begin, end);
                  });
}

template <DataType type>
void scale(std::byte* to, const std::byte* from, const void* factor, std::size_t count) {
  using Op = Operation<ReduceOp::prod>;
  typename Format<type>::Factor value;
  std::memcpy(&value, factor, sizeof(value));
  const auto factors = Format<type>::splat(value);
  constexpr std::size_t step = raw_bytes<type>;
  const std::size_t bytes = count * size_of(type);
  std::size_t done = 0;
  for (; bytes - done >= step; done += step) {
    const auto product = combine_wide<Op>(load_wide<type>(from + done), factors);
    store_wide<type>(finish_wide<Op>(product), to + done);
  }
  scale_elements<type>(to, from, factor, done / size_of(type), count);
}

// Where signs do not matter, signed integers use the kernels of the unsigned ones.
constexpr DataType unsigned_twin(DataType type) {
  switch (type) {
    case DataType::int8:
      return DataType::uint8;
    case DataType::int32:
      return DataType::uint32;
    case DataType::int64:
      return DataType::uint64;
    default:
      return type;
  }
}

template <DataType type, ReduceOp op>
void add_operation(KernelTable& table) {
  constexpr bool ordered = op == ReduceOp::min || op == ReduceOp::max;
  if constexpr (is_integer(type) || !is_bitwise(op)) {
    table.reduce(type, op) = reduce < ordered ? type : unsigned_twin(type), op > ;
  }
}

template <DataType type, int... ops>
void add_operations(KernelTable& table, std::integer_sequence<int, ops...>) {
  (add_operation<type, static_cast<ReduceOp>(ops)>(table), ...);
}

template <DataType... types>
void add_types(KernelTable& table) {
  (add_operations<types>(table, std::make_integer_sequence<int, reduce_op_count>()), ...);
  ((table.scale(types) = scale<unsigned_twin(types)>), ...);
  table.target = hwy::TargetName(HWY_TARGET);
}

}  // namespace HWY_NAMESPACE
}  // namespace gyre
HWY_AFTER_NAMESPACE();

#endif  // vector target
#endif  // toggling guard
