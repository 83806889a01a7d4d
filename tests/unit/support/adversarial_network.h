// SPDX-License-Identifier: Apache-2.0
// A transport that does everything the contract permits and nothing more: messages and credits come
// after random numbers of polls, so that channels, peers and signals overtake each other; bytes are
// seen only after `ready`; whatever is not a delivered message reads as poison. What its user does
// against the contract is kept as a list of violations.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "transport/connection.h"

namespace gyre::test {

// One direction between two ranks.
class AdversarialLink {
 public:
  AdversarialLink(const transport::Shape& shape, unsigned seed, unsigned most_delay)
      : shape_(shape), random_(seed), most_delay_(most_delay) {
    for (int channel = 0; channel < shape.all_channels(); ++channel) {
      channels_.emplace_back(shape.slot_bytes_of(channel), shape.slots_of(channel));
    }
  }

  std::byte* slot_to_fill(int channel) {
    const std::lock_guard lock(mutex_);
    Channel& fifo = channels_.at(static_cast<std::size_t>(channel));
    if (!fifo.credits.empty() && countdown(fifo.credits.front())) {
      fifo.credits.pop_front();
      ++fifo.free;
    }
    if (fifo.free == 0) {
      return nullptr;
    }
    fifo.asked = true;
    return fifo.filling.data();
  }

  void put(int channel, std::size_t bytes, std::uint32_t tag) {
    const std::lock_guard lock(mutex_);
    Channel& fifo = channels_.at(static_cast<std::size_t>(channel));
    check(fifo.asked && fifo.free > 0, "put without a free slot");
    check(bytes <= fifo.filling.size(), "put of more than a slot");
    fifo.messages.push_back(
        {std::vector(fifo.filling.begin(), fifo.filling.begin() + bytes), tag, delay()});
    --fifo.free;
    fifo.asked = false;
    std::ranges::fill(fifo.filling, poison);
  }

  transport::Arrival arrived(int channel, std::uint32_t tag, const std::byte** message) {
    const std::lock_guard lock(mutex_);
    Channel& fifo = channels_.at(static_cast<std::size_t>(channel));
    *message = fifo.reading.data();
    if (fifo.messages.empty() || !countdown(fifo.messages.front().delay)) {
      return transport::Arrival::pending;
    }
    const Message& oldest = fifo.messages.front();
    if (oldest.tag != tag) {
      return transport::Arrival::mismatch;
    }
    std::ranges::copy(oldest.bytes, fifo.reading.begin());
    fifo.readable = true;
    return transport::Arrival::ready;
  }

  void release(int channel) {
    const std::lock_guard lock(mutex_);
    Channel& fifo = channels_.at(static_cast<std::size_t>(channel));
    check(fifo.readable, "release of a message that had not arrived");
    fifo.readable = false;
    fifo.messages.pop_front();
    std::ranges::fill(fifo.reading, poison);
    fifo.credits.push_back(delay());
  }

  void put_inline(std::span<const std::byte> message, std::uint32_t tag) {
    const std::lock_guard lock(mutex_);
    check(message.size() <= shape_.inline_bytes, "small message is too large");
    check(inline_sent_ < inline_taken_ + 2, "a third small message before the first was taken");
    ++inline_sent_;
    inlines_.push_back({std::vector(message.begin(), message.end()), tag, delay()});
    forget_skipped();
  }

  transport::Arrival poll_inline(std::span<std::byte> message, std::uint32_t tag) {
    const std::lock_guard lock(mutex_);
    std::ranges::fill(message, poison);
    if (inlines_.empty() || !countdown(inlines_.front().delay)) {
      return transport::Arrival::pending;
    }
    const Message& oldest = inlines_.front();
    if (oldest.tag != tag) {
      return transport::Arrival::mismatch;
    }
    check(message.size() == oldest.bytes.size(), "small message of another size");
    std::copy_n(oldest.bytes.begin(), std::min(message.size(), oldest.bytes.size()),
                message.begin());
    inlines_.pop_front();
    ++inline_taken_;
    return transport::Arrival::ready;
  }

  void skip_inline() {
    const std::lock_guard lock(mutex_);
    ++inline_taken_;
    ++to_skip_;
    forget_skipped();
  }

  void signal() {
    const std::lock_guard lock(mutex_);
    signals_.push_back(delay());
  }

  bool signalled() {
    const std::lock_guard lock(mutex_);
    if (signals_.empty() || !countdown(signals_.front())) {
      return false;
    }
    signals_.pop_front();
    return true;
  }

  std::vector<std::string> violations() {
    const std::lock_guard lock(mutex_);
    return violations_;
  }

 private:
  static constexpr std::byte poison{0x5a};

  struct Message {
    std::vector<std::byte> bytes;
    std::uint32_t tag;
    unsigned delay;  // polls until it is seen
  };
  struct Channel {
    Channel(std::size_t slot_bytes, int slots)
        : filling(slot_bytes, poison), reading(slot_bytes, poison), free(slots) {}
    std::vector<std::byte> filling, reading;
    std::deque<Message> messages;
    std::deque<unsigned> credits;
    int free;
    bool asked = false, readable = false;
  };

  unsigned delay() { return static_cast<unsigned>(random_()) % (most_delay_ + 1); }
  static bool countdown(unsigned& delay) { return delay == 0 || --delay == 0; }
  void check(bool held, const char* violation) {
    if (!held) {
      violations_.emplace_back(violation);
    }
  }
  void forget_skipped() {
    for (; to_skip_ > 0 && !inlines_.empty(); --to_skip_) {
      inlines_.pop_front();
    }
  }

  std::mutex mutex_;
  transport::Shape shape_;
  std::mt19937 random_;
  unsigned most_delay_;
  std::vector<Channel> channels_;
  std::deque<Message> inlines_;
  std::uint64_t inline_sent_ = 0, inline_taken_ = 0, to_skip_ = 0;
  std::deque<unsigned> signals_;
  std::vector<std::string> violations_;
};

class AdversarialConnection final : public transport::Connection {
 public:
  AdversarialConnection(AdversarialLink& to_peer, AdversarialLink& from_peer)
      : to_peer_(to_peer), from_peer_(from_peer) {}

  const transport::Capabilities& capabilities() const override {
    static constexpr transport::Capabilities capabilities{.mapped = false, .name = "adversary"};
    return capabilities;
  }
  std::byte* slot_to_fill(int channel) override { return to_peer_.slot_to_fill(channel); }
  void put(int channel, std::size_t bytes, std::uint32_t tag) override {
    to_peer_.put(channel, bytes, tag);
  }
  transport::Arrival arrived(int channel, std::uint32_t tag, const std::byte** message) override {
    return from_peer_.arrived(channel, tag, message);
  }
  void release(int channel) override { from_peer_.release(channel); }
  void put_inline(std::span<const std::byte> message, std::uint32_t tag) override {
    to_peer_.put_inline(message, tag);
  }
  transport::Arrival poll_inline(std::span<std::byte> space, std::uint32_t tag,
                                 const std::byte** message) override {
    *message = space.data();
    return from_peer_.poll_inline(space, tag);
  }
  void skip_inline() override { from_peer_.skip_inline(); }
  void signal() override { to_peer_.signal(); }
  bool signalled() override { return from_peer_.signalled(); }
  Result<std::byte*> map(transport::RemoteSlice /*slice*/, std::size_t /*bytes*/) override {
    return fail(Code::not_supported, "nothing is mapped here");
  }

 private:
  AdversarialLink& to_peer_;
  AdversarialLink& from_peer_;
};

// All links between `ranks` ranks.
class AdversarialNetwork {
 public:
  AdversarialNetwork(int ranks, const transport::Shape& shape, unsigned seed,
                     unsigned most_delay = 5)
      : ranks_(static_cast<std::size_t>(ranks)) {
    for (std::size_t i = 0; i < ranks_ * ranks_; ++i) {
      links_.push_back(std::make_unique<AdversarialLink>(
          shape, seed * 1000 + static_cast<unsigned>(i), most_delay));
    }
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      auto& row = rows_.emplace_back();
      for (std::size_t peer = 0; peer < ranks_; ++peer) {
        connections_.push_back(
            std::make_unique<AdversarialConnection>(link(rank, peer), link(peer, rank)));
        row.push_back(rank == peer ? nullptr : connections_.back().get());
      }
    }
  }

  [[nodiscard]] std::span<transport::Connection* const> connections(int rank) const {
    return rows_[static_cast<std::size_t>(rank)];
  }
  // By all ranks.
  [[nodiscard]] std::vector<std::string> violations() const {
    std::vector<std::string> all;
    for (const auto& link : links_) {
      const auto some = link->violations();
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

 private:
  AdversarialLink& link(std::size_t from, std::size_t to) { return *links_[from * ranks_ + to]; }

  std::size_t ranks_;
  std::vector<std::unique_ptr<AdversarialLink>> links_;
  std::vector<std::unique_ptr<AdversarialConnection>> connections_;
  std::vector<std::vector<transport::Connection*>> rows_;
};

}  // namespace gyre::test
