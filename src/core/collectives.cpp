// SPDX-License-Identifier: Apache-2.0
// The path of a call that goes well. What goes wrong is in collectives_failure.cpp.
#include "core/collectives.h"

#include <algorithm>
#include <cstring>

#include "base/log.h"

namespace gyre::core {

using engine::Operands;
using engine::Outcome;
using plan::Protocol;
using transport::Arrival;

namespace {

std::span<transport::Connection* const> connections_of(shm::Endpoint* endpoint) {
  return endpoint != nullptr ? endpoint->connections() : std::span<transport::Connection* const>();
}

std::vector<transport::Connection*> by_rank(shm::Endpoint* endpoint, int ranks) {
  const auto connections = connections_of(endpoint);
  std::vector<transport::Connection*> all(connections.begin(), connections.end());
  all.resize(static_cast<std::size_t>(ranks));
  return all;
}

std::span<const std::byte> bytes_of(const auto& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace

Collectives::Collectives(const CollectivesOptions& options, CollectivesParts parts)
    : options_(options),
      parts_(std::move(parts)),
      operations_(options.ranks),
      connections_(connections_of(parts_.endpoint)),
      executor_(by_rank(parts_.endpoint, options.ranks), options.shape),
      waiter_(options.wait, parts_.clock,
              parts_.endpoint != nullptr ? &parts_.endpoint->doorbell() : nullptr,
              parts_.failure.word()),
      exchange_(options.rank, options.ranks, parts_.endpoint,
                by_rank(parts_.endpoint, options.ranks), options.shape),
      entries_(static_cast<std::size_t>(options.ranks)),
      peer_inputs_(entries_.size()),
      peer_outputs_(entries_.size()) {
  waiter_.set_timeout(options.timeout_s * 1'000'000'000);
  waiter_.set_doubt([this] { return find_deviant(); });
  for (int rank = 0; rank < options.ranks; ++rank) {
    if (rank != options.rank) {
      peers_.push_back(rank);
    }
  }
  missing_.reserve(peers_.size());
}

Status Collectives::all_reduce(const void* send, void* receive, std::size_t count,
                               gyreDataType_t type, gyreRedOp_t op) {
  const PrepareKey key{.count = count, .type = static_cast<DataType>(type), .op = op};
  if (newest_ == nullptr || newest_->key != key) [[unlikely]] {
    const auto prepared = prepare(key);
    if (!prepared) {
      return Unexpected(prepared.error());
    }
  }
  Prepared& plan = *newest_;
  GYRE_TRY(begin(plan.call, plan.encoded));
  last_plan_ = plan.title.c_str();
  Operands operands{.input = static_cast<const std::byte*>(send),
                    .output = static_cast<std::byte*>(receive),
                    .tag = plan.tag,
                    .stream_results = plan.bytes >= streaming_bytes};
  if (count == 0 && !peers_.empty()) {
    announce({}, plan.tag);
    return collect_entries(plan.tag);
  }
  if (plan.program.protocol() == Protocol::flag_in_line || peers_.empty()) {
    return run(plan, operands);
  }
  return run_large(plan, operands);
}

Status Collectives::run_request(const Request& request) {
  const auto prepared = prepare({.count = request.count,
                                 .type = static_cast<DataType>(request.type),
                                 .op = request.op,
                                 .collective = request.collective,
                                 .root = request.root});
  if (!prepared) {
    return Unexpected(prepared.error());
  }
  Prepared& plan = **prepared;
  GYRE_TRY(begin(plan.call, plan.encoded));
  last_plan_ = plan.title.c_str();
  return run_request(request, plan);
}

Status Collectives::run_request(const Request& request, Prepared& plan) {
  if (request.count == 0) {  // the ranks still meet, and learn if they do not call the same
    announce({}, plan.tag);
    return collect_entries(plan.tag);
  }
  Operands operands{.input = static_cast<const std::byte*>(request.send),
                    .output = static_cast<std::byte*>(request.receive),
                    .input_stride = plan.input_stride,
                    .output_stride = plan.output_stride,
                    .tag = plan.tag,
                    .stream_results = plan.bytes >= streaming_bytes};
  return plan.program.protocol() == Protocol::flag_in_line || peers_.empty()
             ? run(plan, operands)
             : run_staged(plan, operands);
}

Status Collectives::barrier() {
  const Call call{.collective = plan::Collective::barrier};
  const std::uint32_t tag = signature(call);
  GYRE_TRY(begin(call, encode(call)));
  last_plan_ = "exchange/inline";
  announce({}, tag);
  return collect_entries(tag);
}

Result<Prepared*> Collectives::prepare(const PrepareKey& key) {
  if (newest_ != nullptr && newest_->key == key) [[likely]] {
    return newest_;
  }
  auto found = prepared_.find(key);
  if (found == prepared_.end()) {
    if (prepared_.size() >= most_prepared) {
      forget_prepared();
    }
    const auto op = static_cast<gyreRedOp_t>(key.op);
    const auto reduction = operations_.resolve(op, static_cast<gyreDataType_t>(key.type));
    if (!reduction) {
      return Unexpected(reduction.error());
    }
    auto made = prepare_collective({.rank = options_.rank,
                                    .ranks = options_.ranks,
                                    .cpus = options_.cpus,
                                    .shape = options_.shape,
                                    .settings = options_.plans,
                                    .book = options_.book},
                                   key, *reduction, Operations::common_number(op),
                                   Operations::same_on_all_ranks(op));
    if (!made) {
      return Unexpected(std::move(made).error());
    }
    found = prepared_.emplace(key, std::move(*made)).first;
    const Prepared& ready = *found->second;
    executor_.reserve_scratch(ready.program, ready.geometry, ready.combiner.element_bytes());
  }
  newest_ = found->second.get();
  return newest_;
}

void Collectives::forget_prepared() {
  newest_ = nullptr;
  last_plan_ = "";
  prepared_.clear();
}

// From here on the peers can see what this rank calls.
Status Collectives::begin(const Call& call, const EncodedCall& encoded) {
  // relaxed: a failure that comes a moment later is seen by the first wait.
  if (parts_.failure.word().load(std::memory_order_relaxed) != 0) [[unlikely]] {
    return Unexpected(cause());
  }
  current_ = call;
  ++sequence_;
  if (parts_.endpoint != nullptr) {
    parts_.endpoint->publish_call(sequence_, encoded);
  }
  return {};
}

Status Collectives::run(Prepared& prepared, const Operands& operands) {
  const Outcome outcome =
      executor_.run(prepared.program, prepared.geometry, prepared.combiner, operands, waiter_);
  if (outcome == Outcome::done) [[likely]] {
    return {};
  }
  return fail_with(outcome, executor_.blamed());
}

Status Collectives::run_staged(Prepared& prepared, Operands& operands) {
  const engine::StorePolicy::Decision decision = store_policy_.decide(prepared.bytes);
  operands.first_channel = prepared.first_channel;
  operands.stream_messages = decision.stream;
  if (!decision.timed) [[likely]] {
    return run(prepared, operands);
  }
  const std::int64_t before = parts_.clock.now_ns();
  GYRE_TRY(run(prepared, operands));
  store_policy_.report(prepared.bytes, decision, parts_.clock.now_ns() - before);
  return {};
}

// Every rank tells every other where its buffers are mapped. Direct only if all are; who has
// ordinary buffers knows the answer without waiting.
Status Collectives::run_large(Prepared& staged, Operands& operands) {
  Entry mine;
  if (staged.direct_allowed) {
    mine = describe_buffers(operands, staged.bytes);
  }
  announce(mine, staged.tag);
  if (mine.send.region == 0) {
    for (const int peer : peers_) {
      connections_[static_cast<std::size_t>(peer)]->skip_inline();
    }
    return run_staged(staged, operands);
  }
  entries_[static_cast<std::size_t>(options_.rank)] = mine;
  GYRE_TRY(collect_entries(staged.tag));
  const bool all = std::ranges::all_of(entries_, [](const Entry& e) { return e.send.region != 0; });
  return all ? run_direct(staged, operands) : run_staged(staged, operands);
}

Collectives::Entry Collectives::describe_buffers(const Operands& operands,
                                                 std::size_t bytes) const {
  const auto send = parts_.regions.find_part(operands.input, bytes);
  const auto receive = parts_.regions.find_part(operands.output, bytes);
  if (!send || !receive) {
    return {};
  }
  const std::size_t head = std::max(send->head, receive->head);
  const std::size_t tail =
      std::max(bytes - send->head - send->bytes, bytes - receive->head - receive->bytes);
  if (head > most_edge_bytes || tail > most_edge_bytes || head + tail >= bytes) {
    return {};
  }
  // Offsets as if the region held the whole buffer: only [head, bytes - tail) is ever touched.
  return {.send = {send->slice.id, send->slice.offset - send->head},
          .receive = {receive->slice.id, receive->slice.offset - receive->head},
          .head = static_cast<std::uint32_t>(head),
          .tail = static_cast<std::uint32_t>(tail)};
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
  Status status;
  if (parts_.failure.failed()) {
    status = Unexpected(cause());
  } else {
    std::size_t head = 0;
    std::size_t tail = 0;
    for (const Entry& entry : entries_) {
      head = std::max<std::size_t>(head, entry.head);
      tail = std::max<std::size_t>(tail, entry.tail);
    }
    status = map_peers(staged.bytes, head, tail);
    if (status) {
      status = run_edges_and_middle(staged, operands, head, tail);
    }
  }
  // release: our accesses to the peers' memory come before it.
  in_direct_.store(0, std::memory_order_release);
  if (!status) {
    quiesce(mine);
  }
  return status;
}

Status Collectives::map_peers(std::size_t bytes, std::size_t head, std::size_t tail) {
  const auto map_one = [&](int peer, transport::RemoteSlice slice) -> Result<std::byte*> {
    auto& connection = *connections_[static_cast<std::size_t>(peer)];
    slice.offset += head;
    auto mapped = connection.map(slice, bytes - head - tail);
    return mapped ? Result<std::byte*>(*mapped - head) : mapped;
  };
  for (const int peer : peers_) {
    const auto at = static_cast<std::size_t>(peer);
    const auto input = map_one(peer, entries_[at].send);
    const auto output = map_one(peer, entries_[at].receive);
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
  middle.in_place = std::ranges::any_of(entries_, [](const Entry& entry) {
    return entry.send.region == entry.receive.region && entry.send.offset == entry.receive.offset;
  });
  middle.count = count - first - last;
  const auto prepared = prepare(middle);
  if (!prepared) {
    return Unexpected(prepared.error());
  }
  last_plan_ = (*prepared)->title.c_str();
  const std::size_t offset = first * element;
  for (const int peer : peers_) {
    peer_inputs_[static_cast<std::size_t>(peer)] += offset;
    peer_outputs_[static_cast<std::size_t>(peer)] += offset;
  }
  Operands shifted = operands;
  shifted.input += offset;
  shifted.output += offset;
  shifted.peer_inputs = peer_inputs_;
  shifted.peer_outputs = peer_outputs_;
  shifted.first_channel = (*prepared)->first_channel;  // should the middle be too small for direct
  return run(**prepared, shifted);
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
  return run(**prepared, shifted);
}

}  // namespace gyre::core
