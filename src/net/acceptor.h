// SPDX-License-Identifier: Apache-2.0
// A listening socket on the loop that hands out authenticated connections only. Handshakes of many
// incoming sockets run side by side, each with a deadline, so that a stranger who stays silent
// keeps nobody waiting. Strangers are dropped and counted, one INFO line each.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/status.h"
#include "net/event_loop.h"
#include "net/handshake.h"
#include "net/socket.h"

namespace gyre::net {

class Acceptor {
 public:
  // Called on the loop thread for each proven member of the job. The library version of the peer
  // is not judged here: compare it and tell the peer.
  using OnPeer = std::function<void(UniqueFd fd, const PeerIdentity& peer, const Address& from)>;

  static Result<std::unique_ptr<Acceptor>> start(
      EventLoop& loop, Listener listener, const Credentials& mine, OnPeer on_peer,
      Clock::duration handshake_limit = std::chrono::seconds(10));
  // Stops listening and drops handshakes under way; waits for a running callback (not when on the
  // loop thread).
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  [[nodiscard]] const Address& address() const;
  [[nodiscard]] std::uint64_t strangers() const;

 private:
  struct State;
  explicit Acceptor(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

// Connects, with retries while nobody listens yet or the other end closes early, and authenticates
// as initiator. Blocking; for callers that are not on a loop thread. `expected_rank` must answer.
Result<UniqueFd> dial(const Address& address, const Credentials& mine, std::uint32_t expected_rank,
                      Deadline deadline);

}  // namespace gyre::net
