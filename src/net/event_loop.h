// SPDX-License-Identifier: Apache-2.0
// One thread asleep in epoll that runs callbacks: descriptors that became ready, timers, and
// functions posted to it. All signals are blocked on it. It never wakes without a cause.
//
// Callbacks run on the loop thread, one at a time, and must not block. Everything below may be
// called from any thread unless it says otherwise.
#pragma once

#include <sys/epoll.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"
#include "net/deadline.h"

namespace gyre::net {

class EventLoop {
 public:
  using Task = std::function<void()>;
  using Handler = std::function<void(std::uint32_t events)>;  // EPOLLIN, EPOLLOUT, EPOLLHUP ...
  enum class WatchId : std::uint64_t { none = 0 };
  enum class TimerId : std::uint64_t { none = 0 };

  EventLoop() = default;
  ~EventLoop() { stop(); }
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Starts the thread. Once.
  Status start();
  // Ends the thread and waits for it; tasks not yet run are dropped. Not from the loop thread.
  void stop();
  [[nodiscard]] bool in_loop_thread() const;

  // Runs `task` on the loop thread soon, in the order of posting. False when the loop has stopped
  // (the task is dropped).
  bool post(Task task);
  // Runs `task` on the loop thread and waits for it; at once when already there. False as above.
  bool run(const Task& task);

  // Calls `handler` whenever one of `events` is there (level triggered). The caller keeps owning
  // the descriptor, and must remove the watch before it closes it.
  Result<WatchId> watch(int fd, std::uint32_t events, Handler handler);
  Status modify(WatchId watch, std::uint32_t events);
  // When it returns the handler is not running and never will again. From another thread it waits
  // for a handler that is running: hold no lock that the handler takes.
  void unwatch(WatchId watch);

  // Calls `task` once, not before `when`.
  TimerId call_at(Deadline when, Task task);
  // As unwatch.
  void cancel(TimerId timer);

 private:
  struct Watch {
    int fd = -1;
    std::shared_ptr<Handler> handler;
  };

  void loop();
  void wake();
  [[nodiscard]] int sleep_milliseconds();
  void run_tasks();
  void run_timers();
  void dispatch(std::uint64_t id, std::uint32_t events);
  void begin_call(std::unique_lock<std::mutex>& lock, std::uint64_t id);
  void end_call(std::unique_lock<std::mutex>& lock);
  void wait_until_not_running(std::unique_lock<std::mutex>& lock, std::uint64_t id);

  UniqueFd epoll_;
  UniqueFd wake_;  // eventfd
  std::thread thread_;
  std::thread::id loop_thread_;  // set once by start()

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable call_ended_;
  bool running_ = false;
  bool stopping_ = false;
  std::uint64_t next_id_ = 1;       // of watches and timers alike; 0 is the eventfd
  std::uint64_t current_call_ = 0;  // whose callback is running; 0: none
  std::vector<Task> tasks_;
  std::unordered_map<std::uint64_t, Watch> watches_;
  std::multimap<Deadline, std::pair<std::uint64_t, Task>> timers_;
};

}  // namespace gyre::net
