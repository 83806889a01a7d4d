// SPDX-License-Identifier: Apache-2.0
#include "memory/shared_segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "memory/memory_room.h"

namespace gyre {
namespace {

// Of newer kernels than the headers we build with; see memfd_create(2) and madvise(2).
constexpr unsigned mfd_noexec_seal = 0x0008U;  // Linux 6.3
constexpr int madv_populate_read = 22;         // Linux 5.14
constexpr int madv_populate_write = 23;        // Linux 5.14

// The page size of the middle level on x86-64 and on aarch64 with 4 KiB pages. Elsewhere it is only
// an alignment that does no harm.
constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

constexpr int required_seals = F_SEAL_SHRINK | F_SEAL_GROW;

Result<UniqueFd> open_memfd(const std::string& name) {
  // Not executable: some systems refuse a memfd that could be (sysctl vm.memfd_noexec), older
  // kernels do not know the flag.
  int fd = ::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING | mfd_noexec_seal);
  if (fd < 0 && errno == EINVAL) {
    fd = ::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  }
  if (fd < 0) {
    Unexpected failure = system_failure("memfd_create");
    failure.value().message +=
        errno == EMFILE || errno == ENFILE
            ? ". Each shared segment needs a file descriptor: raise the limit (`ulimit -n`)."
            : ". Shared memory between processes needs it (Linux 3.17 or newer, not forbidden by "
              "a seccomp filter).";
    return failure;
  }
  return UniqueFd(fd);
}

Unexpected no_memory(std::size_t bytes, std::string_view call, int error_number) {
  Unexpected failure = system_failure(call, error_number);
  const auto room = read_memory_room();
  failure.value().message += fmt::format(
      ", for shared memory of {} ({} bytes){}. Use smaller buffers or fewer ranks on this host, or "
      "raise the memory limit of the job or container.",
      readable_bytes(bytes), bytes,
      room ? fmt::format("; {} leaves {}", room->source, readable_bytes(room->bytes)) : "");
  return failure;
}

// In pieces that halve when a signal comes: an interrupted fallocate gives back all that the call
// had allocated, so that under a profiler's timer one large call might never get through.
Status commit(int fd, std::size_t bytes) {
  constexpr std::size_t largest_piece = std::size_t{16} << 20;
  std::size_t piece = largest_piece;
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t length = std::min(piece, bytes - done);
    if (::fallocate(fd, 0, static_cast<off_t>(done), static_cast<off_t>(length)) == 0) {
      done += length;
    } else if (errno == EINTR) {
      piece = std::max(piece / 2, page_bytes());
    } else {
      return no_memory(bytes, "fallocate", errno);
    }
  }
  return {};
}

// Large mappings begin at a multiple of the huge page, as their file offset 0 does: only then can
// the kernel map huge pages of the file.
Result<std::byte*> map_shared(int fd, std::size_t bytes, int protection) {
  const std::size_t slack = bytes >= huge_page_bytes ? huge_page_bytes : 0;
  void* reserved =
      ::mmap(nullptr, bytes + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) {
    return no_memory(bytes, "mmap", errno);
  }
  auto* begin = static_cast<std::byte*>(reserved);
  const std::size_t above = reinterpret_cast<std::uintptr_t>(begin) % huge_page_bytes;
  std::byte* target = slack > 0 && above > 0 ? begin + (huge_page_bytes - above) : begin;
  void* mapped = ::mmap(target, bytes, protection, MAP_SHARED | MAP_FIXED, fd, 0);
  const int error_number = errno;
  if (mapped == MAP_FAILED) {
    ::munmap(reserved, bytes + slack);
    return no_memory(bytes, "mmap", error_number);
  }
  if (target > begin) {
    ::munmap(begin, static_cast<std::size_t>(target - begin));
  }
  if (const auto rest = static_cast<std::size_t>(begin + slack - target); rest > 0) {
    ::munmap(target + bytes, rest);
  }
  return target;
}

// Where the system hands out huge pages on request, whole ones are asked for, so that no memory is
// spent beyond the segment's end. Then all pages are brought in at once, which costs a fraction
// of as many page faults. Both are only hints: commit() is what guarantees the memory.
void populate(std::byte* data, std::size_t bytes) {
  const std::size_t whole = bytes / huge_page_bytes * huge_page_bytes;
  if (whole > 0) {
    ::madvise(data, whole, MADV_HUGEPAGE);
  }
  ::madvise(data, bytes, madv_populate_write);
}

Status check_peer_memfd(int fd, std::size_t bytes) {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & required_seals) != required_seals) {
    return fail(
        Code::remote_error,
        fmt::format(
            "The peer sent a descriptor that is {}, where a memfd sealed against shrinking "
            "and growing was expected. It was not mapped: the peer could cut it short under "
            "us. Do all ranks run the same version of Gyre?",
            seals < 0 ? "no memfd" : fmt::format("a memfd with the seals {:#x}", seals)));
  }
  struct stat status {};
  if (::fstat(fd, &status) != 0) {
    return system_failure("fstat");
  }
  if (static_cast<std::size_t>(status.st_size) != bytes) {
    return fail(Code::remote_error,
                fmt::format("The peer's shared segment has {} bytes where {} were expected. Do all "
                            "ranks run the same version of Gyre with the same settings?",
                            status.st_size, bytes));
  }
  return {};
}

}  // namespace

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

std::size_t round_up_to_pages(std::size_t bytes) {
  return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

Result<SharedSegment> SharedSegment::create(std::size_t bytes, std::string_view name, Fork fork) {
  if (bytes == 0 || bytes > std::numeric_limits<std::ptrdiff_t>::max() / 2) {
    return fail(Code::invalid_argument,
                fmt::format("A shared segment of {} bytes cannot be made.", bytes));
  }
  const std::size_t rounded = round_up_to_pages(bytes);
  GYRE_TRY(check_memory_room(rounded));
  Result<UniqueFd> fd = open_memfd(std::string(name));
  GYRE_TRY(fd);
  if (::ftruncate(fd->get(), static_cast<off_t>(rounded)) != 0) {
    return no_memory(rounded, "ftruncate", errno);
  }
  const Result<std::byte*> data = map_shared(fd->get(), rounded, PROT_READ | PROT_WRITE);
  GYRE_TRY(data);
  SharedSegment segment(std::move(*fd), *data, rounded);
  if (fork == Fork::exclude) {
    ::madvise(segment.data_, rounded, MADV_DONTFORK);
  }
  populate(segment.data_, rounded);
  GYRE_TRY(commit(segment.fd(), rounded));
  if (::fcntl(segment.fd(), F_ADD_SEALS, required_seals | F_SEAL_SEAL) != 0) {
    return system_failure("fcntl(F_ADD_SEALS)");
  }
  return segment;
}

SharedSegment::SharedSegment(UniqueFd fd, std::byte* data, std::size_t bytes)
    : fd_(std::move(fd)), data_(data), bytes_(bytes) {}

SharedSegment::SharedSegment(SharedSegment&& other) noexcept
    : fd_(std::move(other.fd_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

SharedSegment& SharedSegment::operator=(SharedSegment&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedSegment::~SharedSegment() {
  if (data_ != nullptr) {
    ::munmap(data_, bytes_);
  }
}

UniqueFd SharedSegment::take_fd() && {
  if (data_ != nullptr) {
    ::munmap(std::exchange(data_, nullptr), std::exchange(bytes_, 0));
  }
  return std::move(fd_);
}

Result<PeerMapping> PeerMapping::map(UniqueFd fd, std::size_t bytes, Access access) {
  GYRE_TRY(check_peer_memfd(fd.get(), bytes));
  const bool writes = access == Access::read_write;
  const Result<std::byte*> data =
      map_shared(fd.get(), bytes, writes ? PROT_READ | PROT_WRITE : PROT_READ);
  GYRE_TRY(data);
  PeerMapping mapping;
  mapping.data_ = *data;
  mapping.bytes_ = bytes;
  mapping.unmap_ = true;
  // A child must not keep the peer's memory alive.
  ::madvise(*data, bytes, MADV_DONTFORK);
  // The pages are there already; this fills the page table at once (a hint).
  ::madvise(*data, bytes, writes ? madv_populate_write : madv_populate_read);
  return mapping;
}

PeerMapping PeerMapping::local(std::shared_ptr<const void> owner, std::byte* data,
                               std::size_t bytes) {
  PeerMapping mapping;
  mapping.owner_ = std::move(owner);
  mapping.data_ = data;
  mapping.bytes_ = bytes;
  return mapping;
}

PeerMapping::PeerMapping(PeerMapping&& other) noexcept
    : owner_(std::move(other.owner_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      unmap_(std::exchange(other.unmap_, false)) {}

PeerMapping& PeerMapping::operator=(PeerMapping&& other) noexcept {
  std::swap(owner_, other.owner_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(unmap_, other.unmap_);
  return *this;
}

PeerMapping::~PeerMapping() {
  if (unmap_) {
    ::munmap(data_, bytes_);
  }
}

}  // namespace gyre
