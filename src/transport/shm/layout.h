// SPDX-License-Identifier: Apache-2.0
// Where things lie in the segment that a rank shares with the ranks of its host.
//
//   [ SegmentHeader | what it sends to each rank | inbox of sender 0 | inbox of sender 1 | ... ]
//                                                  without an inbox of the owner itself
//
// A rank owns its segment. Each peer writes only its own inbox there (and reads the header), so
// every word has one writer. Words that different ranks write never share a cache line.
//
//   inbox = [ 2 small messages, in lines | flags of each channel's slots | credit words |
//             signal word | lines of each line channel | slots of each channel ]
//
// flag: one word for each slot, apart from the slots: the one who polls it shares no line with the
// one who still writes the bytes, and finds the next flag where it found the last. That of a line is the
// line's last word: the bytes come with it.
// credit word (channel c): how many messages of *our* FIFO c to that sender it has released.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transport/connection.h"

namespace gyre::shm {

inline constexpr std::size_t cache_line = 64;
inline constexpr std::size_t page = 4096;
inline constexpr int inline_sets = 2;  // see the symmetry rule in connection.h
// A rank that only sends is ahead of the others by as many calls as there are slots: what it called when
// they found a message that does not fit is still to be seen.
inline constexpr int call_records = 256;
inline constexpr int send_records = 4;  // for each receiver

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

struct alignas(cache_line) Word {
  std::atomic<std::uint64_t> value;
};

// Bytes and their flag in one cache line. The flag is stored last; a reader that sees it sees the
// bytes. 56 is a multiple of every element size.
struct alignas(cache_line) InlineLine {
  static constexpr std::size_t payload_bytes = transport::line_bytes;
  std::byte payload[payload_bytes];
  std::atomic<std::uint64_t> flag;  // message number << 32 | tag
};
static_assert(sizeof(InlineLine) == cache_line);

// Of one slot: message number << 32 | tag. Stored after the slot's bytes.
using SlotFlag = std::atomic<std::uint64_t>;

// What the owner is calling, or sending to one peer by gyreSend and the like: for peers that wait too
// long to compare with what they expect.
struct alignas(cache_line) CallRecord {
  std::atomic<std::uint64_t> sequence;  // 0 while the words change
  std::atomic<std::uint64_t> words[4];
};
static_assert(sizeof(CallRecord) == cache_line);

struct SegmentHeader {
  // Written by the owner, read by every peer after each signal.
  alignas(cache_line) std::atomic<std::uint32_t> asleep;
  // The futex that the owner sleeps on; a peer adds one and wakes it.
  alignas(cache_line) std::atomic<std::uint32_t> wake;
  // 1 once the owner, after a failure, touches no peer's memory any more.
  alignas(cache_line) std::atomic<std::uint32_t> quiesced;
  alignas(cache_line) CallRecord calls[call_records];
  // The message that the owner has waited for too long; stays when it has come.
  alignas(cache_line) CallRecord missed;
};

constexpr std::size_t round_up(std::size_t value, std::size_t to) {
  return (value + to - 1) / to * to;
}

class Layout {
 public:
  Layout(int ranks, const transport::Shape& shape)
      : ranks_(ranks),
        shape_(shape),
        inline_lines_(round_up(shape.inline_bytes, InlineLine::payload_bytes) /
                      InlineLine::payload_bytes),
        flag_stride_(round_up(
            static_cast<std::size_t>(std::max(shape.slots, shape.small_slots)) * sizeof(SlotFlag),
            cache_line)),
        flags_at_(inline_sets * inline_lines_ * cache_line),
        credits_at_(flags_at_ + static_cast<std::size_t>(shape.first_line()) * flag_stride_),
        signal_at_(credits_at_ + static_cast<std::size_t>(shape.all_channels()) * cache_line),
        lines_at_(signal_at_ + cache_line),
        slots_at_(
            round_up(lines_at_ + static_cast<std::size_t>(shape.line_channels * shape.line_slots) *
                                     cache_line,
                     page)),
        inbox_bytes_(round_up(slot_of_size(shape.first_line(), 0), page)) {}

  [[nodiscard]] std::size_t segment_bytes() const {
    return inboxes_at() + page + static_cast<std::size_t>(std::max(ranks_ - 1, 0)) * inbox_bytes_;
  }
  // Offset of the record of what the owner sent to `receiver` as number `number`.
  [[nodiscard]] std::size_t send_record(int receiver, std::uint64_t number) const {
    return sends_at + (static_cast<std::size_t>(receiver) * send_records + number % send_records) *
                          sizeof(CallRecord);
  }
  // Offset of an inbox in the segment of `owner`. It differs from owner to owner within a page: a
  // processor takes a load for dependent on an earlier store to another page at the same offset
  // ("4K aliasing"), and a rank polls its own inbox right after it has written to its peer's.
  [[nodiscard]] std::size_t inbox(int owner, int sender) const {
    const std::size_t shift = static_cast<std::size_t>(owner) * 17 * cache_line % page;
    const int index = sender < owner ? sender : sender - 1;
    return inboxes_at() + shift + static_cast<std::size_t>(index) * inbox_bytes_;
  }
  // Offsets in an inbox.
  [[nodiscard]] std::size_t inline_set(int set) const {
    return static_cast<std::size_t>(set) * inline_lines_ * cache_line;
  }
  [[nodiscard]] std::size_t inline_lines() const { return inline_lines_; }  // of each set
  [[nodiscard]] std::size_t flag(int channel, int slot) const {
    if (channel >= shape_.first_line()) {
      return this->slot(channel, slot) + InlineLine::payload_bytes;
    }
    return flags_at_ + static_cast<std::size_t>(channel) * flag_stride_ +
           static_cast<std::size_t>(slot) * sizeof(SlotFlag);
  }
  [[nodiscard]] std::size_t credit(int channel) const {
    return credits_at_ + static_cast<std::size_t>(channel) * cache_line;
  }
  [[nodiscard]] std::size_t signal() const { return signal_at_; }
  [[nodiscard]] std::size_t slot(int channel, int slot) const {
    if (channel >= shape_.first_line()) {
      const int line = (channel - shape_.first_line()) * shape_.line_slots + slot;
      return lines_at_ + static_cast<std::size_t>(line) * cache_line;
    }
    return slot_of_size(channel, slot);
  }

  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] const transport::Shape& shape() const { return shape_; }

 private:
  [[nodiscard]] std::size_t slot_of_size(int channel, int slot) const {
    const int large = std::min(channel, shape_.channels);
    return slots_at_ + stride(0) * static_cast<std::size_t>(large * shape_.slots) +
           stride(shape_.channels) *
               static_cast<std::size_t>((channel - large) * shape_.small_slots) +
           stride(channel) * static_cast<std::size_t>(slot);
  }
  // From one slot of a channel to the next.
  [[nodiscard]] std::size_t stride(int channel) const {
    return round_up(shape_.slot_bytes_of(channel), cache_line);
  }

  static constexpr std::size_t sends_at = round_up(sizeof(SegmentHeader), page);
  [[nodiscard]] std::size_t inboxes_at() const { return round_up(send_record(ranks_, 0), page); }

  int ranks_;
  transport::Shape shape_;
  std::size_t inline_lines_, flag_stride_, flags_at_, credits_at_, signal_at_, lines_at_, slots_at_,
      inbox_bytes_;
};

}  // namespace gyre::shm
