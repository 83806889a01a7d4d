// SPDX-License-Identifier: Apache-2.0
#include "memory/region_table.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include <fmt/core.h>

namespace gyre {

// The sorted ranges as readers see them. Written only while it is not the published snapshot; a
// reader that was so slow that it still reads then notices by the version and starts over. All
// fields are atomic, so such a read is no data race, only a useless value.
struct RegionTable::Snapshot {
  struct Entry {
    std::atomic<std::uintptr_t> begin{0};
    std::atomic<std::uintptr_t> end{0};
    std::atomic<RegionId> id{0};
  };

  explicit Snapshot(std::size_t room) : entries(room) {}

  std::atomic<std::uint64_t> version{0};  // odd: being written
  std::atomic<std::size_t> count{0};
  std::vector<Entry> entries;

  void write(const std::vector<Region>& sorted) {
    // release on each field below: who reads a new value (acquire) also sees this odd version, or a
    // later one, at its second look at the version. A fence would do the same, but a thread
    // sanitizer does not follow fences.
    const std::uint64_t before = version.load(std::memory_order_relaxed);
    version.store(before + 1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const auto begin = reinterpret_cast<std::uintptr_t>(sorted[i].address);
      entries[i].begin.store(begin, std::memory_order_release);
      entries[i].end.store(begin + sorted[i].bytes, std::memory_order_release);
      entries[i].id.store(sorted[i].id, std::memory_order_release);
    }
    count.store(sorted.size(), std::memory_order_release);
    // release: who sees the even version sees every field written.
    version.store(before + 2, std::memory_order_release);
  }

  struct Hit {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    RegionId id = 0;
  };

  // The first range that ends after `address`; id 0 when there is none. acquire on each field: no
  // load of it is delayed past the reader's second look at the version.
  [[nodiscard]] Hit first_ending_after(std::uintptr_t address) const {
    std::size_t low = 0;
    std::size_t high = count.load(std::memory_order_acquire);
    const std::size_t end = high;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (entries[middle].end.load(std::memory_order_acquire) > address) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    if (low == end) {
      return {};
    }
    return {entries[low].begin.load(std::memory_order_acquire),
            entries[low].end.load(std::memory_order_acquire),
            entries[low].id.load(std::memory_order_acquire)};
  }

  // False when the snapshot was rewritten meanwhile.
  [[nodiscard]] bool read(std::uintptr_t address, Hit& hit) const {
    // acquire: an even version brings all fields of that version.
    const std::uint64_t before = version.load(std::memory_order_acquire);
    hit = first_ending_after(address);
    // relaxed is enough: the acquire loads in between keep it behind them.
    return before % 2 == 0 && version.load(std::memory_order_relaxed) == before;
  }
};

namespace {

constexpr std::size_t initial_room = 64;

struct ByAddress {
  bool operator()(const Region& region, const std::byte* address) const {
    return region.address < address;
  }
};

}  // namespace

RegionTable::RegionTable() {
  snapshots_.push_back(std::make_unique<Snapshot>(initial_room));
  snapshots_.push_back(std::make_unique<Snapshot>(initial_room));
  spare_ = snapshots_[1].get();
  // relaxed: whoever can call find() got the table itself by something that orders this before.
  published_.store(snapshots_[0].get(), std::memory_order_relaxed);
}

RegionTable::~RegionTable() = default;

std::vector<Region>::const_iterator RegionTable::find_id(RegionId id) const {
  return std::find_if(sorted_.begin(), sorted_.end(),
                      [id](const Region& region) { return region.id == id; });
}

void RegionTable::publish(const std::vector<Region>& sorted) {
  if (spare_->entries.size() < sorted.size()) {
    snapshots_.push_back(std::make_unique<Snapshot>(2 * sorted.size()));
    spare_ = snapshots_.back().get();
  }
  spare_->write(sorted);
  // release: a reader that finds the pointer finds the contents. acquire is not needed: the
  // mutex orders writers among themselves.
  spare_ = published_.exchange(spare_, std::memory_order_release);
}

Result<RegionId> RegionTable::add(void* address, std::size_t bytes, int fd, RegionKind kind) {
  auto* begin = static_cast<std::byte*>(address);
  const std::scoped_lock lock(mutex_);
  const auto after = std::lower_bound(sorted_.begin(), sorted_.end(), begin, ByAddress{});
  const bool hits_next = after != sorted_.end() && after->address < begin + bytes;
  const bool hits_previous =
      after != sorted_.begin() && std::prev(after)->address + std::prev(after)->bytes > begin;
  if (hits_next || hits_previous) {
    const Region& other = hits_next ? *after : *std::prev(after);
    return fail(Code::invalid_argument,
                fmt::format("The memory [{}, +{}) overlaps [{}, +{}), which is shared already.",
                            address, bytes, static_cast<void*>(other.address), other.bytes));
  }
  const Region region{next_id_++, begin, bytes, fd, kind};
  sorted_.insert(after, region);
  publish(sorted_);
  return region.id;
}

std::optional<Region> RegionTable::take(RegionId id) {
  const auto found = find_id(id);
  if (found == sorted_.end()) {
    return std::nullopt;
  }
  const Region region = *found;
  sorted_.erase(found);
  publish(sorted_);
  return region;
}

void RegionTable::forget(RegionId id) {
  const std::scoped_lock lock(mutex_);
  (void)take(id);
}

Status RegionTable::remove(RegionId id) {
  const std::scoped_lock lock(mutex_);
  const auto region = take(id);
  if (!region) {
    return fail(Code::invalid_argument, fmt::format("No shared memory has the id {}.", id));
  }
  // Under the lock, so that no export can come between. The size stays: a peer's stale access reads
  // zeros and is not killed.
  while (::fallocate(region->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                     static_cast<off_t>(region->bytes)) != 0) {
    if (errno != EINTR) {
      return system_failure("fallocate(FALLOC_FL_PUNCH_HOLE)");
    }
  }
  return {};
}

std::optional<RegionSlice> RegionTable::find(const void* pointer, std::size_t bytes) const {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  Snapshot::Hit hit;
  // acquire: pairs with the release in publish(). It repeats only if writers published twice
  // during one look-up.
  while (!published_.load(std::memory_order_acquire)->read(address, hit)) {
  }
  if (hit.id == 0 || address < hit.begin || bytes > hit.end - address) {
    return std::nullopt;
  }
  return RegionSlice{hit.id, address - hit.begin};
}

std::optional<RegionPart> RegionTable::find_part(const void* pointer, std::size_t bytes) const {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  Snapshot::Hit hit;
  // acquire and the repetition: as in find().
  while (!published_.load(std::memory_order_acquire)->read(address, hit)) {
  }
  if (hit.id == 0) {
    return std::nullopt;
  }
  const std::uintptr_t first = std::max(address, hit.begin);
  if (first - address >= bytes) {
    return std::nullopt;
  }
  const std::size_t head = first - address;
  return RegionPart{
      {hit.id, first - hit.begin}, head, std::min<std::size_t>(bytes - head, hit.end - first)};
}

std::optional<Region> RegionTable::get(RegionId id) const {
  const std::scoped_lock lock(mutex_);
  const auto found = find_id(id);
  if (found == sorted_.end()) {
    return std::nullopt;
  }
  return *found;
}

Result<RegionTable::Exported> RegionTable::export_region(RegionId id) const {
  const std::scoped_lock lock(mutex_);
  const auto found = find_id(id);
  if (found == sorted_.end()) {
    return fail(Code::invalid_argument, fmt::format("No shared memory has the id {}.", id));
  }
  UniqueFd duplicate(::fcntl(found->fd, F_DUPFD_CLOEXEC, 0));
  if (!duplicate.valid()) {
    return system_failure("fcntl(F_DUPFD_CLOEXEC)");
  }
  return Exported{std::move(duplicate), found->bytes};
}

}  // namespace gyre
