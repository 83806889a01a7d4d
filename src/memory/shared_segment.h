// SPDX-License-Identifier: Apache-2.0
// Memory that another process can map: a sealed memfd and this process's mapping of it.
//
// Nothing here touches /dev/shm: a memfd has no name, so it can neither be left behind by a crash
// nor run into the size of that mount. Its pages are allocated before anybody sees it and its size
// is sealed, so no access through any mapping of it can raise SIGBUS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/status.h"
#include "base/unique_fd.h"

namespace gyre {

[[nodiscard]] std::size_t page_bytes();
// `bytes` rounded up to whole pages.
[[nodiscard]] std::size_t round_up_to_pages(std::size_t bytes);

enum class Fork : std::uint8_t {
  exclude,  // a child has no mapping here: it cannot keep the memory alive, nor disturb it
  share,    // a child sees the same pages, as with any MAP_SHARED memory
};

class SharedSegment {
 public:
  // Zeroed, committed memory of at least `bytes` bytes (whole pages); `name` shows in
  // /proc/PID/maps as memfd:<name>.
  static Result<SharedSegment> create(std::size_t bytes, std::string_view name,
                                      Fork fork = Fork::exclude);

  SharedSegment(SharedSegment&& other) noexcept;
  SharedSegment& operator=(SharedSegment&& other) noexcept;
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;
  ~SharedSegment();

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] int fd() const { return fd_.get(); }

  // Unmaps and hands over the descriptor.
  [[nodiscard]] UniqueFd take_fd() &&;

 private:
  SharedSegment(UniqueFd fd, std::byte* data, std::size_t bytes);

  UniqueFd fd_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

enum class Access : std::uint8_t { read, read_write };

// This process's view of a peer's segment. Within one process it is the owner's mapping itself,
// kept alive by a shared owner: one mapping is what a thread sanitizer can follow.
class PeerMapping {
 public:
  // Maps a descriptor that came from another process, after checking that it is a memfd of exactly
  // `bytes` bytes that nobody can shrink. The descriptor is closed.
  static Result<PeerMapping> map(UniqueFd fd, std::size_t bytes, Access access);
  // The peer lives in this process. `owner` is held as long as this object lives; may be null for
  // memory whose lifetime the user promises (a registered region).
  static PeerMapping local(std::shared_ptr<const void> owner, std::byte* data, std::size_t bytes);

  PeerMapping() = default;
  PeerMapping(PeerMapping&& other) noexcept;
  PeerMapping& operator=(PeerMapping&& other) noexcept;
  PeerMapping(const PeerMapping&) = delete;
  PeerMapping& operator=(const PeerMapping&) = delete;
  ~PeerMapping();

  [[nodiscard]] bool valid() const { return data_ != nullptr; }
  [[nodiscard]] bool is_local() const { return !unmap_; }
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<const void> owner_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool unmap_ = false;
};

}  // namespace gyre
