// SPDX-License-Identifier: Apache-2.0
#include "simulation/lane.h"

#include <limits>

namespace gyre::simulation {

using transport::Arrival;

namespace {

// Symmetric use bounds small messages (transport/connection.h): two, and the one that is being read.
constexpr std::uint64_t inline_slots = 4;
constexpr std::uint64_t unbounded = std::numeric_limits<std::uint64_t>::max();

}  // namespace

Lane::Lane(End sender, End receiver, double latency, const transport::Shape& shape,
           const LaneCosts& costs, Traffic& traffic)
    : sender_(sender), receiver_(receiver), latency_(latency), costs_(costs), traffic_(traffic) {
  for (int channel = 0; channel < shape.all_channels(); ++channel) {
    fifos_.emplace_back(static_cast<std::uint64_t>(shape.slots_of(channel)),
                        shape.slot_bytes_of(channel));
  }
  fifos_.emplace_back(inline_slots, shape.inline_bytes);
  fifos_.emplace_back(unbounded, 0);
}

std::byte* Lane::Fifo::slot(std::uint64_t number) {
  if (number >= memory.size()) {
    memory.resize(number + 1);
  }
  if (!memory[number]) {
    memory[number] = std::make_unique<std::byte[]>(slot_bytes);
  }
  return memory[number].get();
}

std::byte* Lane::slot_to_fill(int channel) {
  Fifo& to = fifo(channel);
  while (!to.credits.empty() && is_past(to.credits.front())) {
    to.credits.pop_front();
    ++to.credited;
  }
  if (to.sent - to.credited == to.slots) {
    to.is_missed = to.credits.empty();
    if (!to.credits.empty() && to.rings_at != to.credits.front()) {
      to.rings_at = to.credits.front();
      costs_.agenda->ring_at(to.rings_at, *sender_.doorbell);
    }
    return nullptr;
  }
  return to.slot(to.sent % to.slots);
}

void Lane::put(int channel, std::size_t bytes, std::uint32_t tag) {
  if (costs_.overhead > 0) {
    simgrid::s4u::this_actor::sleep_for(costs_.overhead);
  }
  Fifo& to = fifo(channel);
  ++to.sent;
  to.unreleased.push_back({bytes, tag, never});
  const std::uint64_t simulated = bytes * costs_.scale;
  ++traffic_.messages;
  traffic_.bytes += simulated;
  outbox_.push_back({&to.unreleased.back(), simulated});
  if (outbox_.size() == 1) {
    costs_.agenda->start(*this);
  }
}

Arrival Lane::arrived(int channel, std::uint32_t tag, const std::byte** message) {
  Fifo& from = fifo(channel);
  if (from.unreleased.empty()) {
    return Arrival::pending;
  }
  const Message& oldest = from.unreleased.front();
  if (!is_past(oldest.visible_at)) {
    return Arrival::pending;
  }
  if (oldest.tag != tag) {
    return Arrival::mismatch;
  }
  const std::uint64_t number = from.sent - from.unreleased.size();
  *message = channel == signal_channel() ? nullptr : from.slot(number % from.slots);
  return Arrival::ready;
}

void Lane::release(int channel) {
  Fifo& from = fifo(channel);
  from.unreleased.pop_front();
  // Whoever sends small messages or signals needs no credit.
  from.credits.push_back(channel < inline_channel() ? now() + latency_ : now());
  if (from.is_missed) {
    from.is_missed = false;
    from.rings_at = from.credits.back();
    costs_.agenda->ring_at(from.rings_at, *sender_.doorbell);
  }
}

void Lane::follow_transfers() {
  simgrid::s4u::Comm::on_completion_cb([](const simgrid::s4u::Activity& activity) {
    const auto& comm = static_cast<const simgrid::s4u::Comm&>(activity);
    const bool arrived = comm.get_state() == simgrid::s4u::Activity::State::FINISHED;
    comm.get_data<Lane>()->end_transfer(arrived);
  });
}

void Lane::transfer_next() {
  if (!costs_.is_whole(sender_.rank, receiver_.rank)) {
    end_transfer(false);
    return;
  }
  const std::uint64_t bytes = outbox_.front().bytes;
  if (bytes == 0) {
    end_transfer(true);
    return;
  }
  transfer_ = simgrid::s4u::Comm::sendto_init(sender_.host, receiver_.host);
  transfer_->set_data(this);
  transfer_->set_payload_size(bytes)->start();
}

void Lane::end_transfer(bool arrived) {
  if (!arrived) {
    costs_.on_failure(sender_.rank, receiver_.rank);
    return;
  }
  Message& message = *outbox_.front().message;
  message.visible_at = now() + latency_;
  costs_.agenda->ring_at(message.visible_at, *receiver_.doorbell);
  outbox_.pop_front();
  if (!outbox_.empty()) {
    costs_.agenda->start(*this);
  }
}

}  // namespace gyre::simulation
