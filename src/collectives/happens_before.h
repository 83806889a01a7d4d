// SPDX-License-Identifier: Apache-2.0
// Which memory accesses of a direct plan are ordered, by vector clocks, and which race.
//
// Sources: L. Lamport, "Time, clocks, and the ordering of events in a distributed system", CACM
// 21(7), 1978; F. Mattern, "Virtual time and global states of distributed systems", 1989; the
// last-access epochs are those of C. Flanagan and S. Freund, "FastTrack", PLDI 2009.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace gyre::plan {

struct Access {
  int rank = 0;
  int step = 0;
  std::uint32_t time = 0;  // of the clock of `rank`
  bool writes = false;
};

// The clocks of all ranks. A rank's own time advances with each of its combines.
class Clocks {
 public:
  using Clock = std::vector<std::uint32_t>;
  using Snapshot = std::shared_ptr<const Clock>;

  explicit Clocks(int ranks);

  void tick(int rank);
  [[nodiscard]] std::uint32_t now(int rank) const;
  // What a signal carries: everything that `rank` has done and has heard of.
  [[nodiscard]] Snapshot snapshot(int rank);
  void join(int rank, const Clock& heard);
  // Whether `access` is over when `rank` does its next step.
  [[nodiscard]] bool is_before(const Access& access, int rank) const;

 private:
  std::vector<Clock> clocks_;
  std::vector<Snapshot> snapshots_;  // of clocks_, empty when out of date
};

// The last accesses to each of a number of blocks.
class AccessHistory {
 public:
  explicit AccessHistory(std::size_t blocks) : blocks_(blocks) {}

  // Adds an access; answers with an earlier one that conflicts with it and is not ordered before.
  std::optional<Access> add(std::size_t block, const Access& access, const Clocks& clocks);

 private:
  struct Last {
    std::optional<Access> write;
    std::vector<Access> reads;  // since that write
  };
  std::vector<Last> blocks_;
};

// For each pair (owner, accessor) the last access of one to the buffers of the other.
class RemoteAccesses {
 public:
  explicit RemoteAccesses(int ranks);
  void add(int owner, const Access& access);
  // One that may still be going on when the owner has done its last step.
  [[nodiscard]] std::optional<Access> open_at_end(int owner, const Clocks& clocks) const;

 private:
  std::size_t ranks_;
  std::vector<std::optional<Access>> last_;  // by owner, then accessor
};

}  // namespace gyre::plan
