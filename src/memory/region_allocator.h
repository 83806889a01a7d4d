// SPDX-License-Identifier: Apache-2.0
// What gyreMemAlloc, gyreMemFree and gyreCommRegister stand on: memory whose regions are in the
// table. One a process; every function may be called from any thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "base/status.h"
#include "memory/region_table.h"
#include "memory/shared_pages.h"
#include "memory/shared_segment.h"

namespace gyre {

class RegionAllocator {
 public:
  // The table must outlive the allocator.
  explicit RegionAllocator(RegionTable& table);
  RegionAllocator(const RegionAllocator&) = delete;
  RegionAllocator& operator=(const RegionAllocator&) = delete;
  // Unmaps what was never freed; ranges that are still shared in place stay valid as they are.
  ~RegionAllocator();

  // Zeroed, page aligned, committed; peers can map it.
  Result<void*> allocate(std::size_t bytes);
  Status free(void* pointer);

  // Shares the whole pages of the range where they stand. The same range may be shared several
  // times (by several communicators) and is given back with the last unshare(); a range that
  // overlaps another one otherwise is invalid_argument. Memory of allocate() is shared already.
  // The id is 0 when the range holds no whole page: all of it is staged.
  Result<RegionId> share(void* buffer, std::size_t size);
  Status unshare(void* buffer, std::size_t size);

  // Abort path, when peers did not confirm that they stopped writing: the pages of the region are
  // replaced by private copies and the region is forgotten. The memory stays usable (staged) and is
  // given back with free() or unshare() as before. 0 and unknown ids: nothing to do.
  Status detach(RegionId id);

 private:
  struct Allocation {
    SharedSegment segment;
    RegionId id = 0;  // 0: detached
  };
  struct Sharing {
    std::optional<SharedInPlace> pages;  // none: part of memory of allocate()
    std::size_t size = 0;                // as the caller gave it
    RegionId id = 0;                     // 0: no whole page in it, or detached
    std::size_t users = 0;
  };
  using SharingMap = std::map<std::byte*, Sharing>;

  // The caller of these holds mutex_.
  [[nodiscard]] SharingMap::iterator overlapping(std::byte* begin, std::size_t size);
  [[nodiscard]] Status give_back(Sharing& sharing);

  RegionTable& table_;
  std::mutex mutex_;
  std::map<std::byte*, Allocation> allocations_;  // guarded by mutex_
  SharingMap sharings_;                           // guarded by mutex_
};

}  // namespace gyre
