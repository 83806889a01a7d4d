// SPDX-License-Identifier: Apache-2.0
// Hands the descriptors of this process's segments to peers on the same host.
//
// One abstract Unix socket a process, with a random name, served on the process's event loop. A
// peer proves that it belongs to the communicator before it may ask, and this side proves the same
// to it. Strangers are dropped and counted, and cannot keep a peer from being served.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "memory/region_table.h"
#include "memory/shared_segment.h"

namespace gyre::net {
class EventLoop;
}

namespace gyre::shm {

// 256 bits, of the job or derived from it for one communicator.
using Secret = std::array<std::byte, 32>;

// region: an id of the process's RegionTable. segment: an id that a communicator chose for a
// segment of its own; means something only together with (epoch, owner rank).
enum class ObjectKind : std::uint8_t { region = 1, segment = 2 };

struct ObjectName {
  ObjectKind kind = ObjectKind::segment;
  std::uint64_t id = 0;
};

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

  // The socket's name (without the leading zero byte). Two ranks are in one process exactly when
  // their servers' addresses are equal.
  [[nodiscard]] const std::string& address() const;

  // Lets the peers of a communicator in: rank `rank` of epoch `epoch` lives here. Several ranks of
  // one epoch may. leave() withdraws the rank's segments too.
  Status join(std::uint64_t epoch, int rank, const Secret& secret);
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
  class Impl;
  explicit FdServer(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace gyre::shm
