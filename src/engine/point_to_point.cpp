// SPDX-License-Identifier: Apache-2.0
#include "engine/point_to_point.h"

#include <algorithm>

#include "memory/kernels.h"

namespace gyre::engine {

using transport::Arrival;

namespace {

// Up to here messages go through small slots: the first bytes of a message are read while the next
// ones are written, and many slots rotate (docs/algorithms.md).
constexpr std::size_t small_slots_up_to = 512 * 1024;
// What one flow moves before the next one has its turn.
constexpr int pieces_in_a_turn = 4;

}  // namespace

PointToPoint::PointToPoint(std::span<transport::Connection* const> connections,
                           const transport::Shape& shape)
    : connections_(connections.begin(), connections.end()),
      shape_(shape),
      flow_of_(2 * connections.size(), none) {
  flows_.reserve(flow_of_.size());
  pending_.reserve(connections.size());
}

Outcome PointToPoint::run(std::span<const Transfer> transfers, bool stream_messages,
                          Waiter& waiter) {
  start(transfers);
  hint_ = stream_messages ? StoreHint::streaming : StoreHint::cached;
  return advance_until_done(
      waiter, [&] { return live_ > 0; }, [&] { return advance_all(); });
}

void PointToPoint::start(std::span<const Transfer> transfers) {
  transfers_ = transfers;
  for (const Flow& flow : flows_) {
    flow_of_[2 * static_cast<std::size_t>(flow.peer) + (flow.receives ? 1 : 0)] = none;
  }
  flows_.clear();
  next_.assign(transfers.size(), none);
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    add(i);
  }
  live_ = flows_.size();
}

Advance PointToPoint::advance_all() {
  Advance all = Advance::blocked;
  for (Flow& flow : flows_) {
    const Advance one = advance(flow);
    if (one == Advance::mismatch) {
      return one;
    }
    all = one == Advance::moved ? one : all;
  }
  return all;
}

// Puts a transfer at the end of its flow.
void PointToPoint::add(std::size_t transfer) {
  const Transfer& added = transfers_[transfer];
  std::size_t& index =
      flow_of_[2 * static_cast<std::size_t>(added.peer) + (added.receives ? 1 : 0)];
  if (index == none) {
    index = flows_.size();
    flows_.push_back(
        {.peer = added.peer, .receives = added.receives, .current = transfer, .last = transfer});
    return;
  }
  Flow& flow = flows_[index];
  next_[flow.last] = transfer;
  flow.last = transfer;
}

Advance PointToPoint::advance(Flow& flow) {
  Advance moved = Advance::blocked;
  for (int piece = 0; piece < pieces_in_a_turn && flow.current != none; ++piece) {
    const Advance one = move_piece(flow, transfers_[flow.current]);
    if (one != Advance::moved) {
      blamed_ = flow.peer;
      return one == Advance::mismatch ? one : moved;
    }
    moved = one;
  }
  return moved;
}

// One slot's worth of the current transfer.
Advance PointToPoint::move_piece(Flow& flow, const Transfer& transfer) {
  transport::Connection& connection = *connections_[static_cast<std::size_t>(flow.peer)];
  const int channel = channel_for(transfer.bytes);
  const std::size_t bytes = std::min(transfer.bytes - flow.offset, shape_.slot_bytes_of(channel));
  if (flow.receives) {
    const std::byte* message = nullptr;
    const Arrival arrival = connection.arrived(channel, transfer.tag, &message);
    if (arrival != Arrival::ready) {
      return arrival == Arrival::mismatch ? Advance::mismatch : Advance::blocked;
    }
    copy_bytes(transfer.to + flow.offset, message, bytes, StoreHint::cached);
    connection.release(channel);
  } else {
    std::byte* const slot = connection.slot_to_fill(channel);
    if (slot == nullptr) {
      return Advance::blocked;
    }
    copy_bytes(slot, transfer.from + flow.offset, bytes, hint_);
    connection.put(channel, bytes, transfer.tag);
  }
  flow.offset += bytes;
  if (flow.offset == transfer.bytes) {
    end_transfer(flow);
  }
  return Advance::moved;
}

void PointToPoint::end_transfer(Flow& flow) {
  flow.current = next_[flow.current];
  flow.offset = 0;
  ++flow.done;
  live_ -= flow.current == none ? 1 : 0;
}

int PointToPoint::channel_for(std::size_t bytes) const {
  if (bytes <= transport::line_bytes && shape_.line_channels > 0) {
    return shape_.first_line();
  }
  return bytes <= small_slots_up_to && shape_.small_channels > 0 ? shape_.first_small() : 0;
}

std::span<const PointToPoint::Pending> PointToPoint::pending_receives() {
  pending_.clear();
  for (const Flow& flow : flows_) {
    if (flow.receives && flow.current != none) {
      pending_.push_back({flow.peer, flow.current, flow.done});
    }
  }
  return pending_;
}

}  // namespace gyre::engine
