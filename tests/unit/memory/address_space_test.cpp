// SPDX-License-Identifier: Apache-2.0
#include "memory/address_space.h"

#include <sys/mman.h>

#include <gtest/gtest.h>

namespace gyre {
namespace {

constexpr std::string_view maps =
    "1000-3000 rw-p 00000000 00:00 0 \n"
    "3000-4000 r-xp 00002000 fd:01 77                     /usr/lib/a b.so (deleted)\n"
    "garbage\n"
    "5000-6000 rw-s 00001000 00:01 9 /memfd:x\n"
    "7ffd0000-7ffd1000 rw-p 00000000 00:00 0              [stack]\n";

TEST(AddressSpace, ReadsEveryFieldOfALine) {
  const auto ranges = parse_maps(maps, 0x3000, 0x4000);
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].begin, 0x3000u);
  EXPECT_EQ(ranges[0].end, 0x4000u);
  EXPECT_EQ(ranges[0].offset, 0x2000u);
  EXPECT_EQ(ranges[0].device, "fd:01");
  EXPECT_EQ(ranges[0].inode, 77u);
  EXPECT_EQ(ranges[0].name, "/usr/lib/a b.so (deleted)");
  EXPECT_EQ(ranges[0].protection(), PROT_READ | PROT_EXEC);
  EXPECT_FALSE(ranges[0].shared());
}

TEST(AddressSpace, GivesOnlyTheLinesThatTouchTheRange) {
  EXPECT_EQ(parse_maps(maps, 0x2fff, 0x3001).size(), 2u);
  EXPECT_EQ(parse_maps(maps, 0x4000, 0x5000).size(), 0u);
  EXPECT_TRUE(parse_maps(maps, 0x5000, 0x5001).at(0).shared());
  EXPECT_EQ(parse_maps(maps, 0, UINTPTR_MAX).size(), 4u);
}

TEST(AddressSpace, FindsTheFirstHole) {
  const auto ranges = parse_maps(maps, 0, UINTPTR_MAX);
  EXPECT_EQ(first_hole(ranges, 0x1000, 0x4000), 0x4000u);
  EXPECT_EQ(first_hole(ranges, 0x1800, 0x6000), 0x4000u);
  EXPECT_EQ(first_hole(ranges, 0x800, 0x2000), 0x800u);
  EXPECT_EQ(first_hole({}, 0x800, 0x2000), 0x800u);
}

TEST(AddressSpace, KnowsThisProcess) {
  const int local = 0;
  const auto ranges = mapped_ranges(&local, sizeof local);
  ASSERT_TRUE(ranges);
  ASSERT_EQ(ranges->size(), 1u);
  EXPECT_EQ(ranges->front().protection() & PROT_WRITE, PROT_WRITE);
}

}  // namespace
}  // namespace gyre
