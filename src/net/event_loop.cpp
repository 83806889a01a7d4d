// SPDX-License-Identifier: Apache-2.0
#include "net/event_loop.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <csignal>
#include <future>

namespace gyre::net {
namespace {

constexpr std::uint64_t wake_id = 0;

// The application's signals must reach the application's threads, never this one.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Status EventLoop::start() {
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_.valid()) {
    return system_failure("epoll_create1");
  }
  wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_.valid()) {
    return system_failure("eventfd");
  }
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = wake_id;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0) {
    return system_failure("epoll_ctl");
  }
  const std::lock_guard lock(mutex_);
  running_ = true;
  const AllSignalsBlocked blocked;  // inherited by the new thread
  thread_ = std::thread([this] { loop(); });
  loop_thread_ = thread_.get_id();
  pthread_setname_np(thread_.native_handle(), "gyre-control");
  return {};
}

void EventLoop::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  if (thread_.joinable()) {
    assert(!in_loop_thread());
    wake();
    thread_.join();
  }
  // What callbacks captured may call back into the loop when it is destroyed: outside the lock.
  std::vector<Task> tasks;
  std::unordered_map<std::uint64_t, Watch> watches;
  std::multimap<Deadline, std::pair<std::uint64_t, Task>> timers;
  const std::lock_guard lock(mutex_);
  running_ = false;
  tasks.swap(tasks_);
  watches.swap(watches_);
  timers.swap(timers_);
}

bool EventLoop::in_loop_thread() const {
  return std::this_thread::get_id() == loop_thread_;
}

bool EventLoop::post(Task task) {
  bool must_wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (!running_ || stopping_) {
      return false;
    }
    must_wake = tasks_.empty();  // else a wake-up is on its way already
    tasks_.push_back(std::move(task));
  }
  if (must_wake) {
    wake();
  }
  return true;
}

bool EventLoop::run(const Task& task) {
  if (in_loop_thread()) {
    task();
    return true;
  }
  // The promise is broken when a stopping loop drops the task.
  auto done = std::make_shared<std::promise<void>>();
  std::future<void> finished = done->get_future();
  if (!post([&task, done] {
        task();
        done->set_value();
      })) {
    return false;
  }
  done.reset();
  try {
    finished.get();
  } catch (const std::future_error&) {
    return false;
  }
  return true;
}

Result<EventLoop::WatchId> EventLoop::watch(int fd, std::uint32_t events, Handler handler) {
  const std::lock_guard lock(mutex_);
  if (!running_ || stopping_) {
    return fail(Code::aborted, "The event loop has stopped.");
  }
  const std::uint64_t id = next_id_++;
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return system_failure("epoll_ctl");
  }
  watches_.emplace(id, Watch{fd, std::make_shared<Handler>(std::move(handler))});
  return WatchId{id};
}

Status EventLoop::modify(WatchId watch, std::uint32_t events) {
  const std::lock_guard lock(mutex_);
  const auto found = watches_.find(static_cast<std::uint64_t>(watch));
  if (found == watches_.end()) {
    return fail(Code::internal_error, "An unknown watch was modified.");
  }
  epoll_event event{};
  event.events = events;
  event.data.u64 = found->first;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, found->second.fd, &event) != 0) {
    return system_failure("epoll_ctl");
  }
  return {};
}

void EventLoop::unwatch(WatchId watch) {
  std::shared_ptr<Handler> dying;  // destroyed after the lock is released
  std::unique_lock lock(mutex_);
  const auto id = static_cast<std::uint64_t>(watch);
  if (const auto found = watches_.find(id); found != watches_.end()) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, found->second.fd, nullptr);
    dying = std::move(found->second.handler);
    watches_.erase(found);
  }
  wait_until_not_running(lock, id);
}

EventLoop::TimerId EventLoop::call_at(Deadline when, Task task) {
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!running_ || stopping_) {
      return TimerId::none;
    }
    id = next_id_++;
    timers_.emplace(when, std::make_pair(id, std::move(task)));
  }
  wake();  // it may sleep longer than this timer allows
  return TimerId{id};
}

void EventLoop::cancel(TimerId timer) {
  Task dying;
  std::unique_lock lock(mutex_);
  const auto id = static_cast<std::uint64_t>(timer);
  const auto found =
      std::ranges::find_if(timers_, [id](const auto& entry) { return entry.second.first == id; });
  if (found != timers_.end()) {
    dying = std::move(found->second.second);
    timers_.erase(found);
  }
  wait_until_not_running(lock, id);
}

void EventLoop::wait_until_not_running(std::unique_lock<std::mutex>& lock, std::uint64_t id) {
  if (!in_loop_thread()) {
    call_ended_.wait(lock, [this, id] { return current_call_ != id || id == 0; });
  }
}

void EventLoop::loop() {
  std::array<epoll_event, 64> events{};
  while (true) {
    const int sleep = sleep_milliseconds();
    const int count =
        ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), sleep);
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) {
        return;
      }
    }
    for (int i = 0; i < count; ++i) {  // count is -1 on EINTR
      dispatch(events[static_cast<std::size_t>(i)].data.u64,
               events[static_cast<std::size_t>(i)].events);
    }
    run_tasks();
    run_timers();
  }
}

void EventLoop::wake() {
  const std::uint64_t one = 1;
  while (::write(wake_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
}

int EventLoop::sleep_milliseconds() {
  const std::lock_guard lock(mutex_);
  if (stopping_ || !tasks_.empty()) {
    return 0;
  }
  return timers_.empty() ? -1 : milliseconds_until(timers_.begin()->first);
}

void EventLoop::begin_call(std::unique_lock<std::mutex>& lock, std::uint64_t id) {
  current_call_ = id;
  lock.unlock();
}

void EventLoop::end_call(std::unique_lock<std::mutex>& lock) {
  lock.lock();
  current_call_ = 0;
  call_ended_.notify_all();
}

void EventLoop::dispatch(std::uint64_t id, std::uint32_t events) {
  if (id == wake_id) {
    std::uint64_t count = 0;
    while (::read(wake_.get(), &count, sizeof count) < 0 && errno == EINTR) {
    }
    return;
  }
  std::unique_lock lock(mutex_);
  const auto found = watches_.find(id);
  if (found == watches_.end()) {
    return;  // unwatched after epoll had reported it
  }
  std::shared_ptr<Handler> handler = found->second.handler;
  begin_call(lock, id);
  (*handler)(events);
  handler.reset();
  end_call(lock);
}

void EventLoop::run_tasks() {
  std::vector<Task> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
  }
  for (Task& task : tasks) {
    task();
    task = nullptr;  // what it captured dies before the next one runs
  }
}

void EventLoop::run_timers() {
  std::unique_lock lock(mutex_);
  const Deadline now = Clock::now();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    auto [id, task] = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    begin_call(lock, id);
    task();
    task = nullptr;
    end_call(lock);
  }
}

}  // namespace gyre::net
