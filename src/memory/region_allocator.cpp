// SPDX-License-Identifier: Apache-2.0
#include "memory/region_allocator.h"

#include <iterator>
#include <utility>

#include <fmt/core.h>

namespace gyre {

RegionAllocator::RegionAllocator(RegionTable& table) : table_(table) {}

RegionAllocator::~RegionAllocator() {
  for (const auto& [begin, allocation] : allocations_) {
    (void)table_.remove(allocation.id);
  }
  // The user's memory may be in use, by any thread, or freed and used for something else: copying
  // it now could lose what is written meanwhile. It stays as it is, shared with nobody new.
  for (auto& [buffer, sharing] : sharings_) {
    if (sharing.pages) {
      table_.forget(sharing.id);
      sharing.pages->abandon();
    }
  }
}

Result<void*> RegionAllocator::allocate(std::size_t bytes) {
  Result<SharedSegment> segment = SharedSegment::create(bytes, "gyre-memory", Fork::share);
  GYRE_TRY(segment);
  std::byte* data = segment->data();
  const std::scoped_lock lock(mutex_);
  const Result<RegionId> id =
      table_.add(data, segment->bytes(), segment->fd(), RegionKind::allocated);
  GYRE_TRY(id);
  allocations_.emplace(data, Allocation{std::move(*segment), *id});
  return data;
}

Status RegionAllocator::free(void* pointer) {
  const std::scoped_lock lock(mutex_);
  const auto found = allocations_.find(static_cast<std::byte*>(pointer));
  if (found == allocations_.end()) {
    return fail(Code::invalid_argument,
                fmt::format("The pointer {} did not come from gyreMemAlloc, or was freed before. "
                            "Pass the address that gyreMemAlloc gave, once.",
                            pointer));
  }
  if (found->second.id != 0) {
    GYRE_TRY(table_.remove(found->second.id));
  }
  allocations_.erase(found);
  return {};
}

// Of the sharing that overlaps the range; sharings do not overlap each other.
RegionAllocator::SharingMap::iterator RegionAllocator::overlapping(std::byte* begin,
                                                                   std::size_t size) {
  const auto after = sharings_.lower_bound(begin);
  if (after != sharings_.end() && after->first < begin + size) {
    return after;
  }
  if (after != sharings_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second.size > begin) {
      return before;
    }
  }
  return sharings_.end();
}

Result<RegionId> RegionAllocator::share(void* buffer, std::size_t size) {
  auto* begin = static_cast<std::byte*>(buffer);
  const std::scoped_lock lock(mutex_);
  if (const auto found = overlapping(begin, size); found != sharings_.end()) {
    if (found->first != begin || found->second.size != size) {
      return fail(Code::invalid_argument,
                  fmt::format("The memory [{}, +{}) overlaps [{}, +{}), which is registered as "
                              "shared in place already. Register exactly the same range again, or "
                              "ranges that do not overlap.",
                              buffer, size, static_cast<void*>(found->first), found->second.size));
    }
    ++found->second.users;
    return found->second.id;
  }
  if (const auto slice = table_.find(buffer, size)) {  // of allocate(): nothing to replace
    sharings_.emplace(begin, Sharing{std::nullopt, size, slice->id, 1});
    return slice->id;
  }
  Result<SharedInPlace> pages = SharedInPlace::create(buffer, size);
  GYRE_TRY(pages);
  Sharing sharing{std::move(*pages), size, 0, 1};
  if (sharing.pages->bytes() > 0) {
    const Result<RegionId> id = table_.add(sharing.pages->begin(), sharing.pages->bytes(),
                                           sharing.pages->fd(), RegionKind::shared_in_place);
    GYRE_TRY(id);
    sharing.id = *id;
  }
  const RegionId id = sharing.id;
  sharings_.emplace(begin, std::move(sharing));
  return id;
}

Status RegionAllocator::unshare(void* buffer, std::size_t size) {
  const std::scoped_lock lock(mutex_);
  const auto found = sharings_.find(static_cast<std::byte*>(buffer));
  if (found == sharings_.end() || found->second.size != size) {
    return fail(Code::invalid_argument,
                fmt::format("The memory [{}, +{}) is not registered as shared in place, or was "
                            "deregistered before.",
                            buffer, size));
  }
  if (found->second.users == 1) {
    GYRE_TRY(give_back(found->second));
    sharings_.erase(found);
  } else {
    --found->second.users;
  }
  return {};
}

// Private copies first, then the pages are dropped: remove() empties what the descriptor holds, and
// restore() would close it.
Status RegionAllocator::give_back(Sharing& sharing) {
  if (!sharing.pages || sharing.id == 0) {
    return {};
  }
  GYRE_TRY(make_private(sharing.pages->begin(), sharing.pages->bytes(), sharing.pages->fd()));
  Status removed = table_.remove(std::exchange(sharing.id, 0));
  sharing.pages->abandon();
  return removed;
}

Status RegionAllocator::detach(RegionId id) {
  const std::scoped_lock lock(mutex_);
  for (auto& [buffer, sharing] : sharings_) {
    if (id != 0 && sharing.id == id && sharing.pages) {
      return give_back(sharing);
    }
  }
  for (auto& [begin, allocation] : allocations_) {
    if (id != 0 && allocation.id == id) {
      GYRE_TRY(make_private(begin, allocation.segment.bytes(), allocation.segment.fd()));
      return table_.remove(std::exchange(allocation.id, 0));
    }
  }
  return {};
}

}  // namespace gyre
