// SPDX-License-Identifier: Apache-2.0
// The calls of one thread between gyreGroupStart and gyreGroupEnd: kept, and launched together by the
// outermost End. Of one communicator, collectives run in the order of the calls, then all sends and
// receives at once; different communicators run at the same time, each on a thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/status.h"
#include "core/communicator.h"
#include "core/exchange.h"
#include "gyre/gyre.h"

namespace gyre::core {

class Group {
 public:
  using Operation = std::function<Status(Communicator&)>;

  [[nodiscard]] static Group& of_this_thread();
  // Whether calls are to be added and not made.
  [[nodiscard]] static bool is_open() { return depth > 0; }

  void start() { ++depth; }
  // Ends one Start; the outermost one launches what was added. When a call of the group was refused,
  // nothing is launched.
  Status end();

  // Fail when the group uses another stream for the communicator.
  Status add(gyreComm_t comm, gyreStream_t stream, Operation operation);
  Status add(gyreComm_t comm, gyreStream_t stream, const Message& message);
  // Work that belongs to no communicator: making one.
  void add(std::function<Status()> task);
  // A call was refused: so is the group.
  void refuse(const Error& error);

  // What one communicator has to do.
  struct Batch {
    gyreComm_t comm = nullptr;
    gyreStream_t stream = nullptr;
    std::vector<Operation> operations;
    std::vector<Message> messages;
  };

 private:
  Result<Batch*> batch_of(gyreComm_t comm, gyreStream_t stream);

  // Read by every call, so it must cost next to nothing: initial-exec makes it one load.
  [[gnu::tls_model("initial-exec")]] static thread_local int depth;

  std::vector<Batch> batches_;
  std::vector<std::function<Status()>> tasks_;
  std::optional<Error> refused_;
};

}  // namespace gyre::core
