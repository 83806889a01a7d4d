// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/connection.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include "base/prefetch.h"
#include "transport/shm/doorbell.h"

namespace gyre::shm {
namespace {

constexpr std::uint64_t flag_of(std::uint64_t number, std::uint32_t tag) {
  return (number << 32) | tag;
}

// A flag's value, as soon as it is `wanted`; whatever it is after a few looks. The loop is here, not
// in the caller, so that the one branch which the processor cannot predict ends it.
inline std::uint64_t look_for(const std::atomic<std::uint64_t>& flag, std::uint64_t wanted) {
  constexpr int looks = 16;
  // acquire: pairs with the release of the store of the flag: the bytes before it are visible.
  std::uint64_t seen = flag.load(std::memory_order_acquire);
  for (int look = 1; look < looks && seen != wanted; ++look) {
    seen = flag.load(std::memory_order_acquire);
  }
  return seen;
}

// What a flag says to a receiver that waits for message `number` with `tag`.
inline Arrival look(const std::atomic<std::uint64_t>& flag, std::uint64_t number,
                    std::uint32_t tag) {
  const std::uint64_t wanted = flag_of(number, tag);
  const std::uint64_t seen = look_for(flag, wanted);
  if (seen == wanted) [[likely]] {
    return Arrival::ready;
  }
  return (seen >> 32) == (number & 0xffffffffU) ? Arrival::mismatch : Arrival::pending;
}

// The same for all of a message's lines, looked at together: each line that the peer has written since
// the last look must be fetched from its cache, and so these fetches overlap.
inline Arrival look_at_all(const InlineLine* line, std::size_t lines, std::uint64_t number,
                           std::uint32_t tag) {
  constexpr int looks = 16;
  const std::uint64_t wanted = flag_of(number, tag);
  std::uint64_t first = 0;
  for (int look = 0; look < looks; ++look) {
    std::uint64_t differ = 0;
    for (std::size_t i = lines; i-- > 0;) {
      // acquire: as in look_for.
      first = line[i].flag.load(std::memory_order_acquire);
      differ |= first ^ wanted;
    }
    if (differ == 0) {
      return Arrival::ready;
    }
  }
  return first != wanted && (first >> 32) == (number & 0xffffffffU) ? Arrival::mismatch
                                                                    : Arrival::pending;
}

// Longer messages are taken line by line: their first lines can be copied while the last ones are
// written.
constexpr std::size_t most_lines_at_once = 5;

// Messages after which flags of slots that a sender leaves out are made new: far fewer than 2^32.
constexpr std::uint64_t refresh_after = std::uint64_t{1} << 30;

// More lines than the processor fetches at a time anyway.
constexpr std::size_t most_lines_ahead = 8;

// Small copies without a call: most messages are a few words.
inline void copy_payload(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes == InlineLine::payload_bytes) {
    std::memcpy(to, from, InlineLine::payload_bytes);
  } else if (bytes == 8) {
    std::memcpy(to, from, 8);
  } else if (bytes > 0) {  // an empty message may have no address
    std::memcpy(to, from, bytes);
  }
}

}  // namespace

ShmConnection::ShmConnection(const Layout& layout, std::byte* own, int own_rank, std::byte* peer,
                             int peer_rank, ImportRegion import, std::uint64_t messages_before)
    : fifos_(static_cast<std::size_t>(layout.shape().all_channels())),
      inline_sent_(messages_before),
      inline_taken_(messages_before),
      signals_sent_(messages_before),
      signals_taken_(messages_before),
      peer_(at<SegmentHeader>(peer, 0)),
      import_(std::move(import)) {
  const std::size_t here =
      layout.inbox(own_rank, peer_rank);  // in our segment, written by the peer
  const std::size_t there = layout.inbox(peer_rank, own_rank);  // in the peer's, written by us
  for (int set = 0; set < inline_sets; ++set) {
    inline_here_[set] = at<InlineLine>(own, here + layout.inline_set(set));
    inline_there_[set] = at<InlineLine>(peer, there + layout.inline_set(set));
  }
  // A line that was never written must never look like a message. The zeros of a fresh segment are
  // number 0, which an even message has when 32 bits wrap; even ones go to set 1, odd ones to set 0.
  // relaxed: nobody sends before all ends are made.
  for (std::size_t line = 0; line < layout.inline_lines(); ++line) {
    inline_here_[1][line].flag.store(flag_of(1, 0), std::memory_order_relaxed);
  }
  signal_here_ = at<Word>(own, here + layout.signal());
  signal_there_ = at<Word>(peer, there + layout.signal());
  for (int channel = 0; channel < layout.shape().all_channels(); ++channel) {
    Fifo& fifo = fifos_[static_cast<std::size_t>(channel)];
    fifo.slots = static_cast<std::uint64_t>(layout.shape().slots_of(channel));
    fifo.sent = fifo.credited = fifo.taken = messages_before;
    fifo.credit_here = at<Word>(own, here + layout.credit(channel));
    fifo.credit_there = at<Word>(peer, there + layout.credit(channel));
    fifo.flags_here = own + here + layout.flag(channel, 0);
    fifo.flags_there = peer + there + layout.flag(channel, 0);
    fifo.flag_stride = layout.flag(channel, 1) - layout.flag(channel, 0);
    fifo.bytes_here = own + here + layout.slot(channel, 0);
    fifo.bytes_there = peer + there + layout.slot(channel, 0);
    fifo.slot_bytes = layout.slot(channel, 1) - layout.slot(channel, 0);
    fifo.few = static_cast<std::uint64_t>(layout.shape().few_slots_of(channel));
    fifo.next_to_fill = fifo.next_to_take = messages_before % fifo.slots;
    fifo.filled.assign(fifo.slots, messages_before);
    fifo.refreshed = messages_before;
  }
}

const Capabilities& ShmConnection::capabilities() const {
  static constexpr Capabilities capabilities{.mapped = true, .name = "shm"};
  return capabilities;
}

std::byte* ShmConnection::slot_to_fill(int channel) {
  Fifo& fifo = fifos_[static_cast<std::size_t>(channel)];
  fifo.filling = use_few_slots_ && fifo.next_to_fill == fifo.few ? 0 : fifo.next_to_fill;
  const std::uint64_t before = fifo.filled[fifo.filling];
  if (fifo.credited < before) {
    // acquire: pairs with the release in release(): the peer's reads of the slot are over before
    // we write it again.
    fifo.credited = fifo.credit_here->value.load(std::memory_order_acquire);
    if (fifo.credited < before) {
      return nullptr;
    }
  }
  return fifo.bytes_there + fifo.filling * fifo.slot_bytes;
}

void ShmConnection::put(int channel, std::size_t /*bytes*/, std::uint32_t tag) {
  Fifo& fifo = fifos_[static_cast<std::size_t>(channel)];
  if (fifo.filling != fifo.next_to_fill && fifo.sent - fifo.refreshed > refresh_after)
      [[unlikely]] {
    refresh_flags(fifo);
  }
  SlotFlag& flag = fifo.flag_there(fifo.filling);
  fifo.next_to_fill = fifo.filling + 1 < fifo.slots ? fifo.filling + 1 : 0;
  ++fifo.sent;
  fifo.filled[fifo.filling] = fifo.sent;
  // release: the bytes of the slot are visible before its flag.
  flag.store(flag_of(fifo.sent, tag), std::memory_order_release);
  ring_if_asleep(*peer_);
}

// A flag has 32 bits of its message's number. Those of slots that have not been used for so long that a
// message of today could look like the one of then get the number of the newest message, for which
// nobody waits any more.
void ShmConnection::refresh_flags(Fifo& fifo) {
  for (std::uint64_t slot = fifo.few; slot < fifo.slots; ++slot) {
    // Only unread messages keep a slot; these slots have none, or the receiver would be there.
    // relaxed: there are no bytes that the flag announces.
    if (fifo.credited >= fifo.filled[slot]) {
      fifo.flag_there(slot).store(flag_of(fifo.sent, 0), std::memory_order_relaxed);
    }
  }
  fifo.refreshed = fifo.sent;
}

Arrival ShmConnection::arrived(int channel, std::uint32_t tag, const std::byte** message) {
  Fifo& fifo = fifos_[static_cast<std::size_t>(channel)];
  fifo.taking = fifo.next_to_take;
  Arrival arrival = look(fifo.flag_here(fifo.taking), fifo.taken + 1, tag);
  if (fifo.taking == fifo.few && arrival == Arrival::pending) [[unlikely]] {
    fifo.taking = 0;  // or the sender has gone back to the first slot
    arrival = look(fifo.flag_here(0), fifo.taken + 1, tag);
  }
  *message = fifo.bytes_here + fifo.taking * fifo.slot_bytes;
  return arrival;
}

void ShmConnection::release(int channel) {
  Fifo& fifo = fifos_[static_cast<std::size_t>(channel)];
  ++fifo.taken;
  fifo.next_to_take = fifo.taking + 1 < fifo.slots ? fifo.taking + 1 : 0;
  // release: our reads of the slot come before the peer's next writes.
  fifo.credit_there->value.store(fifo.taken, std::memory_order_release);
  ring_if_asleep(*peer_);
}

void ShmConnection::put_inline(std::span<const std::byte> message, std::uint32_t tag) {
  InlineLine* line = inline_there_[inline_sent_ % inline_sets];
  ++inline_sent_;
  const std::uint64_t flag = flag_of(inline_sent_, tag);
  const std::byte* from = message.data();
  std::size_t left = message.size();
  do {
    const std::size_t bytes = left < InlineLine::payload_bytes ? left : InlineLine::payload_bytes;
    copy_payload(line->payload, from, bytes);
    // release: the payload of this line is visible before its flag.
    line->flag.store(flag, std::memory_order_release);
    from += bytes;
    left -= bytes;
    ++line;
  } while (left > 0);
  ring_if_asleep(*peer_);
}

Arrival ShmConnection::poll_inline(std::span<std::byte> space, std::uint32_t tag,
                                   const std::byte** message) {
  InlineLine* const lines = inline_here_[inline_taken_ % inline_sets];
  const std::uint64_t number = inline_taken_ + 1;
  if (space.size() <= InlineLine::payload_bytes) {
    // Read where it lies: copied, it would wait behind our own message, which is still on its way.
    const Arrival arrival = look(lines->flag, number, tag);
    if (arrival == Arrival::ready) [[likely]] {
      *message = lines->payload;
      end_inline(1);
    }
    return arrival;
  }
  *message = space.data();
  if (space.size() <= most_lines_at_once * InlineLine::payload_bytes && inline_lines_done_ == 0) {
    const std::size_t all =
        (space.size() + InlineLine::payload_bytes - 1) / InlineLine::payload_bytes;
    const Arrival arrival = look_at_all(lines, all, number, tag);
    if (arrival != Arrival::ready) {
      return arrival;
    }
  }
  std::size_t offset = inline_lines_done_ * InlineLine::payload_bytes;
  while (offset < space.size()) {
    const InlineLine& line = lines[inline_lines_done_];
    const Arrival arrival = look(line.flag, number, tag);
    if (arrival != Arrival::ready) {
      return arrival;
    }
    const std::size_t left = space.size() - offset;
    const std::size_t bytes = left < InlineLine::payload_bytes ? left : InlineLine::payload_bytes;
    copy_payload(space.data() + offset, line.payload, bytes);
    offset += bytes;
    ++inline_lines_done_;
  }
  end_inline(inline_lines_done_);
  return Arrival::ready;
}

// A small message of `lines` lines was taken. The next one to the peer goes to lines that it has
// read, and does not look at before it has sent its own: time to fetch them back.
void ShmConnection::end_inline(std::size_t lines) {
  InlineLine* const next = inline_there_[inline_sent_ % inline_sets];
  for (std::size_t line = 0; line < std::min(lines, most_lines_ahead); ++line) {
    prefetch_to_write(next + line);
  }
  inline_lines_done_ = 0;
  ++inline_taken_;
}

void ShmConnection::skip_inline() {
  inline_lines_done_ = 0;
  ++inline_taken_;
}

void ShmConnection::signal() {
  // release: everything that this rank did before, in any memory, is visible to whoever takes it.
  signal_there_->value.store(++signals_sent_, std::memory_order_release);
  ring_if_asleep(*peer_);
}

bool ShmConnection::signalled() {
  // acquire: pairs with signal().
  if (signal_here_->value.load(std::memory_order_acquire) <= signals_taken_) {
    return false;
  }
  ++signals_taken_;
  return true;
}

Result<std::byte*> ShmConnection::map(RemoteSlice slice, std::size_t bytes) {
  auto found = imported_.find(slice.region);
  if (found == imported_.end()) {
    auto imported = import_(slice.region);
    if (!imported) {
      return Unexpected(imported.error());
    }
    found = imported_.emplace(slice.region, *imported).first;
  }
  const MappedRegion& region = found->second;
  // The peer's word is checked, not believed.
  if (slice.offset > region.bytes || bytes > region.bytes - slice.offset) {
    return fail(Code::internal_error,
                fmt::format("a peer named bytes [{}, {} + {}) of its region {}, which has {} bytes",
                            slice.offset, slice.offset, bytes, slice.region, region.bytes));
  }
  return region.base + slice.offset;
}

}  // namespace gyre::shm
