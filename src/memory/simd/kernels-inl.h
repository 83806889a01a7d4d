// SPDX-License-Identifier: Apache-2.0
// The loops of the vector kernels, and how they get into the table. Included once for each target,
// hence no `#pragma once` but Highway's toggling guard.
#if defined(GYRE_MEMORY_SIMD_KERNELS) == defined(HWY_TARGET_TOGGLE)
#ifdef GYRE_MEMORY_SIMD_KERNELS
#undef GYRE_MEMORY_SIMD_KERNELS
#else
#define GYRE_MEMORY_SIMD_KERNELS
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <span>
#include <utility>

#include "memory/element_kernels.h"
#include "memory/kernel_table.h"
#include "memory/pieces.h"

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

// One vector for each index of the sequence, kept in registers from the first source to the last.
// All are loaded before the first is stored, but that order matters only within an element.
template <DataType type, class Op, std::size_t... index>
HWY_INLINE void reduce_block(std::byte* to, const std::byte* const* sources,
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
  (store_wide<type>(finish_wide<Op>(wide[index]), to + index * step), ...);
}

// Fewer elements than a vector holds: the missing ones are zeros that are computed with and not
// stored.
template <DataType type, class Op>
HWY_INLINE void reduce_rest(std::byte* to, const std::byte* const* sources,
                            std::size_t source_count, std::size_t offset, std::size_t bytes) {
  const typename Format<type>::RawTag tag;
  auto wide = prepare_wide<Op>(Format<type>::decode(load_part(tag, sources[0] + offset, bytes)));
  for (std::size_t s = 1; s < source_count; ++s) {
    const auto next = Format<type>::decode(load_part(tag, sources[s] + offset, bytes));
    wide = combine_wide<Op>(wide, prepare_wide<Op>(next));
  }
  store_part(Format<type>::encode(finish_wide<Op>(wide)), tag, to, bytes);
}

template <DataType type, class Op>
HWY_INLINE void reduce_bytes(std::byte* to, const std::byte* const* sources,
                             std::size_t source_count, std::size_t begin, std::size_t bytes) {
  constexpr std::size_t step = raw_bytes<type>;
  std::size_t done = 0;
  for (; bytes - done >= unroll * step; done += unroll * step) {
    reduce_block<type, Op>(to + done, sources, source_count, begin + done,
                           std::make_index_sequence<unroll>());
  }
  for (; bytes - done >= step; done += step) {
    reduce_block<type, Op>(to + done, sources, source_count, begin + done,
                           std::index_sequence<0>());
  }
  if (done < bytes) {
    reduce_rest<type, Op>(to + done, sources, source_count, begin + done, bytes - done);
  }
}

// A RangeKernel. Two sources, by far the commonest, get a loop of their own.
template <DataType type, class Op>
void reduce_range(std::byte* to, const std::byte* const* sources, std::size_t source_count,
                  std::size_t begin, std::size_t count) {
  constexpr std::size_t size = size_of(type);
  if (source_count == 2) {
    const std::byte* const both[2] = {sources[0], sources[1]};
    reduce_bytes<type, Op>(to, both, 2, begin * size, count * size);
  } else {
    reduce_bytes<type, Op>(to, sources, source_count, begin * size, count * size);
  }
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
  } else if (destinations.size() == 1 && sources.size() > 1 && hint == StoreHint::cached) {
    reduce_range<type, Operation<op> >(destinations[0], sources.data(), sources.size(), 0, count);
  } else {
    reduce_by_pieces(reduce_range<type, Operation<op> >, size_of(type), destinations, sources,
                     count, hint);
  }
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
