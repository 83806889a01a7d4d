// SPDX-License-Identifier: Apache-2.0
// Calls that may be done in mapped memory: the ranks tell each other where their buffers are, and then
// reach into them, or do not.
#include <algorithm>

#include "collectives/direct.h"
#include "collectives/layout.h"
#include "core/collectives.h"

namespace gyre::core {

using engine::Operands;
using engine::Outcome;
using plan::Reach;
using transport::Arrival;

namespace {

std::span<const std::byte> bytes_of(const auto& value) {
  return std::as_bytes(std::span(&value, 1));
}

// Of numbers: buffers that a rank does not have may be null.
bool overlap(const void* one, std::uint64_t one_bytes, const void* other,
             std::uint64_t other_bytes) {
  const auto a = reinterpret_cast<std::uintptr_t>(one);
  const auto b = reinterpret_cast<std::uintptr_t>(other);
  return a < b + other_bytes && b < a + one_bytes;
}

bool is_reached(Reach::Whose whose, int rank, int root) {
  return whose == Reach::Whose::everybody || (whose == Reach::Whose::root && rank == root);
}

}  // namespace

// Whether the plan reaches into the buffer of `rank`.
bool Collectives::reaches_input(const Prepared& plan, int rank) {
  return is_reached(plan.reach.inputs, rank, plan.key.root);
}
bool Collectives::reaches_output(const Prepared& plan, int rank) {
  return is_reached(plan.reach.outputs, rank, plan.key.root);
}

// Every rank tells every other where its buffers are mapped. Direct only if all are that must be.
//
// Where every rank needs something of every other one, whoever has an ordinary buffer knows the answer
// without waiting. A root may run ahead of the others, who then overwrite unread small messages
// (connection.h), and the others cannot know what the root has: there, all wait.
Status Collectives::run_large(Prepared& staged, Operands& operands) {
  Entry mine;
  if (staged.direct_allowed) {
    mine = describe_buffers(staged, operands);
  }
  announce(mine, operands.tag);
  if (!plan::has_root(staged.key.collective) && !is_mapped(staged, options_.rank, mine)) {
    for (const int peer : peers_) {
      connections_[static_cast<std::size_t>(peer)]->skip_inline();
    }
    return run_staged(staged, operands);
  }
  entries_[static_cast<std::size_t>(options_.rank)] = mine;
  GYRE_TRY(collect_entries(operands.tag));
  for (int rank = 0; rank < options_.ranks; ++rank) {
    if (!is_mapped(staged, rank, entries_[static_cast<std::size_t>(rank)])) {
      return run_staged(staged, operands);
    }
  }
  return run_direct(staged, operands);
}

bool Collectives::is_mapped(const Prepared& plan, int rank, const Entry& entry) {
  return (!reaches_input(plan, rank) || entry.send.region != 0) &&
         (!reaches_output(plan, rank) || entry.receive.region != 0);
}

Collectives::Entry Collectives::describe_buffers(const Prepared& plan,
                                                 const Operands& operands) const {
  const bool input = reaches_input(plan, options_.rank);
  const bool output = reaches_output(plan, options_.rank);
  const auto send = input ? parts_.regions.find_part(operands.input, plan.input_bytes)
                          : std::optional<RegionPart>(RegionPart{});
  const auto receive = output ? parts_.regions.find_part(operands.output, plan.output_bytes)
                              : std::optional<RegionPart>(RegionPart{});
  if (!send || !receive) {
    return {};
  }
  const std::size_t head = std::max(send->head, receive->head);
  const std::size_t tail =
      std::max(input ? plan.input_bytes - send->head - send->bytes : 0,
               output ? plan.output_bytes - receive->head - receive->bytes : 0);
  // Only AllReduce is done in three parts, its ends apart.
  const std::size_t most =
      plan.key.collective == plan::Collective::all_reduce ? most_edge_bytes : 0;
  if (head > most || tail > most || head + tail >= plan.bytes) {
    return {};
  }
  // Offsets as if the region held the whole buffer: only [head, bytes - tail) is ever touched.
  Entry entry;
  entry.head = static_cast<std::uint32_t>(head);
  entry.tail = static_cast<std::uint32_t>(tail);
  if (input) {
    entry.send = {send->slice.id, send->slice.offset - send->head};
  }
  if (output) {
    entry.receive = {receive->slice.id, receive->slice.offset - receive->head};
  }
  entry.in_place = overlap(operands.input, plan.input_bytes, operands.output, plan.output_bytes);
  return entry;
}

void Collectives::announce(const Entry& entry, std::uint32_t tag) {
  for (const int peer : peers_) {
    connections_[static_cast<std::size_t>(peer)]->put_inline(bytes_of(entry), tag);
  }
}

Status Collectives::collect_entries(std::uint32_t tag) {
  missing_.assign(peers_.begin(), peers_.end());
  while (!missing_.empty()) {
    const std::size_t before = missing_.size();
    if (const int other = take_entries(tag); other >= 0) {
      return fail_with(Outcome::mismatch, other);
    }
    if (missing_.size() < before) {
      waiter_.progressed();
      continue;
    }
    const engine::Waiter::Verdict verdict = waiter_.pause();
    if (verdict != engine::Waiter::Verdict::poll_again) {
      return fail_with(engine::outcome_of(verdict), missing_.front());
    }
  }
  return {};
}

// Takes the entries that are there off `missing_`. A rank whose message is of another call, or -1.
int Collectives::take_entries(std::uint32_t tag) {
  for (std::size_t i = 0; i < missing_.size();) {
    const int peer = missing_[i];
    const auto into =
        std::as_writable_bytes(std::span(&entries_[static_cast<std::size_t>(peer)], 1));
    const Arrival arrival =
        transport::copy_inline(*connections_[static_cast<std::size_t>(peer)], into, tag);
    if (arrival == Arrival::mismatch) {
      return peer;
    }
    if (arrival == Arrival::ready) {
      missing_[i] = missing_.back();
      missing_.pop_back();
    } else {
      ++i;
    }
  }
  return -1;
}

Status Collectives::run_direct(const Prepared& staged, const Operands& operands) {
  const Entry mine = entries_[static_cast<std::size_t>(options_.rank)];
  // seq_cst, with note_failure: either it sees that we are at the peers' memory, or we see that
  // the communicator has failed. Never neither.
  in_direct_.store(1, std::memory_order_seq_cst);
  const Status status =
      parts_.failure.failed() ? Unexpected(cause()) : run_in_peers_memory(staged, operands);
  // release: our accesses to the peers' memory come before it.
  in_direct_.store(0, std::memory_order_release);
  if (!status) {
    quiesce(mine);
  }
  return status;
}

Status Collectives::run_in_peers_memory(const Prepared& staged, const Operands& operands) {
  std::size_t head = 0;
  std::size_t tail = 0;
  for (const Entry& entry : entries_) {
    head = std::max<std::size_t>(head, entry.head);
    tail = std::max<std::size_t>(tail, entry.tail);
  }
  GYRE_TRY(map_peers(staged, head, tail));
  if (staged.key.collective == plan::Collective::all_reduce) {
    return run_edges_and_middle(staged, operands, head, tail);
  }
  PrepareKey direct = staged.key;
  direct.direct = true;
  direct.in_place = any_in_place();
  const auto prepared = prepare(direct);
  if (!prepared) {
    return Unexpected(prepared.error());
  }
  last_plan_ = (*prepared)->title.c_str();
  Operands reaching = operands;
  reaching.peer_inputs = peer_inputs_;
  reaching.peer_outputs = peer_outputs_;
  reaching.first_channel = (*prepared)->first_channel;
  return run_aside(**prepared, reaching);
}

bool Collectives::any_in_place() const {
  return std::ranges::any_of(entries_, [](const Entry& entry) { return entry.in_place; });
}

Status Collectives::map_peers(const Prepared& plan, std::size_t head, std::size_t tail) {
  const auto map_one = [&](int peer, transport::RemoteSlice slice,
                           std::size_t bytes) -> Result<std::byte*> {
    auto& connection = *connections_[static_cast<std::size_t>(peer)];
    slice.offset += head;
    auto mapped = connection.map(slice, bytes - head - tail);
    return mapped ? Result<std::byte*>(*mapped - head) : mapped;
  };
  for (const int peer : peers_) {
    const auto at = static_cast<std::size_t>(peer);
    const auto input = reaches_input(plan, peer)
                           ? map_one(peer, entries_[at].send, plan.input_bytes)
                           : Result<std::byte*>(nullptr);
    const auto output = reaches_output(plan, peer)
                            ? map_one(peer, entries_[at].receive, plan.output_bytes)
                            : Result<std::byte*>(nullptr);
    if (!input || !output) {
      const Error error = input ? output.error() : input.error();
      parts_.fail_everywhere(options_.rank, error);
      return Unexpected(error);
    }
    peer_inputs_[at] = *input;
    peer_outputs_[at] = *output;
  }
  return {};
}

// The middle, where everybody's buffers are mapped, in place; the ends, which share their pages
// with other data of somebody, staged.
Status Collectives::run_edges_and_middle(const Prepared& staged, const Operands& operands,
                                         std::size_t head, std::size_t tail) {
  const std::size_t element = size_of(staged.key.type);
  const std::size_t first = (head + element - 1) / element;
  const std::size_t last = (tail + element - 1) / element;
  const PrepareKey whole = staged.key;
  const std::size_t count = whole.count;
  if (first + last >= count) {
    return run_edge(whole, operands, 0, count);
  }
  GYRE_TRY(run_edge(whole, operands, 0, first));
  GYRE_TRY(run_edge(whole, operands, count - last, last));
  PrepareKey middle = whole;
  middle.direct = true;
  middle.in_place = any_in_place();
  middle.count = count - first - last;
  const auto prepared = prepare(middle);
  if (!prepared) {
    return Unexpected(prepared.error());
  }
  last_plan_ = (*prepared)->title.c_str();
  const std::size_t offset = first * element;
  for (const int peer : peers_) {
    const auto at = static_cast<std::size_t>(peer);
    peer_inputs_[at] += reaches_input(staged, peer) ? offset : 0;
    peer_outputs_[at] += reaches_output(staged, peer) ? offset : 0;
  }
  Operands shifted = operands;
  shifted.input += offset;
  shifted.output += offset;
  shifted.peer_inputs = peer_inputs_;
  shifted.peer_outputs = peer_outputs_;
  shifted.first_channel = (*prepared)->first_channel;  // should the middle be too small for direct
  return run_aside(**prepared, shifted);
}

Status Collectives::run_edge(const PrepareKey& whole, const Operands& operands, std::size_t first,
                             std::size_t count) {
  if (count == 0) {
    return {};
  }
  PrepareKey edge = whole;
  edge.count = count;
  const auto prepared = prepare(edge);
  if (!prepared) {
    return Unexpected(prepared.error());
  }
  Operands shifted = operands;
  shifted.input += first * size_of(whole.type);
  shifted.output += first * size_of(whole.type);
  shifted.stream_results = false;
  shifted.first_channel = (*prepared)->first_channel;
  return run_aside(**prepared, shifted);
}

// What takes no part in the choice between few slots and many: as it was left, if that is enough.
Status Collectives::run_aside(Prepared& prepared, const Operands& operands) {
  use_few_slots(uses_few_slots_ && prepared.few_slots_do);
  return run(prepared, operands);
}

}  // namespace gyre::core
