// SPDX-License-Identifier: Apache-2.0
// Each refusal names the argument, its value and what would be right.
#include "core/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>

namespace gyre::core {
namespace {

using testing::AllOf;
using testing::HasSubstr;

void expect_refused(const Status& status, const testing::Matcher<std::string>& text) {
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::invalid_argument);
  EXPECT_THAT(status.error().message, text);
}

TEST(Validate, Types) {
  for (int type = 0; type < gyreNumTypes; ++type) {
    EXPECT_TRUE(check_type(static_cast<gyreDataType_t>(type)));
  }
  expect_refused(check_type(gyreNumTypes),
                 AllOf(HasSubstr("datatype is 12"), HasSubstr("[0, 12)")));
  expect_refused(check_type(static_cast<gyreDataType_t>(15)), HasSubstr("datatype is 15"));
}

TEST(Validate, CountsWhoseBytesFitInHalfTheAddressSpace) {
  constexpr std::size_t half = std::numeric_limits<std::size_t>::max() / 2;
  for (int type = 0; type < gyreNumTypes; ++type) {
    const auto element = static_cast<gyreDataType_t>(type);
    const std::size_t most = half / size_of(static_cast<DataType>(type));
    EXPECT_TRUE(check_count("count", 0, element));
    EXPECT_TRUE(check_count("count", most, element));
    expect_refused(check_count("count", most + 1, element),
                   AllOf(HasSubstr("count is " + std::to_string(most + 1)),
                         HasSubstr(std::string(name_of(static_cast<DataType>(type))))));
  }
  expect_refused(check_count("recvcount", static_cast<std::size_t>(-1), gyreInt8),
                 AllOf(HasSubstr("recvcount is 18446744073709551615"), HasSubstr("negative")));
}

TEST(Validate, BuffersMayBeNullOnlyWhenNothingIsAskedFor) {
  const int something = 0;
  EXPECT_TRUE(check_buffer("sendbuff", nullptr, 0));
  EXPECT_TRUE(check_buffer("sendbuff", &something, 1));
  expect_refused(check_buffer("sendbuff", nullptr, 3),
                 AllOf(HasSubstr("sendbuff is NULL"), HasSubstr("3 elements")));
}

TEST(Validate, Ranks) {
  EXPECT_TRUE(check_rank("root", 0, 1));
  EXPECT_TRUE(check_rank("root", 3, 4));
  expect_refused(check_rank("root", 4, 4), AllOf(HasSubstr("root is 4"), HasSubstr("[0, 4)")));
  expect_refused(check_rank("rank", -1, 4), HasSubstr("rank is -1"));
}

TEST(Validate, BuffersAreEqualOrApart) {
  std::array<std::byte, 200> memory{};
  std::byte* const middle = memory.data() + 100;
  EXPECT_TRUE(check_overlap(middle, middle, 50));
  EXPECT_TRUE(check_overlap(middle, middle + 50, 50));
  EXPECT_TRUE(check_overlap(middle + 50, middle, 50));
  EXPECT_TRUE(check_overlap(nullptr, nullptr, 0));
  expect_refused(check_overlap(middle, middle + 49, 50),
                 AllOf(HasSubstr("overlap"), HasSubstr("49 bytes apart"), HasSubstr("50 bytes")));
  expect_refused(check_overlap(middle + 1, middle, 50), HasSubstr("1 bytes apart"));
}

TEST(Validate, OperationsExistForTheirTypes) {
  for (int op = 0; op < gyreNumOps; ++op) {
    for (int type = 0; type < gyreNumTypes; ++type) {
      const auto operation = static_cast<gyreRedOp_t>(op);
      const auto element = static_cast<gyreDataType_t>(type);
      const bool exists = op < gyreBand || is_integer(static_cast<DataType>(type));
      EXPECT_EQ(check_builtin_operation(operation, element).has_value(), exists) << op << type;
    }
  }
  expect_refused(check_builtin_operation(gyreBand, gyreFloat32),
                 AllOf(HasSubstr("band"), HasSubstr("float32"), HasSubstr("integer types")));
  expect_refused(check_builtin_operation(static_cast<gyreRedOp_t>(99), gyreInt8),
                 AllOf(HasSubstr("op is 99"), HasSubstr("gyreRedOpCreateUser")));
}

}  // namespace
}  // namespace gyre::core
