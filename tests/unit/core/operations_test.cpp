// SPDX-License-Identifier: Apache-2.0
#include "core/operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace gyre::core {
namespace {

using testing::HasSubstr;

template <typename T>
T scale_of(const engine::Reduction& reduction) {
  T value{};
  std::memcpy(&value, reduction.scale.data(), sizeof(T));
  return value;
}

TEST(Operations, BuiltInOnesAreTheirKernels) {
  const Operations operations(4);
  const std::pair<gyreRedOp_t, ReduceOp> pairs[] = {
      {gyreSum, ReduceOp::sum},  {gyreProd, ReduceOp::prod}, {gyreMax, ReduceOp::max},
      {gyreMin, ReduceOp::min},  {gyreBand, ReduceOp::band}, {gyreBor, ReduceOp::bor},
      {gyreBxor, ReduceOp::bxor}};
  for (const auto& [op, kernel] : pairs) {
    const auto reduction = operations.resolve(op, gyreUint32);
    ASSERT_TRUE(reduction);
    EXPECT_EQ(reduction->op, kernel);
    EXPECT_EQ(reduction->type, DataType::uint32);
    EXPECT_FALSE(reduction->scaled);
    EXPECT_EQ(reduction->divisor, 1U);
    EXPECT_EQ(reduction->user.function, nullptr);
  }
}

TEST(Operations, AnAverageOfFloatsScalesAndOneOfIntegersDivides) {
  const Operations operations(3);
  for (int type = 0; type < gyreNumTypes; ++type) {
    const auto reduction = operations.resolve(gyreAvg, static_cast<gyreDataType_t>(type));
    ASSERT_TRUE(reduction);
    EXPECT_EQ(reduction->op, ReduceOp::sum);
    const bool integer = is_integer(static_cast<DataType>(type));
    EXPECT_EQ(reduction->scaled, !integer);
    EXPECT_EQ(reduction->divisor, integer ? 3U : 1U);
  }
  EXPECT_EQ(scale_of<float>(*operations.resolve(gyreAvg, gyreFloat32)), 1.0F / 3.0F);
  EXPECT_EQ(scale_of<float>(*operations.resolve(gyreAvg, gyreBfloat16)), 1.0F / 3.0F);
  EXPECT_EQ(scale_of<double>(*operations.resolve(gyreAvg, gyreFloat64)), 1.0 / 3.0);
}

TEST(Operations, APremulsumKeepsItsScalar) {
  Operations operations(2);
  float scalar = 2.5F;
  const auto op = operations.add_premulsum(&scalar, gyreFloat32);
  scalar = 0;
  const auto reduction = operations.resolve(op, gyreFloat32);
  ASSERT_TRUE(reduction);
  EXPECT_TRUE(reduction->scaled);
  EXPECT_EQ(scale_of<float>(*reduction), 2.5F);
  EXPECT_FALSE(Operations::same_on_all_ranks(op));

  const auto other_type = operations.resolve(op, gyreFloat64);
  ASSERT_FALSE(other_type);
  EXPECT_EQ(other_type.error().code, Code::invalid_argument);
  EXPECT_THAT(other_type.error().message, HasSubstr("datatype is float64"));
}

TEST(Operations, ScalarsOfSmallFloatsAreScaledInFloat32) {
  Operations operations(2);
  const std::uint16_t half_1_5 = 0x3e00;    // float16 1.5
  const std::uint16_t bfloat_1_5 = 0x3fc0;  // bfloat16 1.5
  const std::uint8_t e4m3_1_5 = 0x3c;       // 0 0111 100
  const std::uint8_t e5m2_1_5 = 0x3e;       // 0 01111 10
  const auto scale = [&](const void* scalar, gyreDataType_t type) {
    return scale_of<float>(*operations.resolve(operations.add_premulsum(scalar, type), type));
  };
  EXPECT_EQ(scale(&half_1_5, gyreFloat16), 1.5F);
  EXPECT_EQ(scale(&bfloat_1_5, gyreBfloat16), 1.5F);
  EXPECT_EQ(scale(&e4m3_1_5, gyreFloat8e4m3), 1.5F);
  EXPECT_EQ(scale(&e5m2_1_5, gyreFloat8e5m2), 1.5F);
  const std::int8_t minus_three = -3;
  const auto integer = operations.add_premulsum(&minus_three, gyreInt8);
  EXPECT_EQ(scale_of<std::int8_t>(*operations.resolve(integer, gyreInt8)), -3);
}

TEST(Operations, AUsersFunctionServesEveryType) {
  Operations operations(2);
  int context = 0;
  const engine::UserFunction function{
      .function = [](const void*, void*, std::size_t, gyreDataType_t, void*) {},
      .context = &context,
      .commutative = false};
  const auto op = operations.add_user(function);
  EXPECT_GE(op, gyreNumOps);
  for (int type = 0; type < gyreNumTypes; ++type) {
    const auto reduction = operations.resolve(op, static_cast<gyreDataType_t>(type));
    ASSERT_TRUE(reduction);
    EXPECT_EQ(reduction->type, static_cast<DataType>(type));
    EXPECT_EQ(reduction->user.function, function.function);
    EXPECT_EQ(reduction->user.context, &context);
    EXPECT_FALSE(reduction->user.commutative);
  }
}

TEST(Operations, WhatWasRemovedIsGoneAndItsNumberIsNotUsedAgain) {
  Operations operations(2);
  const float one = 1;
  const auto first = operations.add_premulsum(&one, gyreFloat32);
  ASSERT_TRUE(operations.remove(first));
  EXPECT_FALSE(operations.resolve(first, gyreFloat32));
  const auto twice = operations.remove(first);
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message, HasSubstr("op is " + std::to_string(first)));
  EXPECT_NE(operations.add_premulsum(&one, gyreFloat32), first);
  EXPECT_FALSE(operations.remove(gyreSum)) << "built-in operations stay";
}

TEST(Operations, UsersOperationsShareOneNumberForThePeers) {
  EXPECT_EQ(Operations::common_number(gyreMin), gyreMin);
  EXPECT_EQ(Operations::common_number(static_cast<gyreRedOp_t>(gyreNumOps)),
            Operations::common_number(static_cast<gyreRedOp_t>(gyreNumOps + 7)));
}

}  // namespace
}  // namespace gyre::core
