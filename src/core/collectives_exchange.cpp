// SPDX-License-Identifier: Apache-2.0
// Send and Recv, and the collectives whose counts differ from rank to rank.
#include <algorithm>
#include <numeric>

#include "core/collectives.h"

namespace gyre::core {

using engine::Outcome;
using plan::Collective;

namespace {

const std::byte* element_at(const void* buffer, std::size_t index, DataType type) {
  return static_cast<const std::byte*>(buffer) + index * size_of(type);
}

std::byte* element_at(void* buffer, std::size_t index, DataType type) {
  return static_cast<std::byte*>(buffer) + index * size_of(type);
}

std::size_t sum_of(std::span<const std::size_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

}  // namespace

Status Collectives::exchange(std::span<const Message> messages) {
  // relaxed: a failure that comes a moment later is seen by the first wait.
  if (parts_.failure.word().load(std::memory_order_relaxed) != 0) [[unlikely]] {
    return Unexpected(cause());
  }
  return run_messages(Collective::send_recv, messages);
}

Status Collectives::run_messages(Collective kind, std::span<const Message> messages) {
  GYRE_TRY(exchange_.prepare(kind, messages));
  last_plan_ = "pairwise/staged";
  exchanging_ = true;
  const engine::StorePolicy::Decision decision = message_policy_.decide(exchange_.bytes());
  use_few_slots(decision.few());
  const std::int64_t before = decision.timed ? parts_.clock.now_ns() : 0;
  const Outcome outcome = exchange_.run(decision.streams(), waiter_);
  if (outcome != Outcome::done) [[unlikely]] {
    return fail_with(outcome, exchange_.blamed());
  }
  if (decision.timed) {
    message_policy_.report(exchange_.bytes(), decision, parts_.clock.now_ns() - before);
  }
  exchanging_ = false;
  return {};
}

// Messages that belong to a collective, which all ranks call in the same order.
Status Collectives::exchange_sections(const Call& call, std::span<const Message> messages) {
  GYRE_TRY(begin(call, encode(call)));
  return run_messages(call.collective, messages);
}

Status Collectives::all_to_all_v(const void* send, const Sections& from, void* receive,
                                 const Sections& to, gyreDataType_t type) {
  const auto element = static_cast<DataType>(type);
  messages_.clear();
  for (int distance = 0; distance < options_.ranks; ++distance) {
    const int target = (options_.rank + distance) % options_.ranks;
    const int source = (options_.rank + options_.ranks - distance) % options_.ranks;
    const auto sent = static_cast<std::size_t>(target);
    const auto received = static_cast<std::size_t>(source);
    messages_.push_back({.peer = target,
                         .from = element_at(send, from.displacements[sent], element),
                         .count = from.counts[sent],
                         .type = element});
    messages_.push_back({.peer = source,
                         .receives = true,
                         .to = element_at(receive, to.displacements[received], element),
                         .count = to.counts[received],
                         .type = element});
  }
  return exchange_sections({.collective = Collective::all_to_all_v, .type = element}, messages_);
}

Status Collectives::all_gather_v(const void* send, void* receive, const Sections& to,
                                 gyreDataType_t type) {
  const auto element = static_cast<DataType>(type);
  const auto own = static_cast<std::size_t>(options_.rank);
  std::byte* const kept = element_at(receive, to.displacements[own], element);
  messages_.clear();
  for (int distance = 0; distance < options_.ranks; ++distance) {
    if (distance == 0 && kept == send) {
      continue;  // in place
    }
    const int source = (options_.rank + options_.ranks - distance) % options_.ranks;
    const auto received = static_cast<std::size_t>(source);
    messages_.push_back({.peer = (options_.rank + distance) % options_.ranks,
                         .from = send,
                         .count = to.counts[own],
                         .type = element});
    messages_.push_back({.peer = source,
                         .receives = true,
                         .to = element_at(receive, to.displacements[received], element),
                         .count = to.counts[received],
                         .type = element});
  }
  return exchange_sections(
      {.collective = Collective::all_gather_v, .type = element, .count = sum_of(to.counts)},
      messages_);
}

// A Reduce to each rank in turn. Nobody but its root waits in it, so they overlap.
Status Collectives::reduce_scatter_v(const void* send, void* receive,
                                     std::span<const std::size_t> counts, gyreDataType_t type,
                                     gyreRedOp_t op) {
  const auto element = static_cast<DataType>(type);
  const Call call{.collective = Collective::reduce_scatter_v,
                  .type = element,
                  .op = Operations::common_number(op),
                  .count = sum_of(counts)};
  GYRE_TRY(begin(call, encode(call)));
  std::size_t first = 0;
  for (int root = 0; root < options_.ranks; ++root) {
    const std::size_t count = counts[static_cast<std::size_t>(root)];
    const Request request{.collective = Collective::reduce,
                          .send = element_at(send, first, element),
                          .receive = receive,
                          .count = count,
                          .type = type,
                          .op = op,
                          .root = root};
    const auto prepared = prepare({.count = count,
                                   .type = element,
                                   .op = op,
                                   .collective = Collective::reduce,
                                   .root = root});
    if (!prepared) {
      return Unexpected(prepared.error());
    }
    last_plan_ = (*prepared)->title.c_str();
    GYRE_TRY(run_request(request, **prepared));
    first += count;
  }
  return {};
}

}  // namespace gyre::core
