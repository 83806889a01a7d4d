// SPDX-License-Identifier: Apache-2.0
#include "core/stream.h"

#include <pthread.h>

#include <csignal>
#include <memory>
#include <system_error>
#include <utility>

namespace gyre::core {
namespace {

// Signals are for the user's threads.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

Result<std::unique_ptr<Stream>> Stream::create() {
  std::unique_ptr<Stream> stream(new Stream());
  const SignalsBlocked blocked;
  try {
    stream->thread_ = std::thread([raw = stream.get()] { raw->serve(); });
  } catch (const std::system_error& error) {
    return system_failure("starting the thread of a stream", error.code().value());
  }
  return stream;
}

Stream::~Stream() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Stream::enqueue(Task task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
}

Status Stream::synchronize() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return tasks_.empty(); });
  return take_failure();
}

Status Stream::query() {
  const std::lock_guard lock(mutex_);
  if (!tasks_.empty()) {
    return fail(Code::in_progress, "Operations of this stream are still under way.");
  }
  return take_failure();
}

Status Stream::take_failure() {
  if (!failure_) {
    return {};
  }
  return Unexpected(*std::exchange(failure_, std::nullopt));
}

void Stream::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !tasks_.empty() || ending_; });
    if (tasks_.empty()) {
      return;
    }
    Task& task = tasks_.front();  // stays where it is while others are queued behind it
    lock.unlock();
    const Status status = task();
    lock.lock();
    if (!status && !failure_) {
      failure_ = status.error();
    }
    tasks_.pop_front();
    changed_.notify_all();
  }
}

}  // namespace gyre::core
