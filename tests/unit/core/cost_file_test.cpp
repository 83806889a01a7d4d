// SPDX-License-Identifier: Apache-2.0
#include "core/cost_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "support/temporary_directory.h"

namespace gyre::core {
namespace {

constexpr plan::LinkCosts costs{
    .exchange = 1.5e-6, .message = 1e-7, .per_byte = 1e-10, .per_byte_large = 4e-10};

TEST(CostFile, GivesBackWhatWasWritten) {
  const test::TemporaryDirectory folder;
  const std::string path = folder.path("below/costs.json");
  EXPECT_EQ(read_costs(path, "a"), std::nullopt);
  ASSERT_TRUE(write_costs(path, "a", costs));
  plan::LinkCosts other = costs;
  other.exchange = 2e-6;
  ASSERT_TRUE(write_costs(path, "b", other));
  EXPECT_EQ(read_costs(path, "a"), costs);
  EXPECT_EQ(read_costs(path, "b"), other);
  EXPECT_EQ(read_costs(path, "c"), std::nullopt);
  ASSERT_TRUE(write_costs(path, "a", other));
  EXPECT_EQ(read_costs(path, "a"), other);
}

TEST(CostFile, WhatIsBrokenIsMeasuredAnew) {
  const test::TemporaryDirectory folder;
  const std::string path = folder.path("costs.json");
  ASSERT_TRUE(write_costs(path, "a", costs));
  std::ifstream file(path);
  const std::string good((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto replaced = [&](std::string_view what, std::string_view with) {
    std::string text = good;
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), with);
  };
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[1,2]"), std::string("{\"links\": 5}"),
        good.substr(0, good.size() / 2), replaced("1.5e-06", "-1"), replaced("1.5e-06", "\"x\""),
        replaced("1.5e-06", "1e300"), replaced("message_seconds", "massage_seconds"),
        replaced("\"version\": ", "\"version\": 9")}) {
    std::ofstream(path, std::ios::trunc) << text;
    EXPECT_EQ(read_costs(path, "a"), std::nullopt) << text;
    ASSERT_TRUE(write_costs(path, "a", costs)) << text;
    EXPECT_EQ(read_costs(path, "a"), costs) << text;
  }
}

TEST(CostFile, AFolderThatCannotBeWrittenIsAnError) {
  EXPECT_FALSE(write_costs("/proc/no/costs.json", "a", costs));
}

TEST(CostFile, TheKeyNamesWhatCostsDependOn) {
  EXPECT_NE(cost_key(3, 2), cost_key(4, 2));
  EXPECT_NE(cost_key(3, 2), cost_key(3, 4));
  EXPECT_NE(cost_key(3, 2).find("2 CPUs, 3 ranks"), std::string::npos);
}

TEST(CostFile, TheSettingComesFirst) {
  EXPECT_EQ(cost_path("/some/file"), "/some/file");
}

}  // namespace
}  // namespace gyre::core
