// SPDX-License-Identifier: Apache-2.0
#include "memory/region_allocator.h"

#include <cstring>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/address_space.h"
#include "unit/memory/process_state.h"

namespace gyre {
namespace {

using ::testing::HasSubstr;

class RegionAllocatorTest : public ::testing::Test {
 protected:
  RegionTable table_;
  RegionAllocator allocator_{table_};
};

PeerMapping map_region(const RegionTable& table, RegionId id) {
  auto exported = table.export_region(id);
  EXPECT_TRUE(exported);
  auto mapping = PeerMapping::map(std::move(exported->fd), exported->bytes, Access::read_write);
  EXPECT_TRUE(mapping);
  return std::move(*mapping);
}

bool is_private(const void* address) {
  return !mapped_ranges(address, 1)->at(0).shared();
}

TEST_F(RegionAllocatorTest, AllocatedMemoryIsARegionUntilFreed) {
  const auto pointer = allocator_.allocate(10'000);
  ASSERT_TRUE(pointer) << pointer.error().message;
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(*pointer) % page_bytes(), 0u);
  const auto slice = table_.find(static_cast<std::byte*>(*pointer) + 100, 9'900);
  ASSERT_TRUE(slice);
  EXPECT_EQ(slice->offset, 100u);
  EXPECT_EQ(table_.get(slice->id)->kind, RegionKind::allocated);
  const PeerMapping peer = map_region(table_, slice->id);
  peer.data()[1] = std::byte{5};
  EXPECT_EQ(static_cast<std::byte*>(*pointer)[1], std::byte{5});
  ASSERT_TRUE(allocator_.free(*pointer));
  EXPECT_FALSE(table_.find(*pointer, 1));
  EXPECT_EQ(peer.data()[1], std::byte{0});
}

TEST_F(RegionAllocatorTest, FreeOfAnUnknownPointerNamesIt) {
  const auto pointer = allocator_.allocate(100);
  ASSERT_TRUE(pointer);
  int local = 0;
  for (void* bad : {static_cast<void*>(&local), static_cast<void*>(nullptr),
                    static_cast<void*>(static_cast<char*>(*pointer) + 1)}) {
    const Status status = allocator_.free(bad);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Code::invalid_argument);
    EXPECT_THAT(status.error().message, HasSubstr("gyreMemAlloc"));
  }
  ASSERT_TRUE(allocator_.free(*pointer));
  EXPECT_FALSE(allocator_.free(*pointer));
}

TEST_F(RegionAllocatorTest, RefusesZeroAndMoreThanThereIs) {
  EXPECT_EQ(allocator_.allocate(0).error().code, Code::invalid_argument);
  EXPECT_EQ(allocator_.allocate(std::size_t{1} << 50).error().code, Code::system_error);
}

TEST_F(RegionAllocatorTest, SharedRangesAreCountedAndGivenBack) {
  std::vector<char> buffer(100'000, 'x');
  // Never at the beginning of a page: malloc aligns to more than one byte.
  char* const range = buffer.data() + 1;
  const std::size_t size = buffer.size() - 1;
  const auto first = allocator_.share(range, size);
  ASSERT_TRUE(first) << first.error().message;
  const auto second = allocator_.share(range, size);
  ASSERT_TRUE(second);
  EXPECT_EQ(*first, *second);
  const auto part = table_.find_part(range, size);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->slice.id, *first);
  EXPECT_GT(part->bytes, 90'000u);
  const PeerMapping peer = map_region(table_, *first);
  peer.data()[0] = std::byte{'y'};
  ASSERT_TRUE(allocator_.unshare(range, size));
  EXPECT_TRUE(table_.get(*first));
  ASSERT_TRUE(allocator_.unshare(range, size));
  EXPECT_FALSE(table_.get(*first));
  EXPECT_FALSE(allocator_.unshare(range, size));
  EXPECT_TRUE(is_private(range + part->head));
  EXPECT_EQ(range[part->head], 'y');
  EXPECT_EQ(range[0], 'x');
  // The pages behind the stale mapping went back to the system.
  EXPECT_EQ(peer.data()[0], std::byte{0});
}

TEST_F(RegionAllocatorTest, RefusesAnotherRangeThatOverlaps) {
  std::vector<char> buffer(100'000, 'x');
  ASSERT_TRUE(allocator_.share(buffer.data() + 1000, 50'000));
  for (const auto& [offset, size] :
       {std::pair<std::size_t, std::size_t>{1000, 49'999}, {0, 1001}, {50'999, 10}}) {
    const auto id = allocator_.share(buffer.data() + offset, size);
    ASSERT_FALSE(id);
    EXPECT_EQ(id.error().code, Code::invalid_argument);
    EXPECT_THAT(id.error().message, HasSubstr("overlap"));
  }
  EXPECT_TRUE(allocator_.share(buffer.data() + 51'000, 40'000));
  EXPECT_TRUE(allocator_.unshare(buffer.data() + 51'000, 40'000));
  EXPECT_TRUE(allocator_.unshare(buffer.data() + 1000, 50'000));
}

TEST_F(RegionAllocatorTest, SmallRangesAreStagedAndAllocatedOnesAreSharedAlready) {
  char small[10] = {};
  const auto none = allocator_.share(small, sizeof small);
  ASSERT_TRUE(none);
  EXPECT_EQ(*none, 0u);
  EXPECT_TRUE(allocator_.unshare(small, sizeof small));

  const auto pointer = allocator_.allocate(10'000);
  ASSERT_TRUE(pointer);
  const auto id = allocator_.share(*pointer, 5'000);
  ASSERT_TRUE(id);
  EXPECT_EQ(*id, table_.find(*pointer, 1)->id);
  EXPECT_TRUE(allocator_.unshare(*pointer, 5'000));
  EXPECT_TRUE(table_.find(*pointer, 10'000));
}

TEST_F(RegionAllocatorTest, DetachLeavesPrivateMemoryWithItsContents) {
  std::vector<char> buffer(100'000, 'x');
  const auto shared = allocator_.share(buffer.data(), buffer.size());
  const auto pointer = allocator_.allocate(10'000);
  ASSERT_TRUE(shared && pointer);
  std::memset(*pointer, 'a', 10'000);
  const RegionId allocated = table_.find(*pointer, 1)->id;
  const PeerMapping peer_of_shared = map_region(table_, *shared);
  const PeerMapping peer_of_allocated = map_region(table_, allocated);

  ASSERT_TRUE(allocator_.detach(*shared));
  ASSERT_TRUE(allocator_.detach(allocated));
  ASSERT_TRUE(allocator_.detach(allocated));
  std::memset(peer_of_shared.data(), 'p', peer_of_shared.bytes());
  std::memset(peer_of_allocated.data(), 'p', peer_of_allocated.bytes());
  EXPECT_EQ(buffer, std::vector<char>(100'000, 'x'));
  EXPECT_EQ(std::string(static_cast<char*>(*pointer), 10'000), std::string(10'000, 'a'));
  EXPECT_FALSE(table_.find_part(buffer.data(), buffer.size()));
  EXPECT_FALSE(table_.find(*pointer, 1));

  EXPECT_TRUE(allocator_.unshare(buffer.data(), buffer.size()));
  EXPECT_TRUE(allocator_.free(*pointer));
}

TEST_F(RegionAllocatorTest, ThreadsAllocateShareAndFreeAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 50; ++i) {
        const auto pointer = allocator_.allocate(20'000);
        std::vector<int> buffer(10'000, t);
        const auto id = allocator_.share(buffer.data(), buffer.size() * sizeof(int));
        ASSERT_TRUE(pointer && id);
        EXPECT_TRUE(table_.find(*pointer, 20'000));
        EXPECT_EQ(buffer.back(), t);
        EXPECT_TRUE(allocator_.unshare(buffer.data(), buffer.size() * sizeof(int)));
        EXPECT_TRUE(allocator_.free(*pointer));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST_F(RegionAllocatorTest, AThousandLeaveNothing) {
  ASSERT_TRUE(allocator_.free(*allocator_.allocate(1)));
  const std::size_t descriptors = test::open_descriptors();
  const std::size_t maps = test::mappings();
  for (int i = 0; i < 1000; ++i) {
    const auto pointer = allocator_.allocate(100'000);
    ASSERT_TRUE(pointer);
    ASSERT_TRUE(allocator_.free(*pointer));
  }
  EXPECT_EQ(test::open_descriptors(), descriptors);
  if (!test::sanitized) {
    EXPECT_LE(test::mappings(), maps + 1);
  }
}

TEST(RegionAllocatorEnd, SharedRangesThatWereNotGivenBackStayValid) {
  std::vector<char> buffer(100'000, 'x');
  const std::size_t descriptors = test::open_descriptors();
  {
    RegionTable table;
    {
      RegionAllocator allocator(table);
      ASSERT_TRUE(allocator.allocate(10'000));
      ASSERT_TRUE(allocator.share(buffer.data(), buffer.size()));
      buffer[50'000] = 'z';
    }
    EXPECT_FALSE(table.find(buffer.data() + 50'000, 1));
  }
  EXPECT_EQ(buffer[50'000], 'z');
  EXPECT_EQ(buffer[50'001], 'x');
  buffer[50'001] = 'y';
  EXPECT_EQ(test::open_descriptors(), descriptors);
}

}  // namespace
}  // namespace gyre
