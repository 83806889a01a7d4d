// SPDX-License-Identifier: Apache-2.0
// The transport contract over two lanes, as one of the two ranks sees it. Nothing is mapped, so direct
// plans cannot run.
#pragma once

#include "simulation/lane.h"
#include "transport/connection.h"

namespace gyre::simulation {

class SimulatedConnection final : public transport::Connection {
 public:
  SimulatedConnection(Lane& outgoing, Lane& incoming) : outgoing_(outgoing), incoming_(incoming) {}

  [[nodiscard]] const transport::Capabilities& capabilities() const override;
  [[nodiscard]] std::byte* slot_to_fill(int channel) override {
    return outgoing_.slot_to_fill(channel);
  }
  void put(int channel, std::size_t bytes, std::uint32_t tag) override {
    outgoing_.put(channel, bytes, tag);
  }
  [[nodiscard]] transport::Arrival arrived(int channel, std::uint32_t tag,
                                           const std::byte** message) override {
    return incoming_.arrived(channel, tag, message);
  }
  void release(int channel) override { incoming_.release(channel); }

  void put_inline(std::span<const std::byte> message, std::uint32_t tag) override;
  [[nodiscard]] transport::Arrival poll_inline(std::span<std::byte> space, std::uint32_t tag,
                                               const std::byte** message) override;
  void skip_inline() override { ++skipped_; }

  void signal() override { outgoing_.put(outgoing_.signal_channel(), 0, 0); }
  [[nodiscard]] bool signalled() override;

  [[nodiscard]] Result<std::byte*> map(transport::RemoteSlice slice, std::size_t bytes) override;

 private:
  void drop_skipped();

  Lane& outgoing_;
  Lane& incoming_;
  int skipped_ = 0;  // small messages that are taken before they have come
};

}  // namespace gyre::simulation
