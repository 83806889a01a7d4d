// SPDX-License-Identifier: Apache-2.0
#include "memory/region_table.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/shared_segment.h"
#include "unit/memory/process_state.h"

namespace gyre {
namespace {

using ::testing::HasSubstr;

// The table never looks at the memory itself, so that any addresses do.
std::byte* at(std::uintptr_t address) {
  return reinterpret_cast<std::byte*>(address);
}

class RegionTableTest : public ::testing::Test {
 protected:
  RegionId add(std::uintptr_t address, std::size_t bytes) {
    const auto id = table_.add(at(address), bytes, segment_->fd(), RegionKind::allocated);
    EXPECT_TRUE(id);
    return id.value_or(0);
  }

  RegionTable table_;
  Result<SharedSegment> segment_ = SharedSegment::create(4 * page_bytes(), "test");
};

TEST_F(RegionTableTest, FindsExactlyWhatIsInside) {
  const RegionId low = add(0x10000, 0x1000);
  const RegionId high = add(0x20000, 0x2000);
  ASSERT_NE(low, high);
  const auto slice = table_.find(at(0x20010), 0x100);
  ASSERT_TRUE(slice);
  EXPECT_EQ(slice->id, high);
  EXPECT_EQ(slice->offset, 0x10u);
  EXPECT_EQ(table_.find(at(0x10000), 0x1000)->id, low);
  EXPECT_EQ(table_.find(at(0x20fff), 0x1001)->offset, 0xfffu);
  EXPECT_FALSE(table_.find(at(0xffff), 2));
  EXPECT_FALSE(table_.find(at(0x10000), 0x1001));
  EXPECT_FALSE(table_.find(at(0x11000), 1));
  EXPECT_FALSE(table_.find(at(0x18000), 1));
  EXPECT_FALSE(table_.find(at(0x22000), 1));
  EXPECT_FALSE(table_.find(at(0x20010), SIZE_MAX));
  EXPECT_FALSE(table_.find(nullptr, 0));
}

TEST_F(RegionTableTest, FindsThePartThatIsInside) {
  const RegionId id = add(0x20000, 0x2000);
  const auto part = table_.find_part(at(0x1ff00), 0x3000);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->slice.id, id);
  EXPECT_EQ(part->slice.offset, 0u);
  EXPECT_EQ(part->head, 0x100u);
  EXPECT_EQ(part->bytes, 0x2000u);
  const auto end = table_.find_part(at(0x21f00), 0x1000);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->slice.offset, 0x1f00u);
  EXPECT_EQ(end->head, 0u);
  EXPECT_EQ(end->bytes, 0x100u);
  EXPECT_FALSE(table_.find_part(at(0x1ff00), 0x100));
  EXPECT_FALSE(table_.find_part(at(0x22000), 0x100));
  EXPECT_FALSE(table_.find_part(at(0x21000), 0));
}

TEST_F(RegionTableTest, RefusesOverlapAndSaysWithWhat) {
  add(0x20000, 0x2000);
  for (const auto& [address, bytes] :
       {std::pair<std::uintptr_t, std::size_t>{0x1f000, 0x1001}, {0x21fff, 1}, {0x20000, 0x2000}}) {
    const auto id = table_.add(at(address), bytes, segment_->fd(), RegionKind::allocated);
    ASSERT_FALSE(id);
    EXPECT_EQ(id.error().code, Code::invalid_argument);
    EXPECT_THAT(id.error().message, HasSubstr("0x20000"));
  }
  add(0x1f000, 0x1000);
  add(0x22000, 0x1000);
}

TEST_F(RegionTableTest, IdsAreNeverUsedAgain) {
  RegionId newest = 0;
  for (int i = 0; i < 100; ++i) {
    const RegionId id = add(0x20000, 0x1000);
    EXPECT_GT(id, newest);
    newest = id;
    ASSERT_TRUE(table_.remove(id));
    EXPECT_FALSE(table_.find(at(0x20000), 1));
  }
  EXPECT_FALSE(table_.remove(newest));
  EXPECT_FALSE(table_.get(newest));
  EXPECT_FALSE(table_.export_region(newest));
}

TEST_F(RegionTableTest, RemovalGivesPagesBackAndAStaleMappingReadsZeros) {
  segment_->data()[0] = std::byte{1};
  const auto id =
      table_.add(segment_->data(), segment_->bytes(), segment_->fd(), RegionKind::allocated);
  ASSERT_TRUE(id);
  auto exported = table_.export_region(*id);
  ASSERT_TRUE(exported);
  EXPECT_EQ(exported->bytes, segment_->bytes());
  const auto peer = PeerMapping::map(std::move(exported->fd), exported->bytes, Access::read);
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->data()[0], std::byte{1});
  ASSERT_TRUE(table_.remove(*id));
  struct stat status {};
  ASSERT_EQ(::fstat(segment_->fd(), &status), 0);
  EXPECT_EQ(status.st_blocks, 0);
  EXPECT_EQ(peer->data()[0], std::byte{0});
}

TEST_F(RegionTableTest, ManyRegionsInAnyOrder) {
  constexpr std::size_t count = 1000;
  std::vector<std::uintptr_t> places(count);
  for (std::size_t i = 0; i < count; ++i) {
    places[i] = 0x100000 + i * 0x2000;
  }
  std::shuffle(places.begin(), places.end(), std::mt19937(1));
  std::vector<RegionId> ids;
  for (const std::uintptr_t place : places) {
    ids.push_back(add(place, 0x1000));
  }
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(table_.find(at(places[i] + 0xf00), 0x100)->id, ids[i]);
    ASSERT_FALSE(table_.find(at(places[i] + 0xf00), 0x101));
  }
}

// Writers add and remove the same regions all the time; some stand. A reader may miss or hit those
// in motion, but a hit must be right, and those that stand must always be found.
TEST_F(RegionTableTest, ReadersAreRightWhileWritersWrite) {
  constexpr std::uintptr_t standing = 0x100000;
  constexpr std::uintptr_t moving = 0x200000;
  constexpr std::size_t stride = 0x10000;
  std::vector<RegionId> ids;
  for (std::size_t i = 0; i < 8; ++i) {
    ids.push_back(add(standing + i * stride, 0x1000));
  }
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::atomic<std::uint64_t> reads{0};
  std::vector<std::thread> threads;
  for (unsigned reader = 0; reader < 3; ++reader) {
    threads.emplace_back([&, reader] {
      std::mt19937 random(reader);
      while (!stop.load(std::memory_order_relaxed)) {
        const std::size_t i = random() % 8;
        const auto still = table_.find(at(standing + i * stride + 8), 8);
        const auto maybe = table_.find(at(moving + i * stride + i), 8);
        const bool good = still && still->id == ids[i] && still->offset == 8 &&
                          (!maybe || (maybe->offset == i && maybe->id > ids.back()));
        wrong.fetch_add(good ? 0 : 1, std::memory_order_relaxed);
        reads.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  std::vector<std::thread> writers;
  for (std::size_t writer = 0; writer < 2; ++writer) {
    writers.emplace_back([&, writer] {
      for (int round = 0; round < 2000 || reads.load(std::memory_order_relaxed) < 10000; ++round) {
        const auto id = table_.add(at(moving + (4 * writer + round % 4) * stride), 0x1000,
                                   segment_->fd(), RegionKind::allocated);
        wrong.fetch_add(id && table_.remove(*id) ? 0 : 1, std::memory_order_relaxed);
      }
    });
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  stop.store(true, std::memory_order_relaxed);
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong.load(), 0);
}

// The bound is loose (this may run on a busy machine or under a sanitizer); the number is printed.
TEST_F(RegionTableTest, FindCostsNanoseconds) {
  for (std::size_t i = 0; i < 16; ++i) {
    add(0x100000 + i * 0x10000, 0x1000);
  }
  constexpr std::size_t rounds = 1'000'000;
  std::uint64_t found = 0;
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < rounds; ++i) {
    found += table_.find(at(0x100000 + (i % 16) * 0x10000 + 64), 64)->offset;
  }
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(found, 64 * rounds);
  std::printf("find among 16 regions: %.1f ns\n", spent.count() / rounds);
  EXPECT_LT(spent.count() / rounds, 1000);
}

}  // namespace
}  // namespace gyre
