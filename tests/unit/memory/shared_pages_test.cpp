// SPDX-License-Identifier: Apache-2.0
#include "memory/shared_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/address_space.h"
#include "memory/shared_segment.h"
#include "unit/memory/process_state.h"

namespace gyre {
namespace {

using ::testing::HasSubstr;

// Private anonymous pages with random contents.
class Pages {
 public:
  explicit Pages(std::size_t count, int protection = PROT_READ | PROT_WRITE)
      : bytes_(count * page_bytes()) {
    void* mapped = ::mmap(nullptr, bytes_, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(mapped, MAP_FAILED);
    data_ = static_cast<std::byte*>(mapped);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { ::munmap(data_, bytes_); }

  std::vector<std::byte> fill(unsigned seed) {
    std::mt19937 random(seed);
    for (std::size_t i = 0; i < bytes_; ++i) {
      data_[i] = static_cast<std::byte>(random());
    }
    return contents();
  }
  [[nodiscard]] std::vector<std::byte> contents() const { return {data_, data_ + bytes_}; }
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

PeerMapping peer_of(const SharedInPlace& shared) {
  auto mapping = PeerMapping::map(UniqueFd(::fcntl(shared.fd(), F_DUPFD_CLOEXEC, 0)),
                                  shared.bytes(), Access::read_write);
  EXPECT_TRUE(mapping);
  return std::move(*mapping);
}

std::string permissions_at(const void* address) {
  return mapped_ranges(address, 1)->at(0).permissions;
}

TEST(SharedInPlace, KeepsContentsAndLetsAPeerWrite) {
  Pages pages(4);
  const auto before = pages.fill(1);
  const auto shared = SharedInPlace::create(pages.data(), pages.bytes());
  ASSERT_TRUE(shared) << shared.error().message;
  EXPECT_EQ(pages.contents(), before);
  EXPECT_EQ(shared->begin(), pages.data());
  EXPECT_EQ(shared->bytes(), pages.bytes());
  const PeerMapping peer = peer_of(*shared);
  EXPECT_EQ(std::memcmp(peer.data(), before.data(), before.size()), 0);
  peer.data()[page_bytes() + 3] = std::byte{99};
  EXPECT_EQ(pages.data()[page_bytes() + 3], std::byte{99});
  pages.data()[0] = std::byte{77};
  EXPECT_EQ(peer.data()[0], std::byte{77});
}

TEST(SharedInPlace, RaggedEdgesStayPrivate) {
  Pages pages(5);
  const auto before = pages.fill(2);
  constexpr std::size_t head_gap = 100;
  constexpr std::size_t tail_gap = 300;
  std::byte* buffer = pages.data() + head_gap;
  const std::size_t size = pages.bytes() - head_gap - tail_gap;
  const auto shared = SharedInPlace::create(buffer, size);
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->begin(), pages.data() + page_bytes());
  EXPECT_EQ(shared->bytes(), 3 * page_bytes());
  EXPECT_EQ(shared->head(), page_bytes() - head_gap);
  EXPECT_EQ(shared->tail(), page_bytes() - tail_gap);
  EXPECT_EQ(shared->head() + shared->bytes() + shared->tail(), size);
  EXPECT_EQ(pages.contents(), before);
  EXPECT_EQ(permissions_at(pages.data()), "rw-p");
  EXPECT_EQ(permissions_at(shared->begin()), "rw-s");
  EXPECT_EQ(permissions_at(pages.data() + 4 * page_bytes()), "rw-p");
}

TEST(SharedInPlace, WithoutAWholePageNothingIsShared) {
  Pages pages(2);
  const auto before = pages.fill(3);
  for (const std::size_t size : {std::size_t{1}, page_bytes() - 1, 2 * page_bytes() - 2}) {
    auto shared = SharedInPlace::create(pages.data() + 1, size);
    ASSERT_TRUE(shared);
    EXPECT_EQ(shared->bytes(), 0u);
    EXPECT_EQ(shared->head(), size);
    EXPECT_TRUE(shared->restore());
  }
  EXPECT_EQ(pages.contents(), before);
  EXPECT_EQ(permissions_at(pages.data()), "rw-p");
}

TEST(SharedInPlace, WorksOnTheHeapAndOnLargeBlocks) {
  // Below and above the size from which malloc maps blocks of their own.
  for (const std::size_t size : {std::size_t{60'000}, std::size_t{5'000'000}}) {
    const std::unique_ptr<unsigned char[]> block(new unsigned char[size]);
    for (std::size_t i = 0; i < size; ++i) {
      block[i] = static_cast<unsigned char>(i * 7);
    }
    auto shared = SharedInPlace::create(block.get(), size);
    ASSERT_TRUE(shared) << shared.error().message;
    EXPECT_GT(shared->bytes(), 0u);
    ASSERT_TRUE(shared->restore());
    for (std::size_t i = 0; i < size; ++i) {
      ASSERT_EQ(block[i], static_cast<unsigned char>(i * 7)) << i;
    }
  }
}

TEST(SharedInPlace, RestoreGivesPrivatePagesWithTheNewestContents) {
  Pages pages(3);
  pages.fill(4);
  auto shared = SharedInPlace::create(pages.data(), pages.bytes());
  ASSERT_TRUE(shared);
  const PeerMapping peer = peer_of(*shared);
  std::memset(peer.data(), 0x5a, peer.bytes());
  ASSERT_TRUE(shared->restore());
  EXPECT_EQ(permissions_at(pages.data()), "rw-p");
  EXPECT_EQ(pages.contents(), std::vector<std::byte>(pages.bytes(), std::byte{0x5a}));
  // A peer that goes on writing reaches the old pages only.
  std::memset(peer.data(), 0x11, peer.bytes());
  EXPECT_EQ(pages.contents(), std::vector<std::byte>(pages.bytes(), std::byte{0x5a}));
  EXPECT_TRUE(shared->restore());
}

TEST(SharedInPlace, DestructionRestores) {
  Pages pages(1);
  const auto before = pages.fill(5);
  { ASSERT_TRUE(SharedInPlace::create(pages.data(), pages.bytes())); }
  EXPECT_EQ(permissions_at(pages.data()), "rw-p");
  EXPECT_EQ(pages.contents(), before);
}

// The abort path: the peer never confirms and never stops.
TEST(SharedInPlace, PatternStandsAlthoughAPeerWritesOn) {
  Pages pages(16);
  pages.fill(6);
  auto shared = SharedInPlace::create(pages.data(), pages.bytes());
  ASSERT_TRUE(shared);
  std::array<int, 2> started{};
  ASSERT_EQ(::pipe(started.data()), 0);
  // As far as a sanitizer can see the child is another process: no data race to report.
  const pid_t writer = ::fork();
  if (writer == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const PeerMapping peer = peer_of(*shared);
    for (std::uint64_t round = 0;; ++round) {
      std::memset(peer.data(), static_cast<int>(round & 0x7f), peer.bytes());
      if (round == 1) {
        const char byte = 1;
        (void)!::write(started[1], &byte, 1);
      }
    }
  }
  char byte = 0;
  ASSERT_EQ(::read(started[0], &byte, 1), 1);
  ASSERT_TRUE(shared->restore());
  for (int round = 0; round < 200; ++round) {
    std::memset(pages.data(), 0x80 | round, pages.bytes());
    std::this_thread::yield();
    ASSERT_EQ(pages.contents(),
              std::vector<std::byte>(pages.bytes(), static_cast<std::byte>(0x80 | round)));
  }
  ::kill(writer, SIGKILL);
  ::waitpid(writer, nullptr, 0);
  ::close(started[0]);
  ::close(started[1]);
}

TEST(SharedInPlace, KeepsProtectionOfPagesThatWereProtectedMeanwhile) {
  Pages pages(2);
  const auto before = pages.fill(7);
  auto shared = SharedInPlace::create(pages.data(), pages.bytes());
  ASSERT_TRUE(shared);
  ASSERT_EQ(::mprotect(pages.data(), pages.bytes(), PROT_READ), 0);
  ASSERT_TRUE(shared->restore());
  EXPECT_EQ(permissions_at(pages.data()), "r--p");
  EXPECT_EQ(pages.contents(), before);
}

// What must not be replaced: the error says why, and the mapping is the same as before.
void expect_refused(void* buffer, std::size_t size, const char* why) {
  const auto before = mapped_ranges(buffer, size);
  const std::size_t descriptors = test::open_descriptors();
  const auto shared = SharedInPlace::create(buffer, size);
  ASSERT_FALSE(shared);
  EXPECT_EQ(shared.error().code, Code::invalid_argument);
  EXPECT_THAT(shared.error().message, HasSubstr(why));
  EXPECT_EQ(*mapped_ranges(buffer, size), *before);
  EXPECT_EQ(test::open_descriptors(), descriptors);
}

TEST(SharedInPlace, RefusesAFileMapping) {
  const UniqueFd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  void* mapped = ::mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE, file.get(), 0);
  ASSERT_NE(mapped, MAP_FAILED);
  expect_refused(mapped, page_bytes(), "maps the file");
  ::munmap(mapped, page_bytes());
}

TEST(SharedInPlace, RefusesReadOnlyPagesEvenAmongOthers) {
  Pages pages(3);
  pages.fill(8);
  ASSERT_EQ(::mprotect(pages.data() + page_bytes(), page_bytes(), PROT_READ), 0);
  expect_refused(pages.data(), pages.bytes(), "cannot be read and written");
}

TEST(SharedInPlace, RefusesAHoleInTheRange) {
  Pages pages(3);
  pages.fill(9);
  ASSERT_EQ(::munmap(pages.data() + page_bytes(), page_bytes()), 0);
  expect_refused(pages.data(), pages.bytes(), "nothing is mapped at");
}

TEST(SharedInPlace, RefusesTheMainStack) {
  const auto ranges = parse_maps(
      [] {
        std::string text;
        std::ifstream maps("/proc/self/maps");
        for (std::string line; std::getline(maps, line);) {
          text += line + "\n";
        }
        return text;
      }(),
      0, UINTPTR_MAX);
  for (const AddressRange& range : ranges) {
    if (range.name == "[stack]") {
      expect_refused(reinterpret_cast<void*>(range.begin), range.end - range.begin, "stack");
      return;
    }
  }
  FAIL() << "no [stack] in /proc/self/maps";
}

TEST(SharedInPlace, RefusesTheCallersOwnThreadStack) {
  std::thread([] {
    std::array<std::byte, 4 * 4096> on_stack{};
    expect_refused(on_stack.data(), on_stack.size(), "stack");
  }).join();
}

TEST(SharedInPlace, RefusesWhatIsSharedAlready) {
  Pages pages(2);
  pages.fill(10);
  const auto shared = SharedInPlace::create(pages.data(), pages.bytes());
  ASSERT_TRUE(shared);
  expect_refused(pages.data(), pages.bytes(), "shared memory already");
  const auto segment = SharedSegment::create(page_bytes(), "test");
  ASSERT_TRUE(segment);
  expect_refused(segment->data(), segment->bytes(), "shared memory already");
}

TEST(SharedInPlace, RefusesNoRange) {
  int local = 0;
  for (const auto& [pointer, size] :
       {std::pair<void*, std::size_t>{nullptr, 4096}, {&local, 0}, {&local, SIZE_MAX}}) {
    const auto shared = SharedInPlace::create(pointer, size);
    ASSERT_FALSE(shared);
    EXPECT_EQ(shared.error().code, Code::invalid_argument);
  }
}

TEST(SharedInPlace, DoesNotReplaceWhatTookThePlaceOfItsPages) {
  Pages pages(2);
  pages.fill(11);
  auto shared = SharedInPlace::create(pages.data(), pages.bytes());
  ASSERT_TRUE(shared);
  // The buffer was freed without deregistering, and somebody else got the addresses.
  void* other = ::mmap(pages.data(), pages.bytes(), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  ASSERT_NE(other, MAP_FAILED);
  const auto theirs = pages.fill(12);
  const Status status = shared->restore();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::invalid_usage);
  EXPECT_THAT(status.error().message, HasSubstr("deregistered"));
  EXPECT_EQ(pages.contents(), theirs);
  shared->abandon();
}

TEST(SharedInPlace, AThousandLeaveNothing) {
  Pages pages(8);
  const auto before = pages.fill(13);
  const auto cycle = [&pages] {
    auto shared = SharedInPlace::create(pages.data() + 1, pages.bytes() - 2);
    ASSERT_TRUE(shared);
    ASSERT_TRUE(shared->restore());
  };
  cycle();
  const std::size_t descriptors = test::open_descriptors();
  const std::size_t maps = test::mappings();
  for (int i = 0; i < 1000; ++i) {
    cycle();
  }
  EXPECT_EQ(pages.contents(), before);
  EXPECT_EQ(test::open_descriptors(), descriptors);
  if (!test::sanitized) {
    EXPECT_LE(test::mappings(), maps + 1);
  }
}

}  // namespace
}  // namespace gyre
