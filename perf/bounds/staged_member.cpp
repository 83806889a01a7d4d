// SPDX-License-Identifier: Apache-2.0
#include "perf/bounds/staged_member.h"

#include <algorithm>

namespace bounds {
namespace {

constexpr std::size_t most_chunk_bytes = 131072;
constexpr std::size_t line_elements = cache_line / sizeof(float);

std::size_t index(int rank) {
  return static_cast<std::size_t>(rank);
}

std::string name_of(const char* form, const StagedShape& shape) {
  return std::string(form) + "/" + std::to_string(shape.chunk * sizeof(float) / 1024) + "Kx" +
         std::to_string(shape.slots) + (shape.store == Store::streaming ? "/streaming" : "");
}

std::vector<StagedShape> shapes_for(std::size_t bytes) {
  constexpr std::size_t streaming_pays_from = std::size_t{1} << 20;
  constexpr std::size_t many_slots = 256;
  std::vector<StagedShape> shapes;
  for (std::size_t chunk = 2048; chunk <= most_chunk_bytes; chunk *= 2) {
    // Small chunks are for small messages only; one of more than the message is one too many.
    if (chunk < bytes / 256 || (chunk >= 2 * bytes && chunk > 2048)) continue;
    // A few slots that stay in the first or second cache, or so many that they have left the
    // reader's before they are written again.
    for (const std::size_t slots : {std::size_t{2}, std::size_t{4}, std::size_t{8},
                                    std::min(many_slots, staged_ring_bytes / chunk)}) {
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

}  // namespace

StagedMember::StagedMember(StagedArena& arena, const Team& team, const UserBuffers& user,
                           std::size_t count)
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

void StagedMember::exchange(const StagedShape& shape) {
  Sent sent{in_, count_};
  for (std::size_t first = 0; first < count_; first += shape.chunk) {
    send_ahead(sent, first, shape);
    input_from_.wait_for_data();
    const std::size_t part = std::min(shape.chunk, count_ - first);
    loops_.add(out_ + first, in_ + first, input_from_.slot(shape), part, shape.store);
    input_from_.announce_emptied();
  }
}

void StagedMember::halves(const StagedShape& shape) {
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

void StagedMember::send_chunk(Sent& sent, const StagedShape& shape) {
  const std::size_t part = std::min(shape.chunk, sent.count - sent.at);
  loops_.copy(input_to_.slot(shape), sent.from + sent.at, part, Store::cached);
  input_to_.announce_filled();
  sent.at += part;
}

// Sends the chunk at `first`, which the other side waits for, and what fits of the next ones.
void StagedMember::send_ahead(Sent& sent, std::size_t first, const StagedShape& shape) {
  if (sent.at <= first && sent.at < sent.count) {
    input_to_.wait_for_room(shape);
    send_chunk(sent, shape);
  }
  while (sent.at < sent.count && sent.at < first + shape.chunk * shape.slots &&
         input_to_.has_room(shape)) {
    send_chunk(sent, shape);
  }
}

void StagedMember::reduce_and_return(std::size_t at, std::size_t part, const StagedShape& shape) {
  result_to_.wait_for_room(shape);
  input_from_.wait_for_data();
  loops_.add_and_keep(out_ + at, result_to_.slot(shape), in_ + at, input_from_.slot(shape), part,
                      shape.store);
  input_from_.announce_emptied();
  result_to_.announce_filled();
}

void StagedMember::fetch_result(Fetched& fetched, const StagedShape& shape) {
  if (fetched.at >= fetched.count) return;
  const std::size_t part = std::min(shape.chunk, fetched.count - fetched.at);
  result_from_.wait_for_data();
  loops_.copy(fetched.to + fetched.at, result_from_.slot(shape), part, shape.store);
  result_from_.announce_emptied();
  fetched.at += part;
}

std::vector<Variant> staged_variants(StagedMember& member, std::size_t bytes) {
  std::vector<Variant> variants;
  if (bytes <= most_mail_bytes) variants.push_back({"mail", [&] { member.by_mail(); }});
  for (const StagedShape& shape : shapes_for(bytes)) {
    variants.push_back({name_of("exchange", shape), [&member, shape] { member.exchange(shape); }});
    variants.push_back({name_of("halves", shape), [&member, shape] { member.halves(shape); }});
  }
  return variants;
}

}  // namespace bounds
