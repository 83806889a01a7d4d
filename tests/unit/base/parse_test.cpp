// SPDX-License-Identifier: Apache-2.0
#include "base/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace gyre {
namespace {

using testing::ElementsAre;

TEST(Parse, IntegersAreUnderstoodWholeOrNotAtAll) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("-1"), -1);
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  for (const char* text : {"", " 1", "1 ", "1x", "+1", "0x10", "9223372036854775808", "1.5"}) {
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
  }
}

TEST(Parse, BytesTakeBinaryUnits) {
  EXPECT_EQ(parse_bytes("12"), 12);
  EXPECT_EQ(parse_bytes("64K"), 65536);
  EXPECT_EQ(parse_bytes("1m"), 1 << 20);
  EXPECT_EQ(parse_bytes("2G"), 2LL << 30);
  for (const char* text : {"", "K", "1KB", "1 K", "9223372036854775807K"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  }
}

TEST(Parse, FormattedBytesParseToTheSameNumber) {
  EXPECT_EQ(format_bytes(65536), "64K");
  EXPECT_EQ(format_bytes(1 << 20), "1M");
  for (const std::int64_t bytes : {0LL, 1LL, 1000LL, 1024LL, 1025LL, 3LL << 30, 5LL << 40}) {
    EXPECT_EQ(parse_bytes(format_bytes(bytes)), bytes);
  }
}

TEST(Parse, ChoicesIgnoreCaseAndKeepTheirSpelling) {
  constexpr std::array<std::string_view, 2> choices = {"INFO", "ring"};
  EXPECT_EQ(parse_choice("info", choices), "INFO");
  EXPECT_EQ(parse_choice("RING", choices), "ring");
  EXPECT_EQ(parse_choice("rin", choices), std::nullopt);
  EXPECT_EQ(parse_choice_list("info, ^Ring", choices), "INFO,^ring");
  EXPECT_EQ(parse_choice_list("info,", choices), std::nullopt);
  EXPECT_EQ(parse_choice_list("^", choices), std::nullopt);
}

TEST(Parse, HexDigitsAndPorts) {
  EXPECT_EQ(parse_hex_digits("aF09", 4), "af09");
  EXPECT_EQ(parse_hex_digits("aF0", 4), std::nullopt);
  EXPECT_EQ(parse_hex_digits("aG09", 4), std::nullopt);
  EXPECT_EQ(parse_port_range("5000-5010"), "5000-5010");
  EXPECT_EQ(parse_port_range("5000"), "5000-5000");
  for (const char* text : {"", "0", "0-5", "5-4", "1-65536", "1-2-3", "-5", "a-b"}) {
    EXPECT_EQ(parse_port_range(text), std::nullopt) << text;
  }
}

TEST(Parse, SplitAndTrim) {
  EXPECT_THAT(split("a,b,,c", ','), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_EQ(trim(" \ta b\r\n"), "a b");
  EXPECT_EQ(trim("  "), "");
}

TEST(Parse, NearestNameForgivesSlipsOnly) {
  constexpr std::array<std::string_view, 3> names = {"GYRE_DEBUG", "GYRE_TIMEOUT", "GYRE_SLOTS"};
  EXPECT_EQ(nearest_name("GYRE_DEBGU", names), "GYRE_DEBUG");       // a swap
  EXPECT_EQ(nearest_name("GYRE_TIMEOUTS", names), "GYRE_TIMEOUT");  // one too many
  EXPECT_EQ(nearest_name("GYRE_SLTS", names), "GYRE_SLOTS");        // one missing
  EXPECT_EQ(nearest_name("SOMETHING_ELSE_ALTOGETHER", names), std::nullopt);
}

}  // namespace
}  // namespace gyre
