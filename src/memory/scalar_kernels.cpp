// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "memory/element_kernels.h"
#include "memory/kernel_table.h"

namespace gyre {
namespace {

template <DataType type, ReduceOp op>
void scalar_reduce(std::span<std::byte* const> destinations,
                   std::span<const std::byte* const> sources, std::size_t count, StoreHint) {
  reduce_elements<type, op>(destinations, sources, count);
}

template <DataType type>
void scalar_scale(std::byte* to, const std::byte* from, const void* scale, std::size_t count) {
  scale_elements<type>(to, from, scale, 0, count);
}

template <DataType type, int op>
void add_operation(KernelTable& table) {
  constexpr auto reduce_op = static_cast<ReduceOp>(op);
  if constexpr (is_integer(type) || !is_bitwise(reduce_op)) {
    table.reduce(type, reduce_op) = scalar_reduce<type, reduce_op>;
  }
}

template <DataType type, int... ops>
void add_type(KernelTable& table, std::integer_sequence<int, ops...>) {
  (add_operation<type, ops>(table), ...);
  table.scale(type) = scalar_scale<type>;
}

template <int... types>
KernelTable make_table(std::integer_sequence<int, types...>) {
  KernelTable table;
  (add_type<static_cast<DataType>(types)>(table,
                                          std::make_integer_sequence<int, reduce_op_count>()),
   ...);
  return table;
}

}  // namespace

const KernelTable& scalar_kernels() {
  static const KernelTable table = make_table(std::make_integer_sequence<int, data_type_count>());
  return table;
}

}  // namespace gyre
