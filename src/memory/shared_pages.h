// SPDX-License-Identifier: Apache-2.0
// Ordinary memory made shareable where it stands, and back.
//
// The whole pages inside a range are copied into a memfd, which is then mapped over them; pointers
// into the range stay good. The ragged edges stay private. Nobody may touch the range during
// create() and restore().
#pragma once

#include <cstddef>

#include "base/status.h"
#include "base/unique_fd.h"

namespace gyre {

// Replaces the shared pages [begin, begin + bytes), which map `fd` from its start, by private
// ones with the contents of this moment. Peers may be writing: what they write later goes to the
// old pages and is not seen here. Refuses, and changes nothing, when the range no longer maps `fd`.
[[nodiscard]] Status make_private(std::byte* begin, std::size_t bytes, int fd);

class SharedInPlace {
 public:
  // Refuses (invalid_argument, nothing changed) what must not be replaced: unmapped pages, file
  // mappings, stacks, read-only pages, memory that is shared already. A range without a whole page
  // succeeds with bytes() == 0.
  static Result<SharedInPlace> create(void* buffer, std::size_t size);

  SharedInPlace(SharedInPlace&& other) noexcept;
  SharedInPlace& operator=(SharedInPlace&&) = delete;
  SharedInPlace(const SharedInPlace&) = delete;
  SharedInPlace& operator=(const SharedInPlace&) = delete;
  // Restores, if nobody has; a failure is logged.
  ~SharedInPlace();

  [[nodiscard]] std::byte* begin() const { return begin_; }  // the shared pages: page aligned
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::size_t head() const { return head_; }  // private bytes before begin()
  [[nodiscard]] std::size_t tail() const { return tail_; }  // private bytes after the shared ones
  [[nodiscard]] int fd() const { return fd_.get(); }

  // Private anonymous pages again, with the contents of this moment. On failure all stays shared
  // and nothing is lost. Also the way out of an abort: peers that did not confirm may go on writing
  // the old pages. Idempotent.
  [[nodiscard]] Status restore();
  // Only forgets the pages: somebody else made them private, or they stay shared for good.
  void abandon() { fd_.reset(); }

 private:
  SharedInPlace() = default;

  UniqueFd fd_;
  std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

}  // namespace gyre
