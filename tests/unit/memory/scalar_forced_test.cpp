// SPDX-License-Identifier: Apache-2.0
// A program of its own, because the switch is for the whole process.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "memory/kernels.h"

namespace gyre {
namespace {

TEST(ForceScalarKernels, ChangesTargetAndStillReduces) {
  force_scalar_kernels();
  EXPECT_EQ(std::string(kernel_target()), "scalar");
  const std::array<float, 3> a = {1, 2, 3};
  std::array<float, 3> b = {10, 20, 30};
  const std::array<const std::byte*, 2> sources = {reinterpret_cast<const std::byte*>(a.data()),
                                                   reinterpret_cast<const std::byte*>(b.data())};
  const std::array<std::byte*, 1> destinations = {reinterpret_cast<std::byte*>(b.data())};
  reduce_kernel(DataType::float32, ReduceOp::sum)(destinations, sources, 3, StoreHint::streaming);
  EXPECT_EQ(b, (std::array<float, 3>{11, 22, 33}));
}

}  // namespace
}  // namespace gyre
