// SPDX-License-Identifier: Apache-2.0
// Messages between pairs of ranks that the user's calls name one by one: Send, Recv and the
// collectives whose counts differ. Matches what a rank sends to itself, numbers the others, and
// says who sends what nobody expects.
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "collectives/plan.h"
#include "engine/point_to_point.h"
#include "memory/types.h"
#include "transport/shm/endpoint.h"

namespace gyre::core {

struct Message {
  int peer = -1;
  bool receives = false;
  const void* from = nullptr;  // of a send
  void* to = nullptr;          // of a receive
  std::size_t count = 0;       // elements
  DataType type = DataType::float32;
};

class Exchange {
 public:
  // `endpoint` is null in a communicator of one; it outlives the exchange.
  Exchange(int rank, int ranks, shm::Endpoint* endpoint,
           std::span<transport::Connection* const> connections, const transport::Shape& shape);

  // Copies what this rank sends to itself and tells the peers what is sent. Nothing has been done
  // when it fails: a send to itself has no receive that fits.
  Status prepare(plan::Collective kind, std::span<const Message> messages);
  // Moves what prepare() was given.
  [[nodiscard]] engine::Outcome run(bool stream_messages, engine::Waiter& waiter);
  [[nodiscard]] int blamed() const { return engine_.blamed(); }
  // Bytes of the messages to and from others.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  // While run() waits: whether what a peer has sent is not what is received from it. Also tells the
  // peers what is missed here.
  [[nodiscard]] bool find_misfit();
  // Whether `peer` waits for a message that this rank has not sent. It stays true until this rank
  // sends.
  [[nodiscard]] bool is_missed_by(int peer) const;

  // "In ..., rank 1 receives ... and rank 0 sends ...". `peer`: the sender.
  [[nodiscard]] std::string explain_misfit(int peer);
  // What `peer` waits for, in words: is_missed_by(peer).
  [[nodiscard]] std::string describe_missed_by(int peer) const;
  // What this rank waits for from or at `peer`.
  [[nodiscard]] std::string describe_wait(int peer);

 private:
  struct Awaited {
    std::uint64_t number;
    const Message* message;
  };
  Status copy_to_self(std::span<const Message> messages);
  [[nodiscard]] std::optional<Awaited> awaited_from(int peer);
  // Of a message that is received, among all from its sender.
  [[nodiscard]] std::uint64_t number_of(const engine::PointToPoint::Pending& pending) const {
    return received_[static_cast<std::size_t>(pending.peer)] + pending.before + 1;
  }

  int rank_;
  shm::Endpoint* endpoint_;
  engine::PointToPoint engine_;
  plan::Collective kind_ = plan::Collective::send_recv;
  std::vector<Message> messages_;               // those to and from others
  std::vector<engine::Transfer> transfers_;     // the same
  std::vector<std::uint64_t> sent_, received_;  // by peer, before this run for what is received
  std::uint64_t bytes_ = 0;
};

}  // namespace gyre::core
