// SPDX-License-Identifier: Apache-2.0
// Vector kernels of float32 and float64, compiled for each target.
#include "memory/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "memory/simd/float.cpp"
#include <hwy/foreach_target.h>

#include "memory/simd/kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gyre {
namespace HWY_NAMESPACE {

void add_float_kernels(KernelTable& table) {
  add_types<DataType::float32, DataType::float64>(table);
}

}  // namespace HWY_NAMESPACE
}  // namespace gyre
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gyre {
namespace {
HWY_EXPORT(add_float_kernels);
}  // namespace

void add_float_kernels(KernelTable& table) {
  HWY_DYNAMIC_DISPATCH(add_float_kernels)(table);
}

}  // namespace gyre
#endif
