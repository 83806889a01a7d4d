// SPDX-License-Identifier: Apache-2.0
// What there is once in a process, however many communicators it holds: the settings, the control
// thread, the table of shareable memory and its server, and the tickets.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "base/settings.h"
#include "bootstrap/launcher.h"
#include "bootstrap/network.h"
#include "bootstrap/root.h"
#include "core/communicator.h"
#include "core/handle_table.h"
#include "core/stream.h"
#include "memory/region_allocator.h"
#include "memory/region_table.h"
#include "net/event_loop.h"
#include "transport/shm/fd_server.h"

namespace gyre::core {

using CommunicatorTable = HandleTable<Communicator, 1>;
// Shared, so that a stream lives on while a call uses it.
using StreamTable = HandleTable<std::shared_ptr<Stream>, 2>;

class Process {
 public:
  // Made by the first call that needs it; lives until the process ends, the control thread with
  // it. At exit only the launcher is told, so the order of static destructors cannot matter. The
  // error is that of the first attempt.
  static Result<Process*> get();
  // The same without making it; null before.
  static Process* existing();

  // True in a child that was forked after the process was set up: its control thread is gone.
  [[nodiscard]] bool forked() const { return forked_.load(std::memory_order_relaxed); }

  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] Clock& clock() { return clock_; }
  [[nodiscard]] net::EventLoop& loop() { return loop_; }
  [[nodiscard]] const bootstrap::Network& network() const { return network_; }
  [[nodiscard]] const RegionTable& regions() const { return regions_; }
  [[nodiscard]] RegionAllocator& allocator() { return allocator_; }
  [[nodiscard]] CommunicatorTable& communicators() { return communicators_; }
  [[nodiscard]] StreamTable& streams() { return streams_; }
  // The server of descriptors; started by the first communicator that has peers.
  Result<shm::FdServer*> fd_server();

  // Keeps a root alive while its ranks may come, and some time longer for late comers.
  void keep(std::unique_ptr<bootstrap::Root> root);
  // Ends when the process exits.
  [[nodiscard]] bootstrap::LauncherSession& launcher_session();
  // How many communicators were made from the launcher's environment before.
  int next_instance() { return instances_.fetch_add(1, std::memory_order_relaxed); }

 private:
  Process(Settings settings, bootstrap::Network network);
  static Result<Process*> make();

  Settings settings_;
  bootstrap::Network network_;
  SteadyClock clock_;
  net::EventLoop loop_;
  RegionTable regions_;
  RegionAllocator allocator_{regions_};
  CommunicatorTable communicators_;
  StreamTable streams_;
  std::unique_ptr<bootstrap::LauncherSession> launcher_session_ =
      std::make_unique<bootstrap::LauncherSession>();
  std::atomic<bool> forked_{false};
  std::atomic<int> instances_{0};
  std::mutex mutex_;  // guards all below
  std::unique_ptr<shm::FdServer> fd_server_;
  std::vector<std::unique_ptr<bootstrap::Root>> roots_;
};

}  // namespace gyre::core
