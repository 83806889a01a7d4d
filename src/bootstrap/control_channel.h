// SPDX-License-Identifier: Apache-2.0
// One rank's link to all others for everything that is not bulk data: exchange of addresses and
// keys, barriers, and news of deaths. Built through the root of a unique id, then independent of
// it.
//
// The blocking calls are collective, for one thread at a time, and never for the loop thread. They
// return the failure when there is one. fail(), failure() and goodbye() are for any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "bootstrap/network.h"
#include "bootstrap/unique_id.h"
#include "net/bytes.h"
#include "net/deadline.h"
#include "net/event_loop.h"

namespace gyre::bootstrap {

using net::Bytes;
using net::ByteView;
using net::Deadline;

// The first cause; what every later call returns.
struct Failure {
  int culprit = -1;  // rank; -1: nobody in particular
  Code code = Code::remote_error;
  std::string text;
  [[nodiscard]] Error error() const { return Error{code, text}; }
};

struct ControlOptions {
  UniqueId id;
  int rank = 0;
  int size = 1;
  // By when all ranks must have joined, and how long that was from the beginning (for the text of
  // the error; the root starts its own clock of this length at the first check-in).
  Deadline deadline;
  std::chrono::milliseconds init_timeout{0};
  Bytes card;  // what every other rank learns of this one at once; at most max_card_bytes
  Network network;
  std::uint32_t library_version = 0;
  // Called on the loop thread, once, when the channel fails for whatever cause, fail() included.
  // It may be called before connect() has returned; never after the channel is destroyed.
  std::function<void(const Failure&)> on_failure;
};

inline constexpr std::size_t max_card_bytes = 64 * 1024;

class ControlChannel {
 public:
  static Result<std::unique_ptr<ControlChannel>> connect(net::EventLoop& loop,
                                                         ControlOptions options);
  // Never waits for a peer. Without a goodbye() the others take this rank for dead.
  ~ControlChannel();
  ControlChannel(const ControlChannel&) = delete;
  ControlChannel& operator=(const ControlChannel&) = delete;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  // Of all ranks, by rank.
  [[nodiscard]] const std::vector<Bytes>& cards() const;

  // Every rank's bytes (lengths may differ), by rank, in log2(n) rounds.
  Result<std::vector<Bytes>> all_gather(ByteView mine, Deadline deadline);
  Status barrier(Deadline deadline);

  // Floods a failure to every rank. The first cause wins; later ones are ignored.
  void fail(int culprit, Code code, std::string text);
  [[nodiscard]] std::optional<Failure> failure() const;

  // This rank leaves in good order: that its connections close is no death. Call barrier() first:
  // news travels over the ranks that are still there.
  void goodbye();

  // Sockets that this channel holds, for tests and statistics: O(log n).
  [[nodiscard]] std::size_t links() const;

 private:
  class Core;
  explicit ControlChannel(std::shared_ptr<Core> core);
  std::shared_ptr<Core> core_;
};

}  // namespace gyre::bootstrap
