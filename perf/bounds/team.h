// SPDX-License-Identifier: Apache-2.0
// A handful of threads or processes that measure something together: barrier, common clock rule.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace bounds {

constexpr std::size_t cache_line = 64;
constexpr int most_members = 64;

// A flag with a cache line of its own: one writer, monotone values.
struct alignas(cache_line) Flag {
  std::atomic<std::uint64_t> value{0};
};

// Waits for another member. Without a core for each, the waiting one must let the other run.
class Waiter {
 public:
  explicit Waiter(bool crowded) : crowded_(crowded) {}
  // Until flag >= value. Acquire: what the writer wrote before it is then visible.
  void until(const std::atomic<std::uint64_t>& flag, std::uint64_t value) const {
    int spins = 0;
    while (flag.load(std::memory_order_acquire) < value) {
      if (crowded_ && ++spins > spins_before_yield) yield();
    }
  }

 private:
  static constexpr int spins_before_yield = 64;
  static void yield();
  bool crowded_;
};

// What the members share. Lives in memory that all of them see.
struct TeamBlock {
  std::array<Flag, most_members> arrived;
  std::array<std::atomic<double>, most_members> figure;
};

class Team {
 public:
  // crowded: there are more members than CPUs that they may use.
  Team(TeamBlock& block, int rank, int size, bool crowded);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] const Waiter& waiter() const { return waiter_; }

  void barrier();
  [[nodiscard]] double max_over_members(double mine);

 private:
  TeamBlock& block_;
  int rank_;
  int size_;
  Waiter waiter_;
  std::uint64_t epoch_ = 0;
};

struct ClockRule {
  int iterations = 20;
  double min_time_ms = 0;
};

struct Measured {
  double microseconds = 0;  // per call, of the slowest member
  int iterations = 0;
};

// The rule of all_reduce_perf: warm up once, barrier, timestamp, n calls, timestamp.
[[nodiscard]] Measured measure(Team& team, const ClockRule& rule,
                               const std::function<void()>& call);

// Runs `body` for every rank: in threads of this process, or in processes that share `block` and
// nothing else (rank 0 is then the calling process). Each is bound to a CPU while CPUs last.
void run_threads(int size, const std::function<void(Team&)>& body);
void run_processes(int size, TeamBlock& block, const std::function<void(Team&)>& body);

// Zeroed memory that processes forked later share.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();
  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  std::byte* data_;
  std::size_t bytes_;
};

}  // namespace bounds
