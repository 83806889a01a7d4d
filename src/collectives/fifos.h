// SPDX-License-Identifier: Apache-2.0
// The FIFOs between all pairs of ranks during a symbolic run.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "collectives/happens_before.h"
#include "collectives/values.h"

namespace gyre::plan {

struct SymbolicMessage {
  ValueId value = undefined_value;
  int block = 0;
};

// Messages and signals of one (sender, receiver). Counters only grow.
class SymbolicFifo {
 public:
  explicit SymbolicFifo(int slots) : slots_(static_cast<std::size_t>(slots)) {}

  [[nodiscard]] bool has_free_slot() const { return sent_ - released_ < slots_.size(); }
  [[nodiscard]] bool has_message() const { return taken_ < sent_; }
  [[nodiscard]] bool has_current() const { return released_ < taken_; }
  [[nodiscard]] const SymbolicMessage& current() const { return slots_[released_ % slots_.size()]; }
  void put(const SymbolicMessage& message) { slots_[sent_++ % slots_.size()] = message; }
  void take() { ++taken_; }
  void release() { ++released_; }
  [[nodiscard]] std::uint64_t unreleased() const { return sent_ - released_; }

  void signal(Clocks::Snapshot clock) { signals_.push_back(std::move(clock)); }
  [[nodiscard]] bool has_signal() const { return awaited_ < signals_.size(); }
  [[nodiscard]] std::uint64_t signals() const { return signals_.size() - awaited_; }
  Clocks::Snapshot take_signal() { return std::move(signals_[awaited_++]); }

 private:
  std::vector<SymbolicMessage> slots_;
  std::uint64_t sent_ = 0;
  std::uint64_t taken_ = 0;     // by wait
  std::uint64_t released_ = 0;  // <= taken_ <= sent_
  std::vector<Clocks::Snapshot> signals_;
  std::size_t awaited_ = 0;  // signals before it are taken
};

// Made as they are used: a ring needs two per rank of n * n.
class SymbolicFifos {
 public:
  SymbolicFifos(int ranks, int slots)
      : ranks_(static_cast<std::size_t>(ranks)), slots_(slots), index_(ranks_ * ranks_, none) {}

  SymbolicFifo& between(int sender, int receiver) {
    std::int32_t& index =
        index_[static_cast<std::size_t>(sender) * ranks_ + static_cast<std::size_t>(receiver)];
    if (index == none) {
      index = static_cast<std::int32_t>(fifos_.size());
      fifos_.emplace_back(slots_);
    }
    return fifos_[static_cast<std::size_t>(index)];
  }

  // Nothing where the two never met.
  [[nodiscard]] const SymbolicFifo* find(int sender, int receiver) const {
    const std::int32_t index =
        index_[static_cast<std::size_t>(sender) * ranks_ + static_cast<std::size_t>(receiver)];
    return index == none ? nullptr : &fifos_[static_cast<std::size_t>(index)];
  }

 private:
  static constexpr std::int32_t none = -1;
  std::size_t ranks_;
  int slots_;
  std::vector<std::int32_t> index_;
  std::deque<SymbolicFifo> fifos_;  // a deque: references stay valid
};

}  // namespace gyre::plan
