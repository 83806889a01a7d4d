// SPDX-License-Identifier: Apache-2.0
// Peers that do whatever is asked of them at once, up to a moment chosen by the test: the engine of
// one rank on one thread, stopped wherever it can wait.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "transport/connection.h"

namespace gyre::test {

// Shared by the connections of one rank: after `grants` requests were granted, none is.
struct Script {
  int grants = 0;
  transport::Arrival afterwards = transport::Arrival::pending;  // what arrivals then answer
  int refused_by = -1;                                          // peer of the last refusal
  bool refused_arrival = false;
};

class ScriptedConnection final : public transport::Connection {
 public:
  ScriptedConnection(int peer, const transport::Shape& shape, Script& script)
      : peer_(peer), script_(script), outgoing_(shape.slot_bytes), incoming_(shape.slot_bytes) {}

  const transport::Capabilities& capabilities() const override {
    static constexpr transport::Capabilities capabilities{.mapped = false, .name = "scripted"};
    return capabilities;
  }
  std::byte* slot_to_fill(int /*channel*/) override {
    return granted(false) ? outgoing_.data() : nullptr;
  }
  void put(int /*channel*/, std::size_t /*bytes*/, std::uint32_t /*tag*/) override {}
  transport::Arrival arrived(int /*channel*/, std::uint32_t /*tag*/,
                             const std::byte** message) override {
    *message = incoming_.data();
    return granted(true) ? transport::Arrival::ready : script_.afterwards;
  }
  void release(int /*channel*/) override {}
  void put_inline(std::span<const std::byte> /*message*/, std::uint32_t /*tag*/) override {}
  transport::Arrival poll_inline(std::span<std::byte> space, std::uint32_t /*tag*/,
                                 const std::byte** message) override {
    if (!granted(true)) {
      return script_.afterwards;
    }
    std::memset(space.data(), 0, space.size());
    *message = space.data();
    return transport::Arrival::ready;
  }
  void skip_inline() override {}
  void signal() override {}
  bool signalled() override { return granted(false); }
  Result<std::byte*> map(transport::RemoteSlice /*slice*/, std::size_t /*bytes*/) override {
    return fail(Code::not_supported, "nothing is mapped here");
  }

 private:
  bool granted(bool arrival) {
    if (script_.grants > 0) {
      --script_.grants;
      return true;
    }
    script_.refused_by = peer_;
    script_.refused_arrival = arrival;
    return false;
  }

  int peer_;
  Script& script_;
  std::vector<std::byte> outgoing_, incoming_;
};

}  // namespace gyre::test
