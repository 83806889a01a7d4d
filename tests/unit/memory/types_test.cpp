// SPDX-License-Identifier: Apache-2.0
#include "memory/types.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace gyre {
namespace {

TEST(TypesTest, NamesAreDistinct) {
  std::set<std::string_view> names;
  for (int number = 0; number < data_type_count; ++number) {
    names.insert(name_of(static_cast<DataType>(number)));
  }
  for (int number = 0; number < reduce_op_count; ++number) {
    names.insert(name_of(static_cast<ReduceOp>(number)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(data_type_count + reduce_op_count));
  EXPECT_EQ(name_of(DataType::float8e5m2), "float8e5m2");
  EXPECT_EQ(name_of(DataType::bfloat16), "bfloat16");
  EXPECT_EQ(name_of(ReduceOp::max), "max");
}

TEST(TypesTest, WhatIsOutOfRangeHasANameToo) {
  EXPECT_EQ(name_of(static_cast<DataType>(12)), "unknown type");
  EXPECT_EQ(name_of(static_cast<ReduceOp>(7)), "unknown operation");
}

TEST(TypesTest, SizesAndKinds) {
  EXPECT_EQ(size_of(DataType::float8e4m3), 1U);
  EXPECT_EQ(size_of(DataType::bfloat16), 2U);
  EXPECT_EQ(size_of(DataType::uint32), 4U);
  EXPECT_EQ(size_of(DataType::float64), 8U);
  EXPECT_TRUE(is_integer(DataType::uint64));
  EXPECT_FALSE(is_integer(DataType::float16));
}

}  // namespace
}  // namespace gyre
