// SPDX-License-Identifier: Apache-2.0
#include "simulation/simulated_connection.h"

#include <cstring>

namespace gyre::simulation {

using transport::Arrival;

const transport::Capabilities& SimulatedConnection::capabilities() const {
  static constexpr transport::Capabilities capabilities{.mapped = false, .name = "simulated"};
  return capabilities;
}

// There is always a slot: that is the contract of small messages. Their credits tell nobody anything.
void SimulatedConnection::put_inline(std::span<const std::byte> message, std::uint32_t tag) {
  const int channel = outgoing_.inline_channel();
  std::byte* const slot = outgoing_.slot_to_fill(channel);
  if (!message.empty()) {
    std::memcpy(slot, message.data(), message.size());
  }
  outgoing_.put(channel, message.size(), tag);
}

void SimulatedConnection::drop_skipped() {
  const std::byte* dropped = nullptr;
  while (skipped_ > 0 &&
         incoming_.arrived(incoming_.inline_channel(), 0, &dropped) != Arrival::pending) {
    incoming_.release(incoming_.inline_channel());
    --skipped_;
  }
}

Arrival SimulatedConnection::poll_inline(std::span<std::byte> space, std::uint32_t tag,
                                         const std::byte** message) {
  drop_skipped();
  if (skipped_ > 0) {
    return Arrival::pending;
  }
  const std::byte* lies_at = nullptr;
  const Arrival arrival = incoming_.arrived(incoming_.inline_channel(), tag, &lies_at);
  if (arrival == Arrival::ready) {
    if (!space.empty()) {
      std::memcpy(space.data(), lies_at, space.size());
    }
    *message = space.data();
    incoming_.release(incoming_.inline_channel());
  }
  return arrival;
}

bool SimulatedConnection::signalled() {
  const std::byte* nothing = nullptr;
  if (incoming_.arrived(incoming_.signal_channel(), 0, &nothing) != Arrival::ready) {
    return false;
  }
  incoming_.release(incoming_.signal_channel());
  return true;
}

Result<std::byte*> SimulatedConnection::map(transport::RemoteSlice /*slice*/,
                                            std::size_t /*bytes*/) {
  return fail(Code::not_supported, "A simulated network maps no memory.");
}

}  // namespace gyre::simulation
