// SPDX-License-Identifier: Apache-2.0
#include "perf/bounds/staged.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "perf/bounds/loops.h"
#include "perf/bounds/mail.h"

namespace bounds {
namespace {

constexpr std::size_t most_chunk_bytes = 131072;
constexpr std::size_t most_slots = 8;
constexpr std::size_t line_elements = cache_line / sizeof(float);

// Filled by one process, emptied by the other; both counters only grow.
struct Ring {
  Flag filled;
  Flag emptied;
  alignas(4096) std::array<float, most_slots * most_chunk_bytes / sizeof(float)> slots;
};

struct Arena {
  TeamBlock team;
  std::array<Mailbox, 2> boxes;
  std::array<Ring, 2> inputs;   // [r]: filled by rank r
  std::array<Ring, 2> results;  // [r]: filled by rank r
};

struct Shape {
  std::size_t chunk;  // elements
  std::size_t slots;
  Store store;  // of the user's result
};

// One end of a ring, with the ring's geometry for the call that is under way.
class RingEnd {
 public:
  RingEnd(Ring& ring, const Waiter& waiter) : ring_(ring), waiter_(waiter) {}

  [[nodiscard]] float* slot(const Shape& shape) const {
    return ring_.slots.data() + passed_ % shape.slots * shape.chunk;
  }
  [[nodiscard]] bool has_room(const Shape& shape) const {
    // Acquire: the reader is done with the slot before it is written again.
    return passed_ < ring_.emptied.value.load(std::memory_order_acquire) + shape.slots;
  }
  void wait_for_room(const Shape& shape) const {
    if (passed_ >= shape.slots) waiter_.until(ring_.emptied.value, passed_ + 1 - shape.slots);
  }
  void wait_for_data() const { waiter_.until(ring_.filled.value, passed_ + 1); }
  // Release: the slot's bytes (or their last read) before the counter.
  void announce_filled() { ring_.filled.value.store(++passed_, std::memory_order_release); }
  void announce_emptied() { ring_.emptied.value.store(++passed_, std::memory_order_release); }

 private:
  Ring& ring_;
  const Waiter& waiter_;
  std::uint64_t passed_ = 0;
};

class Member {
 public:
  Member(Arena& arena, const Team& team, const UserBuffers& user, std::size_t count)
      : in_(user.in()),
        out_(user.out()),
        count_(count),
        rank_(team.rank()),
        loops_(best_loops()),
        mail_(arena.boxes.data(), team),
        input_to_(arena.inputs[index(rank_)], team.waiter()),
        input_from_(arena.inputs[index(1 - rank_)], team.waiter()),
        result_to_(arena.results[index(rank_)], team.waiter()),
        result_from_(arena.results[index(1 - rank_)], team.waiter()) {}

  void by_mail() { mail_.all_reduce(in_, out_, count_); }

  // Whole inputs are exchanged; each side reduces everything.
  void exchange(const Shape& shape) {
    Sent sent{in_, count_};
    for (std::size_t first = 0; first < count_; first += shape.chunk) {
      send_ahead(sent, first, shape);
      input_from_.wait_for_data();
      const std::size_t part = std::min(shape.chunk, count_ - first);
      loops_.add(out_ + first, in_ + first, input_from_.slot(shape), part, shape.store);
      input_from_.announce_emptied();
    }
  }

  // Each side reduces one half and sends the result back.
  void halves(const Shape& shape) {
    const std::size_t middle = (count_ / 2 + line_elements - 1) / line_elements * line_elements;
    const std::size_t split = std::min(middle, count_);
    const std::size_t mine = rank_ == 0 ? 0 : split;
    const std::size_t theirs = split - mine;
    const std::size_t my_count = rank_ == 0 ? split : count_ - split;
    const std::size_t their_count = count_ - my_count;
    Sent sent{in_ + theirs, their_count};
    Fetched fetched{out_ + theirs, their_count};
    const std::size_t longer = std::max(my_count, their_count);
    for (std::size_t first = 0; first < longer; first += shape.chunk) {
      send_ahead(sent, first, shape);
      if (first < my_count) {
        reduce_and_return(mine + first, std::min(shape.chunk, my_count - first), shape);
      }
      if (first > 0) fetch_result(fetched, shape);
    }
    while (fetched.at < fetched.count) fetch_result(fetched, shape);
  }

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

  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

  void send_chunk(Sent& sent, const Shape& shape) {
    const std::size_t part = std::min(shape.chunk, sent.count - sent.at);
    loops_.copy(input_to_.slot(shape), sent.from + sent.at, part, Store::cached);
    input_to_.announce_filled();
    sent.at += part;
  }

  // Sends the chunk at `first`, which the other side waits for, and what fits of the next ones.
  void send_ahead(Sent& sent, std::size_t first, const Shape& shape) {
    if (sent.at <= first && sent.at < sent.count) {
      input_to_.wait_for_room(shape);
      send_chunk(sent, shape);
    }
    while (sent.at < sent.count && sent.at < first + shape.chunk * shape.slots &&
           input_to_.has_room(shape)) {
      send_chunk(sent, shape);
    }
  }

  void reduce_and_return(std::size_t at, std::size_t part, const Shape& shape) {
    result_to_.wait_for_room(shape);
    input_from_.wait_for_data();
    loops_.add_and_keep(out_ + at, result_to_.slot(shape), in_ + at, input_from_.slot(shape), part,
                        shape.store);
    input_from_.announce_emptied();
    result_to_.announce_filled();
  }

  void fetch_result(Fetched& fetched, const Shape& shape) {
    if (fetched.at >= fetched.count) return;
    const std::size_t part = std::min(shape.chunk, fetched.count - fetched.at);
    result_from_.wait_for_data();
    loops_.copy(fetched.to + fetched.at, result_from_.slot(shape), part, shape.store);
    result_from_.announce_emptied();
    fetched.at += part;
  }

  const float* in_;
  float* out_;
  std::size_t count_;
  int rank_;
  const Loops& loops_;
  Mail mail_;
  RingEnd input_to_;
  RingEnd input_from_;
  RingEnd result_to_;
  RingEnd result_from_;
};

std::string name_of(const char* form, const Shape& shape) {
  return std::string(form) + "/" + std::to_string(shape.chunk * sizeof(float) / 1024) + "Kx" +
         std::to_string(shape.slots) + (shape.store == Store::streaming ? "/streaming" : "");
}

std::vector<Shape> shapes_for(std::size_t bytes) {
  constexpr std::size_t streaming_pays_from = std::size_t{1} << 20;
  std::vector<Shape> shapes;
  for (std::size_t chunk = 2048; chunk <= most_chunk_bytes; chunk *= 2) {
    // Small chunks are for small messages only; one of more than the message is one too many.
    if (chunk < bytes / 256 || (chunk >= 2 * bytes && chunk > 2048)) continue;
    for (const std::size_t slots : {2, 4, 8}) {
      shapes.push_back({chunk / sizeof(float), slots, Store::cached});
      if (bytes < streaming_pays_from) continue;
      shapes.push_back({chunk / sizeof(float), slots, Store::streaming});
    }
  }
  if (bytes / 256 > most_chunk_bytes) {
    for (const std::size_t chunk : {32768, 65536}) {
      shapes.push_back({chunk / sizeof(float), 2, Store::cached});
      shapes.push_back({chunk / sizeof(float), 2, Store::streaming});
      shapes.push_back({chunk / sizeof(float), 4, Store::streaming});
    }
  }
  return shapes;
}

std::vector<Variant> variants_of(Member& member, std::size_t bytes) {
  std::vector<Variant> variants;
  if (bytes <= most_mail_bytes) variants.push_back({"mail", [&] { member.by_mail(); }});
  for (const Shape& shape : shapes_for(bytes)) {
    variants.push_back({name_of("exchange", shape), [&member, shape] { member.exchange(shape); }});
    variants.push_back({name_of("halves", shape), [&member, shape] { member.halves(shape); }});
  }
  return variants;
}

Best measure_size(std::size_t bytes, const ClockRule& rule) {
  const std::size_t count = bytes / sizeof(float);
  const SharedMemory shared(sizeof(Arena));
  // Zero-filled pages are an Arena whose counters are 0: nothing to construct, nothing to touch.
  auto& arena = *std::launder(reinterpret_cast<Arena*>(shared.data()));
  Best best;
  run_processes(2, arena.team, [&](Team& team) {
    // After the fork, so that the buffers are private.
    UserBuffers user(count, team.rank());
    Member member(arena, team, user, count);
    const Best mine = find_best(team, rule, variants_of(member, bytes), [&](const Variant& v) {
      user.poison();
      v.run();
      user.verify(2, "staged " + v.name);
      team.barrier();
    });
    if (team.rank() == 0) best = mine;
    team.barrier();
  });
  return best;
}

}  // namespace

std::vector<Best> measure_staged_floor(const std::vector<std::size_t>& sizes,
                                       const ClockRule& rule) {
  std::vector<Best> results;
  results.reserve(sizes.size());
  for (const std::size_t bytes : sizes) results.push_back(measure_size(bytes, rule));
  return results;
}

}  // namespace bounds
