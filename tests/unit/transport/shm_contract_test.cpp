// SPDX-License-Identifier: Apache-2.0
// Shared memory against the contract, and what it promises beyond: mapped regions, and peers in
// other processes.
#include <gmock/gmock.h>

#include "unit/memory/process_state.h"
#include "unit/support/local_cluster.h"
#include "unit/transport/contract_suite.h"

namespace gyre::shm {
namespace {

using test::LocalCluster;
using testing::HasSubstr;
using transport::Contract;
using transport::Shape;

class ShmPair final : public transport::Pair {
 public:
  ShmPair(const Shape& shape, std::uint64_t messages_before)
      : cluster_(3, shape, messages_before) {}
  // Ranks 2 and 1 of 3: inboxes that are not the first.
  transport::Connection& left() override { return cluster_.connection(2, 1); }
  transport::Connection& right() override { return cluster_.connection(1, 2); }

 private:
  LocalCluster cluster_;
};

INSTANTIATE_TEST_SUITE_P(Shm, Contract,
                         testing::Values(transport::TransportUnderTest{
                             "shm",
                             [](const Shape& shape, std::uint64_t messages_before) {
                               return std::make_unique<ShmPair>(shape, messages_before);
                             }}),
                         [](const auto& each) { return each.param.name; });

TEST(ShmConnection, SaysThatItMaps) {
  const LocalCluster cluster(2, {});
  EXPECT_TRUE(cluster.connection(0, 1).capabilities().mapped);
  EXPECT_EQ(cluster.connection(0, 1).capabilities().name, "shm");
}

TEST(ShmConnection, TheReceiverReadsWhatTheSenderWroteWithoutACopy) {
  const LocalCluster cluster(2, {});
  std::byte* const slot = cluster.connection(0, 1).slot_to_fill(3);
  cluster.connection(0, 1).put(3, 1, 7);
  const std::byte* message = nullptr;
  ASSERT_EQ(cluster.connection(1, 0).arrived(3, 7, &message), transport::Arrival::ready);
  EXPECT_EQ(message, slot);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slot) % cache_line, 0U);
}

class ShmMap : public testing::Test {
 protected:
  static constexpr std::size_t bytes = 4096;

  transport::Connection& connection() { return cluster_.connection(0, 1); }
  void expect_refused(transport::RemoteSlice slice, std::size_t length) {
    const auto mapped = connection().map(slice, length);
    ASSERT_FALSE(mapped) << slice.offset << " + " << length;
    EXPECT_EQ(mapped.error().code, Code::internal_error);
    EXPECT_THAT(mapped.error().message, HasSubstr("region 7"));
  }

  std::vector<std::byte> region_ = std::vector<std::byte>(bytes);
  int imports_ = 0;
  LocalCluster cluster_{
      2, {}, 0, Fork::exclude, [this](int owner, std::uint64_t id) -> Result<MappedRegion> {
        ++imports_;
        if (owner != 1 || id != 7) {
          return fail(Code::remote_error, "no such region");
        }
        return MappedRegion{region_.data(), region_.size()};
      }};
};

TEST_F(ShmMap, FindsAPlaceInARegionAndImportsItOnce) {
  for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, bytes - 1, bytes}) {
    const auto mapped = connection().map({7, offset}, bytes - offset);
    ASSERT_TRUE(mapped) << mapped.error().message;
    EXPECT_EQ(*mapped, region_.data() + offset);
  }
  EXPECT_EQ(imports_, 1);
}

TEST_F(ShmMap, RefusesWhatLiesBeyondTheRegion) {
  constexpr std::uint64_t most = ~std::uint64_t{0};
  expect_refused({7, 0}, bytes + 1);
  expect_refused({7, 1}, bytes);
  expect_refused({7, bytes}, 1);
  expect_refused({7, bytes + 1}, 0);
  expect_refused({7, most}, 1);       // offset + length wraps to 0
  expect_refused({7, most - 9}, 20);  // wraps into the region
  expect_refused({7, 8}, most - 7);
  EXPECT_TRUE(connection().map({7, 0}, bytes)) << "a refusal changes nothing";
}

TEST_F(ShmMap, AFailedImportIsNotRemembered) {
  EXPECT_FALSE(connection().map({8, 0}, 1));
  EXPECT_FALSE(connection().map({8, 0}, 1));
  EXPECT_EQ(imports_, 2);
}

// The same bytes through another process, for there all is mapped, and scheduled, apart.
TEST(ShmConnection, WorksBetweenProcesses) {
  const LocalCluster cluster(2, {.channels = 2, .slots = 2, .slot_bytes = 192, .inline_bytes = 100},
                             0, Fork::share);
  const auto work = [&](int rank) {
    transport::Connection& mine = cluster.connection(rank, 1 - rank);
    for (int i = 0; i < 400; ++i) {
      const int channel = i % 2;
      std::byte* slot = nullptr;
      while ((slot = mine.slot_to_fill(channel)) == nullptr) {
        std::this_thread::yield();
      }
      std::memset(slot, i + rank, 192);
      mine.put(channel, 192, 1);
      const std::byte* message = nullptr;
      while (mine.arrived(channel, 1, &message) != transport::Arrival::ready) {
        std::this_thread::yield();
      }
      const auto expected = static_cast<std::byte>(i + 1 - rank);
      if (!std::all_of(message, message + 192, [&](std::byte b) { return b == expected; })) {
        return false;
      }
      mine.release(channel);
      std::byte word[60];
      std::memset(word, i, sizeof(word));
      mine.put_inline(word, 2);
      while (transport::copy_inline(mine, word, 2) != transport::Arrival::ready) {
        std::this_thread::yield();
      }
      if (word[59] != static_cast<std::byte>(i)) {
        return false;
      }
    }
    return true;
  };
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(work(1) ? 0 : 1);
  }
  EXPECT_TRUE(work(0));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace gyre::shm
