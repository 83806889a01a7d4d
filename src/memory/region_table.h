// SPDX-License-Identifier: Apache-2.0
// Which parts of this process's memory peers can map: one table a process.
//
// find() is on the path of every collective. It takes no lock and waits for nobody, whatever
// writers do; add() and remove() are rare and take a mutex.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"

namespace gyre {

// Counts up from 1 and is never used again in the life of the table. 0 is no region.
using RegionId = std::uint64_t;

enum class RegionKind : std::uint8_t { allocated, shared_in_place };

struct Region {
  RegionId id = 0;
  std::byte* address = nullptr;
  std::size_t bytes = 0;
  int fd = -1;  // maps `address` from its start; owned by who added the region
  RegionKind kind = RegionKind::allocated;
};

struct RegionSlice {
  RegionId id = 0;
  std::size_t offset = 0;
};

// The part of a range that lies in one region; the rest has to be staged.
struct RegionPart {
  RegionSlice slice;
  std::size_t head = 0;   // bytes of the range before the part
  std::size_t bytes = 0;  // bytes of the part
};

class RegionTable {
 public:
  RegionTable();
  ~RegionTable();
  RegionTable(const RegionTable&) = delete;
  RegionTable& operator=(const RegionTable&) = delete;

  // The descriptor stays the caller's and must stay open until remove(). A range that overlaps a
  // known region is invalid_argument.
  Result<RegionId> add(void* address, std::size_t bytes, int fd, RegionKind kind);
  // Forgets the region and gives its pages back to the system, even if a peer still maps them.
  // Nobody here may need their contents any more.
  Status remove(RegionId id);
  // Forgets the region; its pages stay as they are. An unknown id: nothing to do.
  void forget(RegionId id);

  // The region that holds all of [pointer, pointer + bytes).
  [[nodiscard]] std::optional<RegionSlice> find(const void* pointer, std::size_t bytes) const;
  // The first region that shares at least a byte with the range.
  [[nodiscard]] std::optional<RegionPart> find_part(const void* pointer, std::size_t bytes) const;

  // By id, for those who serve it to peers. Locks.
  [[nodiscard]] std::optional<Region> get(RegionId id) const;
  struct Exported {
    UniqueFd fd;  // a duplicate
    std::size_t bytes = 0;
  };
  [[nodiscard]] Result<Exported> export_region(RegionId id) const;

 private:
  struct Snapshot;

  // Removes and publishes; the caller holds mutex_.
  std::optional<Region> take(RegionId id);
  void publish(const std::vector<Region>& sorted);
  [[nodiscard]] std::vector<Region>::const_iterator find_id(RegionId id) const;

  mutable std::mutex mutex_;
  std::vector<Region> sorted_;  // by address; guarded by mutex_
  std::uint64_t next_id_ = 1;   // guarded by mutex_
  // Two snapshots in turn, so that readers of the published one are not disturbed while the other
  // is written; outgrown ones are kept until the table dies (sizes double: at most as much again).
  std::vector<std::unique_ptr<Snapshot>> snapshots_;  // guarded by mutex_
  Snapshot* spare_ = nullptr;                         // guarded by mutex_
  std::atomic<Snapshot*> published_;
};

}  // namespace gyre
