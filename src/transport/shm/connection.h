// SPDX-License-Identifier: Apache-2.0
// The transport contract inside a host: stores into mapped memory.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "transport/connection.h"
#include "transport/shm/layout.h"

namespace gyre::shm {

using transport::Arrival;
using transport::Capabilities;
using transport::RemoteSlice;

struct MappedRegion {
  std::byte* base = nullptr;
  std::size_t bytes = 0;
};

// Maps region `id` of the peer into this process; keeps it mapped while the connection lives.
using ImportRegion = std::function<Result<MappedRegion>(std::uint64_t id)>;

class ShmConnection final : public transport::Connection {
 public:
  // `own` and `peer` are the two ranks' segments, mapped; both outlive the connection. Nobody sends
  // before all ends are made. `messages_before`, equal on both ends, starts the count of messages
  // elsewhere than at 0, so that a test need not send 2^32 to see it wrap.
  ShmConnection(const Layout& layout, std::byte* own, int own_rank, std::byte* peer, int peer_rank,
                ImportRegion import, std::uint64_t messages_before = 0);

  const Capabilities& capabilities() const override;
  std::byte* slot_to_fill(int channel) override;
  void use_few_slots(bool few) override { use_few_slots_ = few; }
  void put(int channel, std::size_t bytes, std::uint32_t tag) override;
  Arrival arrived(int channel, std::uint32_t tag, const std::byte** message) override;
  void release(int channel) override;
  void put_inline(std::span<const std::byte> message, std::uint32_t tag) override;
  Arrival poll_inline(std::span<std::byte> space, std::uint32_t tag,
                      const std::byte** message) override;
  void skip_inline() override;
  void signal() override;
  bool signalled() override;
  Result<std::byte*> map(RemoteSlice slice, std::size_t bytes) override;

 private:
  template <typename T>
  static T* at(std::byte* base, std::size_t offset) {
    return reinterpret_cast<T*>(base + offset);
  }

  // Messages are numbered from 1; a number is compared for equality, so that 32 bits may wrap.
  struct Fifo {
    std::uint64_t slots = 0;
    std::uint64_t sent = 0;       // messages that were put
    std::uint64_t credited = 0;   // of those, released by the peer as far as was read
    std::uint64_t taken = 0;      // messages that were released here
    Word* credit_here = nullptr;  // the peer writes: how many of ours it has released
    Word* credit_there = nullptr;
    std::byte* flags_here = nullptr;  // that of slot 0; the others follow
    std::byte* flags_there = nullptr;
    std::size_t flag_stride = 0;
    std::byte* bytes_here = nullptr;  // of slot 0; the others follow
    std::byte* bytes_there = nullptr;
    std::size_t slot_bytes = 0;
    // Slots. A sender goes on after slot `few` - 1 with slot `few` or with slot 0, as it likes; a
    // receiver that has come there looks at both. Numbers tell the message that it waits for.
    std::uint64_t few = 0;
    std::uint64_t next_to_fill = 0, filling = 0;
    std::uint64_t next_to_take = 0, taking = 0;
    std::vector<std::uint64_t> filled;  // by slot: the newest message that was put there
    std::uint64_t refreshed = 0;        // messages when the flags of unused slots were last new

    [[nodiscard]] SlotFlag& flag_here(std::uint64_t slot) const {
      return *at<SlotFlag>(flags_here, slot * flag_stride);
    }
    [[nodiscard]] SlotFlag& flag_there(std::uint64_t slot) const {
      return *at<SlotFlag>(flags_there, slot * flag_stride);
    }
  };

  void end_inline(std::size_t lines);
  void refresh_flags(Fifo& fifo);

  std::vector<Fifo> fifos_;
  InlineLine* inline_here_[inline_sets];
  InlineLine* inline_there_[inline_sets];
  std::uint64_t inline_sent_ = 0, inline_taken_ = 0;
  std::size_t inline_lines_done_ = 0;  // of the message that poll_inline is taking
  bool use_few_slots_ = false;
  Word* signal_here_;
  Word* signal_there_;
  std::uint64_t signals_sent_ = 0, signals_taken_ = 0;
  SegmentHeader* peer_;
  ImportRegion import_;
  std::unordered_map<std::uint64_t, MappedRegion> imported_;
};

}  // namespace gyre::shm
