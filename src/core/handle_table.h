// SPDX-License-Identifier: Apache-2.0
// Tickets instead of pointers: a handle is a number that is looked up, so that a stale, foreign or
// invented one is refused and never dereferenced.
//
// The entries live as long as the table, so a thread that comes with an old ticket always finds
// memory that says no. One thread at a time may be inside an object (Use); whoever needs a word
// with an object that is in use (to abort it) goes through with_locked.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace gyre::core {

enum class Entry : std::uint8_t { entered, unknown, in_use };

template <typename T, std::uint64_t kind>
class HandleTable {
  static_assert(kind > 0 && kind < 128);

  struct Slot {
    // The ticket, and `busy` while somebody is inside; 0: no object. In one word, so that the slot
    // of a removed object is fit for a new one in the same moment.
    std::atomic<std::uint64_t> state{0};
    std::unique_ptr<T> object;
    std::uint64_t generation = 0;
  };

 public:
  // The right to be inside an object, given back by the destructor.
  class Use {
   public:
    Use() = default;
    Use(Use&& other) noexcept
        : slot_(std::exchange(other.slot_, nullptr)),
          ticket_(other.ticket_),
          entry_(other.entry_) {}
    Use& operator=(Use&&) = delete;
    ~Use() {
      if (slot_ != nullptr) {
        // release: what was done inside is visible to the next one who enters.
        slot_->state.store(ticket_, std::memory_order_release);
      }
    }
    [[nodiscard]] Entry entry() const { return entry_; }
    [[nodiscard]] T* get() const { return slot_ != nullptr ? slot_->object.get() : nullptr; }

   private:
    friend class HandleTable;
    explicit Use(Entry entry) : entry_(entry) {}
    Use(Slot* slot, std::uint64_t ticket) : slot_(slot), ticket_(ticket), entry_(Entry::entered) {}
    Slot* slot_ = nullptr;
    std::uint64_t ticket_ = 0;
    Entry entry_ = Entry::unknown;
  };

  HandleTable() : slots_(new Slot[capacity]) {}

  // The ticket of `object`, or 0 when the table is full.
  [[nodiscard]] std::uint64_t add(std::unique_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    std::uint64_t index = 0;
    if (!free_.empty()) {
      index = free_.back();
      free_.pop_back();
    } else if (next_ < capacity) {
      index = next_++;
    } else {
      return 0;
    }
    Slot& slot = slots_[index];
    slot.object = std::move(object);
    const std::uint64_t ticket = kind << 56 | (++slot.generation & generation_mask) << 16 | index;
    // release: whoever finds the ticket finds the object behind it.
    slot.state.store(ticket, std::memory_order_release);
    return ticket;
  }

  [[nodiscard]] Use enter(std::uint64_t ticket) {
    if (ticket >> 56 != kind) {
      return Use(Entry::unknown);
    }
    Slot& slot = slots_[ticket & index_mask];
    std::uint64_t state = ticket;
    // acquire: pairs with the release of ~Use and of add.
    if (slot.state.compare_exchange_strong(state, ticket | busy, std::memory_order_acquire,
                                           std::memory_order_relaxed)) {
      return Use(&slot, ticket);
    }
    return Use(state == (ticket | busy) ? Entry::in_use : Entry::unknown);
  }

  // Calls function(T&) on an object that may be in use, and that stays alive meanwhile. False when
  // there is none.
  template <typename Function>
  bool with_locked(std::uint64_t ticket, Function&& function) {
    const std::lock_guard lock(mutex_);
    const Slot& slot = slots_[ticket & index_mask];
    // relaxed: objects come and go under the lock.
    if (ticket >> 56 != kind || (slot.state.load(std::memory_order_relaxed) & ~busy) != ticket) {
      return false;
    }
    function(*slot.object);
    return true;
  }

  // Takes the object that is being used out of the table; its ticket is dead from here on.
  [[nodiscard]] std::unique_ptr<T> remove(Use use) {
    const std::lock_guard lock(mutex_);
    Slot& slot = *std::exchange(use.slot_, nullptr);
    // relaxed: whoever fills the slot again does so under the lock.
    slot.state.store(0, std::memory_order_relaxed);
    free_.push_back(static_cast<std::uint64_t>(&slot - slots_.get()));
    return std::move(slot.object);
  }

 private:
  static constexpr std::uint64_t busy = std::uint64_t{1} << 63;
  static constexpr std::uint64_t capacity = 1 << 16;
  static constexpr std::uint64_t index_mask = capacity - 1;
  static constexpr std::uint64_t generation_mask = (std::uint64_t{1} << 40) - 1;

  std::unique_ptr<Slot[]> slots_;
  std::mutex mutex_;
  std::vector<std::uint64_t> free_;
  std::uint64_t next_ = 0;
};

}  // namespace gyre::core
