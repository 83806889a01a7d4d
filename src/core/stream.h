// SPDX-License-Identifier: Apache-2.0
// An ordered queue of operations on CPU buffers, and the progress thread that serves it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "base/status.h"

namespace gyre::core {

// Every function may be called from any thread.
class Stream {
 public:
  using Task = std::function<Status()>;

  static Result<std::unique_ptr<Stream>> create();
  // Waits for what is queued.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void enqueue(Task task);
  // Returns when all that was queued is done, with its first failure; later ones start afresh.
  Status synchronize();
  // in_progress while something is queued or runs; else as synchronize().
  Status query();

 private:
  Stream() = default;
  void serve();
  Status take_failure();

  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<Task> tasks_;  // the first one is running
  std::optional<Error> failure_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace gyre::core
