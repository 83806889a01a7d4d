// SPDX-License-Identifier: Apache-2.0
#include "memory/shared_pages.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/log.h"
#include "memory/address_space.h"
#include "memory/shared_segment.h"

namespace gyre {
namespace {

// A mapping that goes away with its scope.
class ScopedMapping {
 public:
  ScopedMapping(void* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  ScopedMapping(const ScopedMapping&) = delete;
  ScopedMapping& operator=(const ScopedMapping&) = delete;
  ~ScopedMapping() {
    if (valid()) {
      ::munmap(data_, bytes_);
    }
  }
  [[nodiscard]] bool valid() const { return data_ != MAP_FAILED; }
  [[nodiscard]] const void* data() const { return data_; }

 private:
  void* data_;
  std::size_t bytes_;
};

bool on_stack_of_caller(std::uintptr_t begin, std::uintptr_t end) {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) {
    return false;
  }
  void* stack = nullptr;
  std::size_t bytes = 0;
  ::pthread_attr_getstack(&attributes, &stack, &bytes);
  ::pthread_attr_destroy(&attributes);
  const auto first = reinterpret_cast<std::uintptr_t>(stack);
  return begin < first + bytes && end > first;
}

// Why these pages must not be replaced; empty when they may be.
std::string objection(const AddressRange& range) {
  if (range.shared()) {
    return fmt::format("is shared memory already ({})",
                       range.name.empty() ? "anonymous" : range.name);
  }
  if (range.inode != 0) {
    return fmt::format("maps the file {}", range.name);
  }
  if (range.name.starts_with("[stack")) {
    return "is a thread's stack";
  }
  if (!range.name.empty() && range.name != "[heap]" && !range.name.starts_with("[anon")) {
    return fmt::format("belongs to the kernel ({})", range.name);
  }
  if ((range.protection() & (PROT_READ | PROT_WRITE)) != (PROT_READ | PROT_WRITE)) {
    return fmt::format("cannot be read and written (it is {})", range.permissions);
  }
  return {};
}

Unexpected refuse(const void* buffer, std::size_t size, std::string_view why) {
  return fail(
      Code::invalid_argument,
      fmt::format("The memory [{}, +{}) cannot be shared in place: {}. Only ordinary memory "
                  "(malloc, new, private anonymous mmap) can; nothing was changed. Take memory "
                  "from gyreMemAlloc, or register this without GYRE_REGISTER_SHARE_IN_PLACE.",
                  buffer, size, why));
}

// The protection of all pages in the range, if they may be replaced.
Result<int> check_replaceable(const std::byte* begin, std::size_t bytes) {
  const Result<std::vector<AddressRange>> ranges = mapped_ranges(begin, bytes);
  GYRE_TRY(ranges);
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t last = first + bytes;
  if (const std::uintptr_t hole = first_hole(*ranges, first, last); hole < last) {
    return refuse(begin, bytes, fmt::format("nothing is mapped at {:#x}", hole));
  }
  for (const AddressRange& range : *ranges) {
    if (const std::string why = objection(range); !why.empty()) {
      return refuse(begin, bytes, fmt::format("{:#x}-{:#x} {}", range.begin, range.end, why));
    }
    if (range.protection() != ranges->front().protection()) {
      return refuse(begin, bytes, "its pages differ in protection");
    }
  }
  if (on_stack_of_caller(first, last)) {
    return refuse(begin, bytes, "it is the calling thread's stack");
  }
  return ranges->front().protection();
}

// The protection of the range, if every page of it still maps `fd` where it should.
Result<int> check_still_shared(const std::byte* begin, std::size_t bytes, int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) {
    return system_failure("fstat");
  }
  const Result<std::vector<AddressRange>> ranges = mapped_ranges(begin, bytes);
  GYRE_TRY(ranges);
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  bool intact = first_hole(*ranges, first, first + bytes) == first + bytes;
  for (const AddressRange& range : *ranges) {
    intact = intact && range.shared() && range.inode == status.st_ino &&
             range.begin - range.offset == first &&
             range.protection() == ranges->front().protection();
  }
  if (!intact) {
    return fail(Code::invalid_usage,
                fmt::format("The memory [{}, +{}) was unmapped, replaced or partly protected while "
                            "it was shared with other ranks; it was left as it is now. Free or "
                            "resize a buffer only after it is deregistered.",
                            static_cast<const void*>(begin), bytes));
  }
  return ranges->front().protection();
}

// After a failed mmap(MAP_FIXED). Kernels before 6.12 take the old pages away first; a failure
// after that leaves a hole.
bool is_hole(const std::byte* begin, std::size_t bytes) {
  const Result<std::vector<AddressRange>> ranges = mapped_ranges(begin, bytes);
  return ranges && ranges->empty();
}

Result<void*> map_private(std::byte* begin, std::size_t bytes) {
  void* mapped =
      ::mmap(begin, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (mapped == MAP_FAILED) {
    return system_failure("mmap");
  }
  return mapped;
}

Unexpected could_not_map(std::string_view doing, std::size_t bytes, Error cause) {
  return fail(Code::system_error,
              fmt::format("{} {} bytes failed: {}. Usually the process has reached "
                          "vm.max_map_count, `ulimit -v` or the memory that the system commits "
                          "(vm.overcommit_memory); the memory keeps its contents.",
                          doing, bytes, cause.message));
}

Unexpected pages_lost(const std::byte* begin, std::size_t bytes, const Error& cause) {
  return fail(Code::internal_error,
              fmt::format("The kernel took the pages [{}, +{}) away and gave none back ({}).",
                          static_cast<const void*>(begin), bytes, cause.message));
}

Status map_over(const SharedSegment& segment, std::byte* begin, std::size_t bytes, int protection) {
  void* mapped = ::mmap(begin, bytes, protection, MAP_SHARED | MAP_FIXED, segment.fd(), 0);
  if (mapped != MAP_FAILED) {
    return {};
  }
  Error cause = system_failure("mmap").value();
  if (is_hole(begin, bytes)) {
    const Result<void*> back = map_private(begin, bytes);
    if (!back) {
      return pages_lost(begin, bytes, back.error());
    }
    std::memcpy(begin, segment.data(), bytes);
  }
  return could_not_map("Sharing in place", bytes, std::move(cause));
}

}  // namespace

Status make_private(std::byte* begin, std::size_t bytes, int fd) {
  const Result<int> protection = check_still_shared(begin, bytes, fd);
  GYRE_TRY(protection);
  // The way to the old pages once they are no longer at `begin`.
  const ScopedMapping old(::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0), bytes);
  if (!old.valid()) {
    return could_not_map("Taking back shared memory of", bytes, system_failure("mmap").value());
  }
  if (Result<void*> mapped = map_private(begin, bytes); !mapped) {
    if (is_hole(begin, bytes) &&
        ::mmap(begin, bytes, *protection, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
      return pages_lost(begin, bytes, mapped.error());
    }
    return could_not_map("Taking back shared memory of", bytes, std::move(mapped).error());
  }
  std::memcpy(begin, old.data(), bytes);
  if (*protection != (PROT_READ | PROT_WRITE)) {
    ::mprotect(begin, bytes, *protection);
  }
  return {};
}

Result<SharedInPlace> SharedInPlace::create(void* buffer, std::size_t size) {
  const auto first = reinterpret_cast<std::uintptr_t>(buffer);
  if (buffer == nullptr || size == 0 || size > UINTPTR_MAX - first - page_bytes()) {
    return refuse(buffer, size, "it is no range of memory");
  }
  SharedInPlace shared;
  const std::size_t head = round_up_to_pages(first) - first;
  if (head >= size || (size - head) < page_bytes()) {
    shared.head_ = size;
    return shared;
  }
  std::byte* begin = static_cast<std::byte*>(buffer) + head;
  const std::size_t bytes = (size - head) / page_bytes() * page_bytes();
  const Result<int> protection = check_replaceable(begin, bytes);
  GYRE_TRY(protection);
  Result<SharedSegment> segment = SharedSegment::create(bytes, "gyre-in-place");
  GYRE_TRY(segment);
  std::memcpy(segment->data(), begin, bytes);
  GYRE_TRY(map_over(*segment, begin, bytes, *protection));
  shared.fd_ = std::move(*segment).take_fd();
  shared.begin_ = begin;
  shared.bytes_ = bytes;
  shared.head_ = head;
  shared.tail_ = size - head - bytes;
  return shared;
}

SharedInPlace::SharedInPlace(SharedInPlace&& other) noexcept
    : fd_(std::move(other.fd_)),
      begin_(std::exchange(other.begin_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      head_(std::exchange(other.head_, 0)),
      tail_(std::exchange(other.tail_, 0)) {}

SharedInPlace::~SharedInPlace() {
  if (const Status status = restore(); !status) {
    log::warn(log::Subsystem::reg, "{}", status.error().message);
  }
}

Status SharedInPlace::restore() {
  if (fd_.valid()) {
    GYRE_TRY(make_private(begin_, bytes_, fd_.get()));
    fd_.reset();
  }
  return {};
}

}  // namespace gyre
