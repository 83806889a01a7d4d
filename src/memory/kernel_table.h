// SPDX-License-Identifier: Apache-2.0
// The kernels of one instruction set, by type and operation. Private to src/memory.
#pragma once

#include <array>
#include <cstddef>

#include "memory/kernels.h"
#include "memory/types.h"

namespace gyre {

struct TypeKernels {
  std::array<ReduceKernel, reduce_op_count> reduce = {};
  ScaleKernel scale = nullptr;
};

struct KernelTable {
  std::array<TypeKernels, data_type_count> types = {};
  const char* target = "scalar";

  [[nodiscard]] ReduceKernel& reduce(DataType type, ReduceOp op) {
    return types[static_cast<std::size_t>(type)].reduce[static_cast<std::size_t>(op)];
  }
  [[nodiscard]] ScaleKernel& scale(DataType type) {
    return types[static_cast<std::size_t>(type)].scale;
  }
};

// Loops over elements; also the reference in tests.
[[nodiscard]] const KernelTable& scalar_kernels();

// The scalar table with all that this processor has vectors for replaced.
[[nodiscard]] KernelTable make_best_kernels();

// Each replaces the entries of its types by those of the best vector target of this processor, or
// leaves them alone when there is none.
void add_int8_kernels(KernelTable& table);
void add_int32_kernels(KernelTable& table);
void add_int64_kernels(KernelTable& table);
void add_float_kernels(KernelTable& table);
void add_float16_kernels(KernelTable& table);
void add_float8_kernels(KernelTable& table);

}  // namespace gyre
