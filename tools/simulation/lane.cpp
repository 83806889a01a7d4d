// SPDX-License-Identifier: Apache-2.0
#include "simulation/lane.h"

#include <algorithm>
#include <limits>

namespace gyre::simulation {

using transport::Arrival;

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
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

std::byte* Lane::slot_to_fill(int channel) {
  Fifo& to = fifo(channel);
  while (!to.credits.empty() && is_past(to.credits.front())) {
    to.credits.pop_front();
    ++to.credited;
  }
  if (to.sent - to.credited == to.slots) {
    to.is_missed = true;
    if (!to.credits.empty()) {
      sender_.doorbell->expect(to.credits.front());
    }
    return nullptr;
  }
  if (to.memory.empty()) {
    to.memory.resize(to.slots * to.slot_bytes + 1);  // never without an address
  }
  return to.memory.data() + to.sent % to.slots * to.slot_bytes;
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
  post({&to.unreleased.back(), simulated});
}

// The actor is made for the first message: most lanes of a tree are used in one direction only.
void Lane::post(Parcel parcel) {
  outbox_.push_back(parcel);
  if (!has_actor_) {
    has_actor_ = true;
    simgrid::s4u::Actor::create("lane", costs_.control_host, [this] { carry(); })->daemonize();
  } else if (idle_) {
    idle_ = false;
    work_->release();
  }
}

Arrival Lane::arrived(int channel, std::uint32_t tag, const std::byte** message) {
  Fifo& from = fifo(channel);
  if (from.unreleased.empty()) {
    return Arrival::pending;
  }
  const Message& oldest = from.unreleased.front();
  if (!is_past(oldest.visible_at)) {
    receiver_.doorbell->expect(oldest.visible_at);
    return Arrival::pending;
  }
  if (oldest.tag != tag) {
    return Arrival::mismatch;
  }
  const std::uint64_t number = from.sent - from.unreleased.size();
  *message = from.memory.data() + number % from.slots * from.slot_bytes;
  return Arrival::ready;
}

void Lane::release(int channel) {
  Fifo& from = fifo(channel);
  from.unreleased.pop_front();
  // Whoever sends small messages or signals needs no credit.
  from.credits.push_back(channel < inline_channel() ? now() + latency_ : now());
  if (from.is_missed) {
    from.is_missed = false;
    sender_.doorbell->ring();
  }
}

void Lane::carry() {
  for (;;) {
    while (outbox_.empty()) {
      idle_ = true;
      work_->acquire();
    }
    const Parcel parcel = outbox_.front();
    outbox_.pop_front();
    if (!transfer(parcel.bytes)) {
      return;
    }
    parcel.message->visible_at = now() + latency_;
    receiver_.doorbell->ring();
  }
}

// False when the link broke. The death of a host is noticed by others.
bool Lane::transfer(std::uint64_t bytes) {
  try {
    if (bytes > 0) {
      simgrid::s4u::Comm::sendto(sender_.host, receiver_.host, bytes);
    }
    return true;
  } catch (const simgrid::NetworkFailureException&) {
    if (sender_.host->is_on() && receiver_.host->is_on()) {
      costs_.on_failure(sender_.rank, receiver_.rank);
    }
    return false;
  }
}

}  // namespace gyre::simulation
