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
                    .tag = tag_of(plan.tag),
                    .stream_results = plan.bytes >= streaming_bytes};
  if (count == 0 && !peers_.empty()) {
    announce({}, tag_of(plan.tag));
    return collect_entries(tag_of(plan.tag));
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
    announce({}, tag_of(plan.tag));
    return collect_entries(tag_of(plan.tag));
  }
  Operands operands{.input = static_cast<const std::byte*>(request.send),
                    .output = static_cast<std::byte*>(request.receive),
                    .input_stride = plan.input_stride,
                    .output_stride = plan.output_stride,
                    .tag = tag_of(plan.tag),
                    .stream_results = plan.bytes >= streaming_bytes};
  if (plan.program.protocol() == Protocol::flag_in_line || peers_.empty()) {
    return run(plan, operands);
  }
  return plan.direct_allowed ? run_large(plan, operands) : run_staged(plan, operands);
}

Status Collectives::barrier() {
  const Call call{.collective = plan::Collective::barrier};
  GYRE_TRY(begin(call, encode(call)));
  const std::uint32_t tag = tag_of(signature(call));
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
                                    .book = options_.book,
                                    .tuner = options_.tuner,
                                    .costs = costs_},
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

void Collectives::set_costs(const std::optional<plan::LinkCosts>& costs) {
  forget_prepared();
  costs_ = costs;
  calls_of_our_own_ = sequence_;
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
  history_[sequence_ % history_.size()] = encoded;
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

void Collectives::use_few_slots(bool few) {
  if (few == uses_few_slots_) [[likely]] {
    return;
  }
  uses_few_slots_ = few;
  for (const int peer : peers_) {
    connections_[static_cast<std::size_t>(peer)]->use_few_slots(few);
  }
}

Status Collectives::run_staged(Prepared& prepared, Operands& operands) {
  const engine::StorePolicy::Decision decision = store_policy_.decide(prepared.bytes);
  operands.first_channel = prepared.first_channel;
  operands.stream_messages = decision.streams();
  use_few_slots(decision.few() && prepared.few_slots_do);
  if (!decision.timed) [[likely]] {
    return run(prepared, operands);
  }
  const std::int64_t before = parts_.clock.now_ns();
  GYRE_TRY(run(prepared, operands));
  store_policy_.report(prepared.bytes, decision, parts_.clock.now_ns() - before);
  return {};
}

}  // namespace gyre::core
