// SPDX-License-Identifier: Apache-2.0
#include "core/process.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/log.h"

extern char** environ;

namespace gyre::core {
namespace {

// Roots that are done are kept for late comers (who are told why they are refused), up to this
// many.
constexpr std::size_t most_finished_roots = 4;

std::atomic<Process*>& instance() {
  static std::atomic<Process*> process{nullptr};
  return process;
}

void print_settings(const Settings& settings) {
  for (const SettingReport& row : report_settings(settings)) {
    log::info(log::Subsystem::env, "{} = {} ({})", row.name, row.value, name_of(row.origin));
  }
}

}  // namespace

Result<Process*> Process::get() {
  if (Process* process = existing(); process != nullptr) {
    if (process->forked()) {
      return fail(Code::invalid_usage,
                  "This process was forked from one that uses Gyre, whose control thread it does "
                  "not have: use Gyre in a program started by exec.");
    }
    return process;
  }
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (Process* process = existing(); process != nullptr) {
    return process;
  }
  return make();
}

// acquire: pairs with the release in make().
Process* Process::existing() {
  return instance().load(std::memory_order_acquire);
}

Result<Process*> Process::make() {
  std::vector<std::string> warnings;
  auto settings = read_settings(environ, &warnings);
  if (!settings) {
    return Unexpected(std::move(settings).error());
  }
  GYRE_TRY(log::configure(*settings));
  for (const std::string& warning : warnings) {
    log::warn(log::Subsystem::env, "{}", warning);
  }
  print_settings(*settings);
  if (settings->simd == "scalar") {
    force_scalar_kernels();
  }
  auto network = bootstrap::Network::from(*settings);
  if (!network) {
    return Unexpected(std::move(network).error());
  }
  std::unique_ptr<Process> process(new Process(std::move(*settings), std::move(*network)));
  GYRE_TRY(process->loop_.start());
  ::pthread_atfork(nullptr, nullptr, [] {
    if (Process* parent = existing(); parent != nullptr) {
      parent->forked_.store(true, std::memory_order_relaxed);
    }
  });
  instance().store(process.get(), std::memory_order_release);
  return process.release();
}

Process::Process(Settings settings, bootstrap::Network network)
    : settings_(std::move(settings)), network_(std::move(network)) {}

// A launcher takes a process that ends without a word for one that crashed, and ends the whole job.
bootstrap::LauncherSession& Process::launcher_session() {
  [[maybe_unused]] static const int registered = std::atexit([] {
    if (Process* process = existing(); !process->forked()) {
      process->launcher_session_.reset();
    }
  });
  return *launcher_session_;
}

Result<shm::FdServer*> Process::fd_server() {
  const std::lock_guard lock(mutex_);
  if (!fd_server_) {
    auto server = shm::FdServer::start(loop_, regions_);
    if (!server) {
      return Unexpected(std::move(server).error());
    }
    fd_server_ = std::move(*server);
  }
  return fd_server_.get();
}

void Process::keep(std::unique_ptr<bootstrap::Root> root) {
  std::vector<std::unique_ptr<bootstrap::Root>> done;  // ended after the lock is given back
  const std::lock_guard lock(mutex_);
  std::size_t finished = 0;
  for (auto kept = roots_.rbegin(); kept != roots_.rend(); ++kept) {
    if ((*kept)->finished() && ++finished > most_finished_roots) {
      done.push_back(std::move(*kept));
    }
  }
  std::erase(roots_, nullptr);
  roots_.push_back(std::move(root));
}

}  // namespace gyre::core
