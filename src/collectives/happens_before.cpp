// SPDX-License-Identifier: Apache-2.0
#include "collectives/happens_before.h"

#include <algorithm>

namespace gyre::plan {

namespace {

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

}  // namespace

Clocks::Clocks(int ranks) : clocks_(at(ranks), Clock(at(ranks), 0)), snapshots_(at(ranks)) {}

void Clocks::tick(int rank) {
  ++clocks_[at(rank)][at(rank)];
  snapshots_[at(rank)].reset();
}

std::uint32_t Clocks::now(int rank) const {
  return clocks_[at(rank)][at(rank)];
}

// Signals to many peers in a row share one copy.
Clocks::Snapshot Clocks::snapshot(int rank) {
  Snapshot& kept = snapshots_[at(rank)];
  if (!kept) kept = std::make_shared<const Clock>(clocks_[at(rank)]);
  return kept;
}

void Clocks::join(int rank, const Clock& heard) {
  Clock& own = clocks_[at(rank)];
  std::transform(own.begin(), own.end(), heard.begin(), own.begin(),
                 [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
  snapshots_[at(rank)].reset();
}

bool Clocks::is_before(const Access& access, int rank) const {
  return access.time <= clocks_[at(rank)][at(access.rank)];
}

std::optional<Access> AccessHistory::add(std::size_t block, const Access& access,
                                         const Clocks& clocks) {
  Last& last = blocks_[block];
  if (last.write && !clocks.is_before(*last.write, access.rank)) return last.write;
  if (!access.writes) {
    last.reads.push_back(access);
    return std::nullopt;
  }
  for (const Access& read : last.reads) {
    if (!clocks.is_before(read, access.rank)) return read;
  }
  last.reads.clear();
  last.write = access;
  return std::nullopt;
}

RemoteAccesses::RemoteAccesses(int ranks) : ranks_(at(ranks)), last_(ranks_ * ranks_) {}

void RemoteAccesses::add(int owner, const Access& access) {
  last_[at(owner) * ranks_ + at(access.rank)] = access;
}

std::optional<Access> RemoteAccesses::open_at_end(int owner, const Clocks& clocks) const {
  for (std::size_t accessor = 0; accessor < ranks_; ++accessor) {
    const std::optional<Access>& last = last_[at(owner) * ranks_ + accessor];
    if (last && !clocks.is_before(*last, owner)) return last;
  }
  return std::nullopt;
}

}  // namespace gyre::plan
