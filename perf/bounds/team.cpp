// SPDX-License-Identifier: Apache-2.0
#include "perf/bounds/team.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace bounds {
namespace {

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

// Binds the calling thread for as long as the object lives.
class Bound {
 public:
  Bound(const std::vector<int>& cpus, int rank, int size) {
    sched_getaffinity(0, sizeof before_, &before_);
    if (static_cast<std::size_t>(size) > cpus.size()) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpus[static_cast<std::size_t>(rank)], &set);
    sched_setaffinity(0, sizeof set, &set);
  }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;
  ~Bound() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_{};
};

double now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

double timed_loop(Team& team, int times, const std::function<void()>& call) {
  team.barrier();
  const double start = now_us();
  for (int i = 0; i < times; ++i) call();
  return now_us() - start;
}

}  // namespace

void Waiter::yield() {
  sched_yield();
}

Team::Team(TeamBlock& block, int rank, int size, bool crowded)
    : block_(block), rank_(rank), size_(size), waiter_(crowded) {}

void Team::barrier() {
  ++epoch_;
  // Release: all that this member did is visible to whoever sees the flag.
  block_.arrived[static_cast<std::size_t>(rank_)].value.store(epoch_, std::memory_order_release);
  for (int other = 0; other < size_; ++other) {
    waiter_.until(block_.arrived[static_cast<std::size_t>(other)].value, epoch_);
  }
}

double Team::max_over_members(double mine) {
  // Relaxed: the barriers around it order the figures.
  block_.figure[static_cast<std::size_t>(rank_)].store(mine, std::memory_order_relaxed);
  barrier();
  double most = mine;
  for (int other = 0; other < size_; ++other) {
    most = std::max(most,
                    block_.figure[static_cast<std::size_t>(other)].load(std::memory_order_relaxed));
  }
  barrier();
  return most;
}

Measured measure(Team& team, const ClockRule& rule, const std::function<void()>& call) {
  call();
  int times = rule.iterations;
  if (rule.min_time_ms > 0) {
    constexpr int trial = 3;
    const double mine = timed_loop(team, trial, call) / trial;
    const double slowest = std::max(team.max_over_members(mine), 0.01);
    const double wanted = std::ceil(rule.min_time_ms * 1000.0 / slowest);
    times = static_cast<int>(std::clamp(wanted, static_cast<double>(times), 1e8));
  }
  const double mine = timed_loop(team, times, call) / times;
  return {team.max_over_members(mine), times};
}

void run_threads(int size, const std::function<void(Team&)>& body) {
  const std::vector<int> cpus = allowed_cpus();
  const bool crowded = static_cast<std::size_t>(size) > cpus.size();
  const auto block = std::make_unique<TeamBlock>();
  const auto member = [&](int rank) {
    const Bound bound(cpus, rank, size);
    Team team(*block, rank, size, crowded);
    body(team);
  };
  std::vector<std::jthread> threads;
  for (int rank = 1; rank < size; ++rank) threads.emplace_back(member, rank);
  member(0);
}

void run_processes(int size, TeamBlock& block, const std::function<void(Team&)>& body) {
  const std::vector<int> cpus = allowed_cpus();
  const bool crowded = static_cast<std::size_t>(size) > cpus.size();
  const pid_t parent = getpid();
  std::vector<pid_t> children;
  for (int rank = 1; rank < size; ++rank) {
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("fork failed: check the limit of processes");
    if (child > 0) {
      children.push_back(child);
      continue;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    const Bound bound(cpus, rank, size);
    Team team(block, rank, size, crowded);
    body(team);
    _exit(0);
  }
  {
    const Bound bound(cpus, 0, size);
    Team team(block, 0, size, crowded);
    body(team);
  }
  for (const pid_t child : children) waitpid(child, nullptr, 0);
}

SharedMemory::SharedMemory(std::size_t bytes) : data_(nullptr), bytes_(bytes) {
  void* const mapped =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::runtime_error("no shared memory: mmap failed");
  data_ = static_cast<std::byte*>(mapped);
}

SharedMemory::~SharedMemory() {
  munmap(data_, bytes_);
}

}  // namespace bounds
