// SPDX-License-Identifier: Apache-2.0
// One of the two processes of the staged floor: AllReduce out of private buffers through rings of
// slots in shared memory, in many shapes.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "perf/bounds/contest.h"
#include "perf/bounds/loops.h"
#include "perf/bounds/mail.h"
#include "perf/bounds/team.h"

namespace bounds {

inline constexpr std::size_t staged_ring_bytes = std::size_t{4} << 20;

// Filled by one process, emptied by the other; both counters only grow.
struct StagedRing {
  Flag filled;
  Flag emptied;
  alignas(4096) std::array<float, staged_ring_bytes / sizeof(float)> slots;
};

// Zero-filled pages are one whose counters are 0.
struct StagedArena {
  TeamBlock team;
  std::array<Mailbox, 2> boxes;
  std::array<StagedRing, 2> inputs;   // [r]: filled by rank r
  std::array<StagedRing, 2> results;  // [r]: filled by rank r
};

struct StagedShape {
  std::size_t chunk;  // elements
  std::size_t slots;
  Store store;  // of the user's result
};

// One end of a ring, with the ring's geometry for the call that is under way.
class StagedRingEnd {
 public:
  StagedRingEnd(StagedRing& ring, const Waiter& waiter) : ring_(ring), waiter_(waiter) {}

  [[nodiscard]] float* slot(const StagedShape& shape) const {
    return ring_.slots.data() + passed_ % shape.slots * shape.chunk;
  }
  [[nodiscard]] bool has_room(const StagedShape& shape) const {
    // Acquire: the reader is done with the slot before it is written again.
    return passed_ < ring_.emptied.value.load(std::memory_order_acquire) + shape.slots;
  }
  void wait_for_room(const StagedShape& shape) const {
    if (passed_ >= shape.slots) waiter_.until(ring_.emptied.value, passed_ + 1 - shape.slots);
  }
  void wait_for_data() const { waiter_.until(ring_.filled.value, passed_ + 1); }
  // Release: the slot's bytes (or their last read) before the counter.
  void announce_filled() { ring_.filled.value.store(++passed_, std::memory_order_release); }
  void announce_emptied() { ring_.emptied.value.store(++passed_, std::memory_order_release); }

 private:
  StagedRing& ring_;
  const Waiter& waiter_;
  std::uint64_t passed_ = 0;
};

class StagedMember {
 public:
  StagedMember(StagedArena& arena, const Team& team, const UserBuffers& user, std::size_t count);

  void by_mail() { mail_.all_reduce(in_, out_, count_); }
  // Whole inputs are exchanged; each side reduces everything.
  void exchange(const StagedShape& shape);
  // Each side reduces one half and sends the result back.
  void halves(const StagedShape& shape);

 private:
  struct Sent {
    const float* from;
    std::size_t count;
    std::size_t at = 0;
  };
  struct Fetched {
    float* to;
    std::size_t count;
    std::size_t at = 0;
  };

  void send_chunk(Sent& sent, const StagedShape& shape);
  void send_ahead(Sent& sent, std::size_t first, const StagedShape& shape);
  void reduce_and_return(std::size_t at, std::size_t part, const StagedShape& shape);
  void fetch_result(Fetched& fetched, const StagedShape& shape);

  const float* in_;
  float* out_;
  std::size_t count_;
  int rank_;
  const Loops& loops_;
  Mail mail_;
  StagedRingEnd input_to_;
  StagedRingEnd input_from_;
  StagedRingEnd result_to_;
  StagedRingEnd result_from_;
};

// Every way that is worth trying for a message of so many bytes. `member` outlives them.
[[nodiscard]] std::vector<Variant> staged_variants(StagedMember& member, std::size_t bytes);

}  // namespace bounds
