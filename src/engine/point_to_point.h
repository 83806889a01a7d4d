// SPDX-License-Identifier: Apache-2.0
// Messages of the user's own making between pairs of ranks: any number of sends and receives that
// all go on at the same time, so that no order of them can deadlock. Those to one peer, and those
// from one peer, keep their order.
//
// Both ends know how long each message is, and cut it alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/executor.h"
#include "engine/waiter.h"
#include "transport/connection.h"

namespace gyre::engine {

struct Transfer {
  int peer = -1;
  bool receives = false;
  const std::byte* from = nullptr;  // of a send
  std::byte* to = nullptr;          // of a receive
  std::size_t bytes = 0;
  std::uint32_t tag = 0;  // of every message that it is cut into
};

class PointToPoint {
 public:
  // `connections` by rank, null for this rank itself; all outlive it.
  PointToPoint(std::span<transport::Connection* const> connections, const transport::Shape& shape);

  // Allocates only if there are more transfers than ever before. An empty message is one message.
  [[nodiscard]] Outcome run(std::span<const Transfer> transfers, bool stream_messages,
                            Waiter& waiter);

  // While run() is on its way, and after it has failed: what is being received from each peer.
  struct Pending {
    int peer = -1;
    std::size_t transfer = 0;  // index into what run() was given
    std::size_t before = 0;    // of the same peer, received by this run()
  };
  [[nodiscard]] std::span<const Pending> pending_receives();
  [[nodiscard]] int blamed() const { return blamed_; }

 private:
  // The transfers with one peer in one direction: a list through next_.
  struct Flow {
    int peer = -1;
    bool receives = false;
    std::size_t current = none, last = none;
    std::size_t done = 0;    // transfers
    std::size_t offset = 0;  // bytes of the current one
  };

  void start(std::span<const Transfer> transfers);
  void add(std::size_t transfer);
  Advance advance_all();
  Advance advance(Flow& flow);
  Advance move_piece(Flow& flow, const Transfer& transfer);
  void end_transfer(Flow& flow);
  [[nodiscard]] int channel_for(std::size_t bytes) const;

  static constexpr std::size_t none = ~std::size_t{0};

  std::vector<transport::Connection*> connections_;
  transport::Shape shape_;
  std::span<const Transfer> transfers_;
  StoreHint hint_;
  std::vector<Flow> flows_;
  std::vector<std::size_t> flow_of_;  // by (peer, receives); none
  std::vector<std::size_t> next_;     // by transfer
  std::vector<Pending> pending_;
  std::size_t live_ = 0;
  int blamed_ = -1;
};

}  // namespace gyre::engine
