// SPDX-License-Identifier: Apache-2.0
#include "perf/gyre_bench/launcher.h"

#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "gyre/gyre.h"
#include "perf/common/failure.h"

namespace perf {
namespace {

// Set in the copies: the process that started them, and the CPU to run on.
constexpr const char* parent_variable = "PERF_PARENT_PID";
constexpr const char* cpu_variable = "PERF_CPU";

// After one rank has failed the others get this long to notice and end by themselves.
constexpr std::chrono::seconds grace{20};
constexpr std::chrono::seconds grace_after_term{3};

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

void bind_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    std::fprintf(stderr, "# Could not bind to CPU %d: %s. Going on unbound.\n", cpu,
                 std::strerror(errno));
  }
}

void become_rank(const char* parent) {
  // A rank must not outlive the process that waits for it.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != std::atoi(parent)) std::exit(1);
  if (const char* cpu = std::getenv(cpu_variable)) bind_to(std::atoi(cpu));
}

std::string hex(const gyreUniqueId& id) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char byte : id.internal) {
    const auto value = static_cast<unsigned char>(byte);
    text += digits[value >> 4];
    text += digits[value & 15];
  }
  return text;
}

bool is_replaced(std::string_view entry) {
  for (const std::string_view name :
       {"GYRE_COMM_ID=", "RANK=", "WORLD_SIZE=", "LOCAL_RANK=", "LOCAL_WORLD_SIZE="}) {
    if (entry.substr(0, name.size()) == name) return true;
  }
  return false;
}

// The environment of this process with a rank's own variables.
class RankEnvironment {
 public:
  RankEnvironment(const std::string& id, int rank, int ranks, int cpu) {
    for (char** entry = environ; *entry != nullptr; ++entry) {
      if (!is_replaced(*entry)) text_.emplace_back(*entry);
    }
    add("GYRE_COMM_ID", id);
    add("RANK", std::to_string(rank));
    add("WORLD_SIZE", std::to_string(ranks));
    add("LOCAL_RANK", std::to_string(rank));
    add("LOCAL_WORLD_SIZE", std::to_string(ranks));
    add(parent_variable, std::to_string(getpid()));
    if (cpu >= 0) add(cpu_variable, std::to_string(cpu));
    for (std::string& entry : text_) pointers_.push_back(entry.data());
    pointers_.push_back(nullptr);
  }
  [[nodiscard]] char** data() { return pointers_.data(); }

 private:
  void add(const std::string& name, const std::string& value) {
    text_.push_back(name + "=" + value);
  }
  std::vector<std::string> text_;
  std::vector<char*> pointers_;
};

int status_of(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

// The started processes; those still alive at the end are killed.
class Ranks {
 public:
  Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks() { signal_all(SIGKILL); }

  void start(int rank, char** argv, RankEnvironment environment) {
    pid_t pid = 0;
    const int error =
        posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, argv, environment.data());
    if (error != 0) {
      throw Failure("Could not start rank " + std::to_string(rank) + ": " + std::strerror(error) +
                    ". Check the limit of processes (ulimit -u).");
    }
    pids_.push_back(pid);
  }

  int wait_for_all() {
    int status = 0;
    while (status == 0 && running() > 0) status = reap(0);
    if (status == 0) return 0;
    wait_for(grace);
    if (running() > 0) signal_all(SIGTERM);
    wait_for(grace_after_term);
    return status;
  }

 private:
  [[nodiscard]] std::size_t running() const {
    std::size_t count = 0;
    for (const pid_t pid : pids_) count += pid > 0 ? 1 : 0;
    return count;
  }

  // Waits for one process (or, with WNOHANG, takes one that has ended). Its exit status; 0 if none.
  int reap(int flags) {
    int wait_status = 0;
    const pid_t ended = waitpid(-1, &wait_status, flags);
    if (ended <= 0) return 0;
    for (std::size_t rank = 0; rank < pids_.size(); ++rank) {
      if (pids_[rank] != ended) continue;
      pids_[rank] = 0;
      if (WIFSIGNALED(wait_status)) {
        std::fprintf(stderr, "# Rank %zu (pid %d) was ended by signal %d (%s).\n", rank, ended,
                     WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
      }
    }
    return status_of(wait_status);
  }

  void wait_for(std::chrono::seconds bound) {
    const auto end = std::chrono::steady_clock::now() + bound;
    while (running() > 0 && std::chrono::steady_clock::now() < end) {
      reap(WNOHANG);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  void signal_all(int number) {
    for (const pid_t pid : pids_) {
      if (pid > 0) kill(pid, number);
    }
  }

  std::vector<pid_t> pids_;  // by rank; 0 once it has ended
};

int run_ranks(const Options& options, char** argv) {
  gyreUniqueId id{};
  if (gyreGetUniqueId(&id) != gyreSuccess) throw Failure(gyreGetLastError(nullptr));
  const std::string id_text = hex(id);
  const std::vector<int> cpus = allowed_cpus();
  const bool fits = static_cast<std::size_t>(options.ranks) <= cpus.size();
  const bool bind =
      options.binding == Binding::core || (options.binding == Binding::automatic && fits);
  Ranks ranks;
  for (int rank = 0; rank < options.ranks; ++rank) {
    const bool has_cpu = bind && !cpus.empty();
    const int cpu = has_cpu ? cpus[static_cast<std::size_t>(rank) % cpus.size()] : -1;
    ranks.start(rank, argv, RankEnvironment(id_text, rank, options.ranks, cpu));
  }
  return ranks.wait_for_all();
}

}  // namespace

std::optional<int> start_ranks(const Options& options, char** argv) {
  if (const char* parent = std::getenv(parent_variable)) {
    become_rank(parent);
    return std::nullopt;
  }
  if (options.ranks == 0) return std::nullopt;
  return run_ranks(options, argv);
}

}  // namespace perf
