// SPDX-License-Identifier: Apache-2.0
// The FIFOs between all pairs of ranks during a symbolic run.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collectives/happens_before.h"
#include "collectives/values.h"

namespace gyre::plan {

struct SymbolicMessage {
  ValueId value = undefined_value;
  std::int32_t block = 0;
  std::int32_t step = 0;  // of the sender
};

struct SymbolicSignal {
  Clocks::Snapshot clock;
  std::int32_t step = 0;  // of the sender
};

// Messages and signals of one (sender, receiver). What it holds grows with what is in flight, whatever the
// number of slots.
class SymbolicFifo {
 public:
  explicit SymbolicFifo(int slots) : slots_(static_cast<std::size_t>(slots)) {}

  [[nodiscard]] bool has_free_slot() const { return messages_.size() - released_ < slots_; }
  [[nodiscard]] bool has_message() const { return taken_ < messages_.size(); }
  [[nodiscard]] bool has_current() const { return released_ < taken_; }
  [[nodiscard]] const SymbolicMessage& current() const { return messages_[released_]; }
  void put(const SymbolicMessage& message) { messages_.push_back(message); }
  void take() { ++taken_; }
  void release() {
    if (++released_ < messages_.size()) return;
    messages_.clear();
    taken_ = released_ = 0;
  }
  [[nodiscard]] std::span<const SymbolicMessage> unreleased() const {
    return std::span(messages_).subspan(released_);
  }

  void signal(SymbolicSignal signal) { signals_.push_back(std::move(signal)); }
  [[nodiscard]] bool has_signal() const { return awaited_ < signals_.size(); }
  [[nodiscard]] std::span<const SymbolicSignal> signals() const {
    return std::span(signals_).subspan(awaited_);
  }
  SymbolicSignal take_signal() { return std::move(signals_[awaited_++]); }

 private:
  std::size_t slots_;
  std::vector<SymbolicMessage> messages_;  // the first ones are released
  std::size_t taken_ = 0;                  // by wait
  std::size_t released_ = 0;               // <= taken_ <= the number of messages
  std::vector<SymbolicSignal> signals_;
  std::size_t awaited_ = 0;  // signals before it are taken
};

// Made as they are used: a ring needs two per rank of n * n.
class SymbolicFifos {
 public:
  struct Ends {
    int sender, receiver;
  };

  explicit SymbolicFifos(int slots) : slots_(slots) {}

  SymbolicFifo& between(int sender, int receiver) {
    const std::uint64_t ends = std::uint64_t{static_cast<std::uint32_t>(sender)} << 32U |
                               static_cast<std::uint32_t>(receiver);
    const auto [found, is_new] = index_.try_emplace(ends, fifos_.size());
    if (is_new) {
      fifos_.emplace_back(slots_);
      ends_.push_back({sender, receiver});
    }
    return fifos_[found->second];
  }

  // Of those that were used, in the order of their first use.
  [[nodiscard]] std::size_t size() const { return fifos_.size(); }
  [[nodiscard]] const SymbolicFifo& operator[](std::size_t number) const { return fifos_[number]; }
  [[nodiscard]] Ends ends_of(std::size_t number) const { return ends_[number]; }

 private:
  int slots_;
  std::unordered_map<std::uint64_t, std::size_t> index_;  // by sender and receiver
  std::deque<SymbolicFifo> fifos_;                        // a deque: references stay valid
  std::vector<Ends> ends_;
};

}  // namespace gyre::plan
