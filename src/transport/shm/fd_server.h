// SPDX-License-Identifier: Apache-2.0
// Hands the descriptors of this process's segments to peers on the same host.
//
// Each rank that lives here listens on an abstract Unix socket of its own, whose name begins with
// the process's random address, served on the process's event loop. A peer proves that it belongs
// to the communicator before it may ask, and this side proves the same to it. Strangers are
// dropped and counted, and cannot keep a peer from being served.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "memory/region_table.h"
#include "memory/shared_segment.h"
#include "net/event_loop.h"
#include "net/handshake.h"
#include "transport/shm/fd_protocol.h"

namespace gyre::shm {

class FdServer {
 public:
  struct Statistics {
    std::uint64_t served = 0;
    std::uint64_t refused = 0;  // genuine peers who asked for what is not there
    std::uint64_t dropped = 0;  // strangers, and peers that broke the protocol or were too slow
  };

  // `loop` and `regions` must outlive the server.
  static Result<std::unique_ptr<FdServer>> start(net::EventLoop& loop, const RegionTable& regions);
  FdServer(const FdServer&) = delete;
  FdServer& operator=(const FdServer&) = delete;
  // Closes the socket and all connections; not on the loop's thread.
  ~FdServer();

  // Random. Two ranks are in one process exactly when their servers' addresses are equal.
  [[nodiscard]] const std::string& address() const;

  // Lets the peers of a communicator in: rank `mine.rank` of epoch `mine.epoch` lives here. Several
  // ranks of one epoch may. The secret is the job's, or derived from it for this communicator.
  Status join(const net::Credentials& mine);
  // Closes the rank's socket and withdraws its segments. Not on the loop's thread.
  void leave(std::uint64_t epoch, int rank);

  // From now on peers can fetch the segment as {ObjectKind::segment, id}.
  Status offer(std::uint64_t epoch, int rank, std::uint64_t id,
               std::shared_ptr<const SharedSegment> segment);
  void withdraw(std::uint64_t epoch, int rank, std::uint64_t id);

  // What fetch() gives another process, for a rank in this one: the owner's own mapping.
  [[nodiscard]] std::optional<PeerMapping> find_local(std::uint64_t epoch, int owner,
                                                      ObjectName name) const;

  [[nodiscard]] Statistics statistics() const;

 private:
  struct State;
  FdServer(net::EventLoop& loop, std::shared_ptr<State> state);

  net::EventLoop& loop_;
  std::shared_ptr<State> state_;
};

}  // namespace gyre::shm
