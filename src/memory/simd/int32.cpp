// SPDX-License-Identifier: Apache-2.0
// Vector kernels of 32-bit integers, compiled for each target.
#include "memory/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "memory/simd/int32.cpp"
#include <hwy/foreach_target.h>

#include "memory/simd/kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gyre {
namespace HWY_NAMESPACE {

void add_int32_kernels(KernelTable& table) {
  add_types<DataType::int32, DataType::uint32>(table);
}

}  // namespace HWY_NAMESPACE
}  // namespace gyre
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gyre {
namespace {
HWY_EXPORT(add_int32_kernels);
}  // namespace

void add_int32_kernels(KernelTable& table) {
  HWY_DYNAMIC_DISPATCH(add_int32_kernels)(table);
}

}  // namespace gyre
#endif
