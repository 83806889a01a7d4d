// SPDX-License-Identifier: Apache-2.0
#include "memory/memory_room.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gyre {
namespace {

using ::testing::HasSubstr;

// A made-up file system below a temporary folder.
class MemoryRoomTest : public ::testing::Test {
 protected:
  MemoryRoomTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gyre-room-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~MemoryRoomTest() override { std::filesystem::remove_all(root_); }

  void put(const std::string& path, const std::string& text) {
    const std::filesystem::path full = root_ + path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }

  std::string root_;
};

TEST_F(MemoryRoomTest, NothingToReadIsNoLimit) {
  EXPECT_FALSE(read_memory_room(root_));
}

TEST_F(MemoryRoomTest, TheMachineLimitsWhenNoGroupDoes) {
  put("/proc/meminfo", "MemTotal: 4000 kB\nMemAvailable:   3000 kB\nSwapFree: 1000 kB\n");
  put("/proc/self/cgroup", "0::/\n");
  put("/sys/fs/cgroup/memory.max", "max\n");
  const auto room = read_memory_room(root_);
  ASSERT_TRUE(room);
  EXPECT_EQ(room->bytes, std::size_t{4000} * 1024);
}

TEST_F(MemoryRoomTest, ATighterAncestorGroupWinsAndItsPageCacheDoesNotCount) {
  put("/proc/meminfo", "MemAvailable: 4000000 kB\nSwapFree: 0 kB\n");
  put("/proc/self/cgroup", "0::/outer/inner\n");
  put("/sys/fs/cgroup/outer/inner/memory.max", "max\n");
  put("/sys/fs/cgroup/outer/memory.max", "100000\n");
  put("/sys/fs/cgroup/outer/memory.current", "60000\n");
  put("/sys/fs/cgroup/outer/memory.stat", "anon 1\ninactive_file 10000\nactive_file 5000\n");
  const auto room = read_memory_room(root_);
  ASSERT_TRUE(room);
  EXPECT_EQ(room->bytes, 55000u);
  EXPECT_THAT(room->source, HasSubstr("/sys/fs/cgroup/outer"));
}

TEST_F(MemoryRoomTest, ReadsOldGroupsToo) {
  put("/proc/meminfo", "MemAvailable: 4000000 kB\nSwapFree: 0 kB\n");
  put("/proc/self/cgroup", "9:name=systemd:/x\n4:cpuacct,memory:/job\n0::/\n");
  put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "5000\n");
  put("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "6000\n");
  const auto room = read_memory_room(root_);
  ASSERT_TRUE(room);
  EXPECT_EQ(room->bytes, 0u);
}

TEST_F(MemoryRoomTest, InAContainerTheRootOfTheMountIsItsGroup) {
  put("/proc/self/cgroup", "0::/not/visible/here\n");
  put("/sys/fs/cgroup/memory.max", "7000\n");
  put("/sys/fs/cgroup/memory.current", "1000\n");
  const auto room = read_memory_room(root_);
  ASSERT_TRUE(room);
  EXPECT_EQ(room->bytes, 6000u);
}

TEST(ReadableBytes, PicksTheUnit) {
  EXPECT_EQ(readable_bytes(17), "17 B");
  EXPECT_EQ(readable_bytes(64 << 20), "64.0 MiB");
  EXPECT_EQ(readable_bytes(std::size_t{3} << 49), "1.5 PiB");
}

}  // namespace
}  // namespace gyre
