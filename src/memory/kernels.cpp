// SPDX-License-Identifier: Apache-2.0
#include "memory/kernels.h"

#include <atomic>

#include "memory/active_kernels.h"

namespace gyre {
namespace {

// The one switch of the process, set before the first use (kernels.h). Relaxed: it guards no other
// data, and whoever sets it does so before starting the threads that read it.
std::atomic<bool>& scalar_forced() {
  static std::atomic<bool> forced = false;
  return forced;
}

}  // namespace

KernelTable make_best_kernels() {
  KernelTable table = scalar_kernels();
  add_int8_kernels(table);
  add_int32_kernels(table);
  add_int64_kernels(table);
  add_float_kernels(table);
  add_float16_kernels(table);
  add_float8_kernels(table);
  return table;
}

const KernelTable& active_kernels() {
  static const KernelTable best = make_best_kernels();
  return scalar_forced().load(std::memory_order_relaxed) ? scalar_kernels() : best;
}

ReduceKernel reduce_kernel(DataType type, ReduceOp op) {
  return active_kernels()
      .types[static_cast<std::size_t>(type)]
      .reduce[static_cast<std::size_t>(op)];
}

ScaleKernel scale_kernel(DataType type) {
  return active_kernels().types[static_cast<std::size_t>(type)].scale;
}

void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes, StoreHint hint) {
  reduce_kernel(DataType::uint8, ReduceOp::bor)(std::span(&to, 1), std::span(&from, 1), bytes,
                                                hint);
}

const char* kernel_target() {
  return active_kernels().target;
}

void force_scalar_kernels() {
  scalar_forced().store(true, std::memory_order_relaxed);
}

}  // namespace gyre
