// SPDX-License-Identifier: Apache-2.0
#include "memory/shared_segment.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/memory/process_state.h"

namespace gyre {
namespace {

using ::testing::HasSubstr;

UniqueFd duplicate(int fd) {
  return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

UniqueFd unsealed_memfd(std::size_t bytes, int seals) {
  UniqueFd fd(::memfd_create("foreign", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
  if (seals != 0) {
    EXPECT_EQ(::fcntl(fd.get(), F_ADD_SEALS, seals), 0);
  }
  return fd;
}

TEST(SharedSegment, IsZeroedWholePagesAndCommitted) {
  const auto segment = SharedSegment::create(3 * page_bytes() + 1, "test");
  ASSERT_TRUE(segment) << segment.error().message;
  EXPECT_EQ(segment->bytes(), 4 * page_bytes());
  EXPECT_TRUE(std::all_of(segment->data(), segment->data() + segment->bytes(),
                          [](std::byte byte) { return byte == std::byte{0}; }));
  struct stat status {};
  ASSERT_EQ(::fstat(segment->fd(), &status), 0);
  EXPECT_EQ(static_cast<std::size_t>(status.st_blocks) * 512, segment->bytes());
}

TEST(SharedSegment, NobodyCanShrinkOrGrowOrUnseal) {
  const auto segment = SharedSegment::create(2 * page_bytes(), "test");
  ASSERT_TRUE(segment);
  EXPECT_NE(::ftruncate(segment->fd(), 0), 0);
  EXPECT_EQ(errno, EPERM);
  EXPECT_NE(::ftruncate(segment->fd(), static_cast<off_t>(4 * page_bytes())), 0);
  EXPECT_EQ(errno, EPERM);
  EXPECT_NE(::fcntl(segment->fd(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  EXPECT_EQ(errno, EPERM);
}

TEST(SharedSegment, IsNotInheritedByExec) {
  const auto segment = SharedSegment::create(1, "test");
  ASSERT_TRUE(segment);
  EXPECT_EQ(::fcntl(segment->fd(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(SharedSegment, LargeOnesBeginWhereHugePagesCan) {
  const auto segment = SharedSegment::create((std::size_t{4} << 20) + 1, "test");
  ASSERT_TRUE(segment);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(segment->data()) % (std::size_t{2} << 20), 0u);
}

TEST(SharedSegment, RefusesSizesThatCannotBe) {
  for (const std::size_t bytes : {std::size_t{0}, SIZE_MAX, SIZE_MAX / 2}) {
    const auto segment = SharedSegment::create(bytes, "test");
    ASSERT_FALSE(segment);
    EXPECT_EQ(segment.error().code, Code::invalid_argument);
  }
}

TEST(SharedSegment, MoreThanTheMachineHasIsAnErrorThatNamesBothSizes) {
  const std::size_t descriptors = test::open_descriptors();
  const auto segment = SharedSegment::create(std::size_t{1} << 50, "test");
  ASSERT_FALSE(segment);
  EXPECT_EQ(segment.error().code, Code::system_error);
  EXPECT_THAT(segment.error().message, HasSubstr("1.0 PiB"));
  EXPECT_THAT(segment.error().message, HasSubstr("leaves"));
  EXPECT_EQ(test::open_descriptors(), descriptors);
}

TEST(SharedSegment, FileSizeLimitIsAnErrorAndNoSignal) {
  EXPECT_EQ(test::in_child([] {
              const rlimit limit{1 << 20, 1 << 20};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              const auto segment = SharedSegment::create(std::size_t{2} << 20, "test");
              const bool told =
                  !segment && segment.error().message.find("ulimit -f") != std::string::npos;
              return told && SharedSegment::create(std::size_t{1} << 20, "test") ? 0 : 1;
            }),
            0);
}

TEST(SharedSegment, AddressSpaceLimitIsAnError) {
  if (test::sanitized) {
    GTEST_SKIP() << "a sanitizer needs its address space";
  }
  EXPECT_EQ(test::in_child([] {
              const rlimit limit{std::size_t{512} << 20, std::size_t{512} << 20};
              ::setrlimit(RLIMIT_AS, &limit);
              const auto segment = SharedSegment::create(std::size_t{600} << 20, "test");
              return !segment && segment.error().code == Code::system_error ? 0 : 1;
            }),
            0);
}

// From here on the kernel answers fallocate with `error_number`, as it does when memory is short.
bool make_fallocate_fail(int error_number) {
  const std::array<sock_filter, 4> program{{
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_fallocate},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | static_cast<unsigned>(error_number)},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  }};
  const sock_fprog filter{program.size(), const_cast<sock_filter*>(program.data())};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(SharedSegment, FailingAllocationIsAnErrorWithSizesAndAdvice) {
  for (const int error_number : {ENOSPC, ENOMEM}) {
    EXPECT_EQ(test::in_child([error_number] {
                if (!make_fallocate_fail(error_number)) {
                  return 2;
                }
                const std::size_t descriptors = test::open_descriptors();
                const auto segment = SharedSegment::create(std::size_t{3} << 20, "test");
                const bool told =
                    !segment && segment.error().code == Code::system_error &&
                    segment.error().message.find("fallocate") != std::string::npos &&
                    segment.error().message.find("3145728 bytes") != std::string::npos &&
                    segment.error().message.find("raise the memory limit") != std::string::npos;
                return told && test::open_descriptors() == descriptors ? 0 : 1;
              }),
              0);
  }
}

// A control group with 32 MiB, made for the test.
class SmallGroup {
 public:
  SmallGroup() {
    for (const char* mount : {"/sys/fs/cgroup/memory", "/sys/fs/cgroup"}) {
      folder_ = std::string(mount) + "/gyre-test-" + std::to_string(::getpid());
      const bool v1 = std::string_view(mount).ends_with("memory");
      if (::mkdir(folder_.c_str(), 0755) == 0) {
        made_ = true;
        if (write(v1 ? "memory.limit_in_bytes" : "memory.max", std::size_t{32} << 20)) {
          usable_ = true;
          return;
        }
        ::rmdir(folder_.c_str());
        made_ = false;
      }
    }
  }
  ~SmallGroup() {
    if (made_) {
      ::rmdir(folder_.c_str());
    }
  }
  [[nodiscard]] bool usable() const { return usable_; }
  bool enter() const { return write("cgroup.procs", static_cast<std::size_t>(::getpid())); }

 private:
  bool write(const char* file, std::size_t value) const {
    std::FILE* open = std::fopen((folder_ + "/" + file).c_str(), "w");
    if (open == nullptr) {
      return false;
    }
    const bool printed = std::fprintf(open, "%zu\n", value) > 0;
    return std::fclose(open) == 0 && printed;
  }

  std::string folder_;
  bool made_ = false;
  bool usable_ = false;
};

TEST(SharedSegment, SmallContainerIsAnErrorAndNoKill) {
  if (test::sanitized) {
    GTEST_SKIP() << "a sanitizer needs more memory than the group has";
  }
  const SmallGroup group;
  if (!group.usable()) {
    GTEST_SKIP() << "no memory control group can be made here (needs root and a writable "
                    "/sys/fs/cgroup)";
  }
  EXPECT_EQ(test::in_child([&group] {
              if (!group.enter()) {
                return 2;
              }
              const auto segment = SharedSegment::create(std::size_t{64} << 20, "test");
              const bool told =
                  !segment && segment.error().message.find("control group") != std::string::npos;
              return told && SharedSegment::create(std::size_t{8} << 20, "test") ? 0 : 1;
            }),
            0);
}

std::atomic<int> alarms{0};

TEST(SharedSegment, ComesToAnEndUnderATimerOfSignals) {
  struct sigaction action {};
  action.sa_handler = [](int) { alarms.fetch_add(1, std::memory_order_relaxed); };
  struct sigaction before {};
  ASSERT_EQ(::sigaction(SIGALRM, &action, &before), 0);
  const itimerval every{{0, 200}, {0, 200}};
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &every, nullptr);
  const auto segment = SharedSegment::create(std::size_t{64} << 20, "test");
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  ASSERT_TRUE(segment) << segment.error().message;
  EXPECT_GT(alarms.load(), 0);
}

TEST(SharedSegment, AThousandLeaveNothing) {
  ASSERT_TRUE(SharedSegment::create(1 << 16, "warm up"));
  const std::size_t descriptors = test::open_descriptors();
  const std::size_t maps = test::mappings();
  for (int i = 0; i < 1000; ++i) {
    auto segment = SharedSegment::create(1 << 16, "test");
    ASSERT_TRUE(segment);
    const auto mapping = PeerMapping::map(duplicate(segment->fd()), 1 << 16, Access::read_write);
    ASSERT_TRUE(mapping);
    SharedSegment moved = std::move(*segment);
    ASSERT_EQ(moved.bytes(), std::size_t{1} << 16);
  }
  EXPECT_EQ(test::open_descriptors(), descriptors);
  if (!test::sanitized) {
    EXPECT_LE(test::mappings(), maps + 1);
  }
}

TEST(SharedSegment, AKilledProcessLeavesNothingBehind) {
  const std::size_t before = test::entries_of("/dev/shm");
  EXPECT_EQ(test::in_child([] {
              const auto segment = SharedSegment::create(1 << 20, "test");
              std::memset(segment->data(), 1, segment->bytes());
              ::kill(::getpid(), SIGKILL);
              return 0;
            }),
            -SIGKILL);
  EXPECT_EQ(test::entries_of("/dev/shm"), before);
}

TEST(SharedSegment, ForkSharesOrExcludesAsAsked) {
  const auto excluded = SharedSegment::create(page_bytes(), "test", Fork::exclude);
  const auto shared = SharedSegment::create(page_bytes(), "test", Fork::share);
  ASSERT_TRUE(excluded && shared);
  EXPECT_EQ(test::in_child([&shared] {
              shared->data()[0] = std::byte{7};
              return 0;
            }),
            0);
  EXPECT_EQ(shared->data()[0], std::byte{7});
  // mincore says whether anything is mapped there, without touching it.
  EXPECT_EQ(
      test::in_child([&excluded] {
        unsigned char present = 0;
        return ::mincore(excluded->data(), page_bytes(), &present) != 0 && errno == ENOMEM ? 0 : 1;
      }),
      0);
}

TEST(PeerMapping, SeesAndWritesTheSameBytes) {
  const auto segment = SharedSegment::create(page_bytes(), "test");
  ASSERT_TRUE(segment);
  segment->data()[5] = std::byte{42};
  const auto mapping =
      PeerMapping::map(duplicate(segment->fd()), segment->bytes(), Access::read_write);
  ASSERT_TRUE(mapping) << mapping.error().message;
  EXPECT_NE(mapping->data(), segment->data());
  EXPECT_EQ(mapping->data()[5], std::byte{42});
  mapping->data()[6] = std::byte{43};
  EXPECT_EQ(segment->data()[6], std::byte{43});
  EXPECT_FALSE(mapping->is_local());
}

TEST(PeerMapping, OutlivesTheOwner) {
  auto segment = SharedSegment::create(page_bytes(), "test");
  ASSERT_TRUE(segment);
  segment->data()[0] = std::byte{9};
  const auto mapping = PeerMapping::map(std::move(*segment).take_fd(), page_bytes(), Access::read);
  ASSERT_TRUE(mapping);
  EXPECT_EQ(mapping->data()[0], std::byte{9});
}

TEST(PeerMapping, RefusesWhatCouldBeCutShort) {
  const std::size_t bytes = 4 * page_bytes();
  for (const int seals : {0, F_SEAL_SHRINK, F_SEAL_GROW}) {
    const auto mapping = PeerMapping::map(unsealed_memfd(bytes, seals), bytes, Access::read);
    ASSERT_FALSE(mapping);
    EXPECT_THAT(mapping.error().message, HasSubstr("sealed against shrinking"));
  }
  const UniqueFd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(PeerMapping::map(duplicate(file.get()), bytes, Access::read));
  EXPECT_FALSE(PeerMapping::map(UniqueFd(), bytes, Access::read));
}

TEST(PeerMapping, RefusesAnotherSize) {
  const auto segment = SharedSegment::create(2 * page_bytes(), "test");
  ASSERT_TRUE(segment);
  for (const std::size_t bytes : {page_bytes(), 3 * page_bytes(), std::size_t{0}}) {
    const auto mapping = PeerMapping::map(duplicate(segment->fd()), bytes, Access::read);
    ASSERT_FALSE(mapping);
    EXPECT_THAT(mapping.error().message, HasSubstr("8192 bytes"));
  }
}

TEST(PeerMapping, LocalOneKeepsItsOwnerAlive) {
  auto created = SharedSegment::create(page_bytes(), "test");
  ASSERT_TRUE(created);
  auto segment = std::make_shared<const SharedSegment>(std::move(*created));
  const std::weak_ptr<const SharedSegment> watch = segment;
  {
    PeerMapping mapping = PeerMapping::local(segment, segment->data(), segment->bytes());
    segment.reset();
    EXPECT_FALSE(watch.expired());
    EXPECT_TRUE(mapping.is_local());
    mapping.data()[0] = std::byte{1};
  }
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace gyre
