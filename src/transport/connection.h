// SPDX-License-Identifier: Apache-2.0
// The transport contract: what a link between two ranks can do. The engine runs plans over it and
// knows no transport by name.
//
// A connection belongs to one communicator and is used by one thread at a time. Both ends are
// created with the same Shape. In each direction there are
//   - one FIFO of slots per channel: slot_to_fill + put on one side, arrived + release on the
//   other.
//     A put delivers at most Shape::slot_bytes and is never visible before its bytes. A FIFO never
//     overruns: slot_to_fill gives nothing until the receiver has released a slot.
//   - one FIFO of small messages: put_inline and poll_inline, bytes and their flag sharing cache
//     lines. It holds two messages. Its use must be symmetric: in every operation both sides send
//     one and take one (or skip it). Whoever has received m messages knows that the peer has taken
//     m - 1, so the third one never overwrites an unread first, without any credit on the wire.
//   - one counter of signals: signal and signalled, a put of nothing.
//
// Every message carries a tag, the signature of the call that it belongs to. A receiver that
// expects another one learns `mismatch`, and consumes nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/status.h"

namespace gyre::transport {

// A cache line less the word that says that its bytes have come.
inline constexpr std::size_t line_bytes = 56;

// Equal on both ends of every connection of a communicator. Channels [0, channels) have large
// slots, for bulk; the `small_channels` after them have small ones, for messages of which a few fit
// in the first-level cache; a slot of the `line_channels` after those is what shares a cache line with
// its flag, for the shortest messages from one rank to another.
struct Shape {
  int channels = 4;
  int slots = 2;                        // per FIFO, at least 1
  std::size_t slot_bytes = 32 * 1024;   // multiple of 64
  std::size_t inline_bytes = 8 * 1024;  // largest small message
  int small_channels = 0;
  int small_slots = 2;
  std::size_t small_slot_bytes = 8 * 1024;
  int line_channels = 0;
  int line_slots = 64;
  // What a sender that keeps to few slots goes round in: as much as stays in a second-level cache, of
  // each channel; half of it of a channel with small slots.
  std::size_t few_slots_bytes = 512 * 1024;

  [[nodiscard]] int first_small() const { return channels; }
  [[nodiscard]] int first_line() const { return channels + small_channels; }
  [[nodiscard]] int all_channels() const { return first_line() + line_channels; }
  [[nodiscard]] int slots_of(int channel) const {
    if (channel >= first_line()) {
      return line_slots;
    }
    return channel < channels ? slots : small_slots;
  }
  [[nodiscard]] std::size_t slot_bytes_of(int channel) const {
    if (channel >= first_line()) {
      return line_bytes;
    }
    return channel < channels ? slot_bytes : small_slot_bytes;
  }
  // Of a channel's slots, the first few that a sender may keep to (Connection::use_few_slots).
  [[nodiscard]] int few_slots_of(int channel) const {
    const std::size_t bytes = channel < channels ? few_slots_bytes : few_slots_bytes / 2;
    const std::size_t few = std::max<std::size_t>(bytes / slot_bytes_of(channel), 2);
    return static_cast<int>(std::min(few, static_cast<std::size_t>(slots_of(channel))));
  }
  friend bool operator==(const Shape&, const Shape&) = default;
};

enum class Arrival : std::uint8_t { pending, ready, mismatch };

struct Capabilities {
  bool mapped = false;    // map() works: the peer's regions are memory of this process
  std::string_view name;  // "shm"
};

// Names memory of the peer: a place in one region of its region table. Region 0 is no region.
struct RemoteSlice {
  std::uint64_t region = 0;
  std::uint64_t offset = 0;
};

class Connection {
 public:
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() = default;

  [[nodiscard]] virtual const Capabilities& capabilities() const = 0;

  // Where the next message of `channel` is to be written, or nullptr while no slot is free. Where
  // the peer's memory is mapped this is the peer's slot itself: what is computed is computed there.
  [[nodiscard]] virtual std::byte* slot_to_fill(int channel) = 0;
  // From here on this sender goes round in the first few slots of each channel, or in all of them: a
  // matter of caches, which the receiver need not know of.
  virtual void use_few_slots(bool /*few*/) {}
  // Delivers the slot that slot_to_fill gave.
  virtual void put(int channel, std::size_t bytes, std::uint32_t tag) = 0;
  // Whether the oldest unreleased message is there (a few looks, well under a microsecond); then
  // *message points at its bytes, which stay until release.
  [[nodiscard]] virtual Arrival arrived(int channel, std::uint32_t tag,
                                        const std::byte** message) = 0;
  virtual void release(int channel) = 0;

  // At most Shape::inline_bytes; never blocks.
  virtual void put_inline(std::span<const std::byte> message, std::uint32_t tag) = 0;
  // Takes the next small message once it is there; its size, that of `space`, is known from the plan.
  // Then *message points at its bytes, in `space` or where the transport has them; they stay until
  // the next small message is sent. `space` may have changed even if none is there.
  [[nodiscard]] virtual Arrival poll_inline(std::span<std::byte> space, std::uint32_t tag,
                                            const std::byte** message) = 0;
  // Counts the next small message as taken, whether or not it is there yet.
  virtual void skip_inline() = 0;

  virtual void signal() = 0;
  // Whether the peer has signalled once more than was taken; takes it.
  [[nodiscard]] virtual bool signalled() = 0;

  // Where the peer's memory lies in this process. Slow the first time that a region is seen.
  [[nodiscard]] virtual Result<std::byte*> map(RemoteSlice slice, std::size_t bytes) = 0;
};

// The same with the bytes in `into`, whatever happens to the connection.
[[nodiscard]] inline Arrival copy_inline(Connection& connection, std::span<std::byte> into,
                                         std::uint32_t tag) {
  const std::byte* message = nullptr;
  const Arrival arrival = connection.poll_inline(into, tag, &message);
  if (arrival == Arrival::ready && !into.empty() && message != into.data()) {
    std::memcpy(into.data(), message, into.size());
  }
  return arrival;
}

}  // namespace gyre::transport
