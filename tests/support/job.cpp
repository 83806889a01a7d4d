// SPDX-License-Identifier: Apache-2.0
#include "support/job.h"

#include <fcntl.h>
#include <gyre/gyre.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ostream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "support/launch_environment.h"

namespace gyre::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* self = "/proc/self/exe";

void check(int error_number, const char* call) {
  if (error_number != 0) {
    throw std::runtime_error(std::string(call) + ": " +
                             std::generic_category().message(error_number));
  }
}

// A descriptor that is closed with its owner. Spawned processes do not inherit it.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }

  [[nodiscard]] int get() const { return fd_; }
  void close() {
    if (fd_ >= 0) {
      ::close(std::exchange(fd_, -1));
    }
  }

 private:
  int fd_ = -1;
};

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  check(::pipe2(ends.data(), O_CLOEXEC) == 0 ? 0 : errno, "pipe2");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// posix_spawn's list of what to do with descriptors in the new process.
class FileActions {
 public:
  FileActions() { check(::posix_spawn_file_actions_init(&actions_), "file_actions_init"); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }

  void duplicate(const Descriptor& from, int to) {
    check(::posix_spawn_file_actions_adddup2(&actions_, from.get(), to), "adddup2");
  }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

// One rank while it runs.
struct Process {
  pid_t pid = -1;
  Descriptor input;
  Descriptor output;
  RankOutcome outcome;
  bool reaped = false;

  void kill_if_running() const {
    if (!reaped) {
      ::kill(pid, SIGKILL);
    }
  }

  // The pid stays ours until this call: a zombie's number is not given to anybody else.
  void reap() {
    if (reaped) {
      return;
    }
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    reaped = true;
    if (WIFEXITED(status)) {
      outcome.exit_code = WEXITSTATUS(status);
    } else {
      outcome.signal = WTERMSIG(status);
    }
  }

  // Takes over what the rank wrote; reaps it when it has closed its output.
  void take_output() {
    std::array<char, 4096> buffer{};
    const ssize_t count = ::read(output.get(), buffer.data(), buffer.size());
    if (count > 0) {
      outcome.output.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      output.close();
      reap();
    }
  }
};

Process spawn(const JobOptions& options, int rank, const std::string& comm_id) {
  Pipe input = make_pipe();
  Pipe output = make_pipe();
  FileActions actions;
  actions.duplicate(input.read_end, STDIN_FILENO);
  actions.duplicate(output.write_end, STDOUT_FILENO);
  actions.duplicate(output.write_end, STDERR_FILENO);

  std::vector<std::string> arguments = {self};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  std::vector<std::string> environment = launch_environment(options, rank, comm_id);
  Process process;
  check(::posix_spawn(&process.pid, self, actions.get(), nullptr, pointers_to(arguments).data(),
                      pointers_to(environment).data()),
        "posix_spawn");
  process.outcome.rank = rank;
  process.input = std::move(input.write_end);
  process.output = std::move(output.read_end);
  return process;
}

std::string new_comm_id() {
  gyreUniqueId id{};
  if (gyreGetUniqueId(&id) != gyreSuccess) {
    throw std::runtime_error(std::string("gyreGetUniqueId: ") + gyreGetLastError(nullptr));
  }
  return to_hex(id.internal);
}

}  // namespace

struct Job::State {
  std::vector<Process> processes;
  Clock::time_point deadline;

  ~State() {
    kill_all();
    for (Process& process : processes) {
      process.reap();
    }
  }

  [[nodiscard]] Process& at(int rank) { return processes.at(static_cast<std::size_t>(rank)); }

  void kill_all() const {
    for (const Process& process : processes) {
      process.kill_if_running();
    }
  }

  void expire() {
    for (Process& process : processes) {
      process.outcome.timed_out = process.outcome.timed_out || !process.reaped;
    }
    kill_all();
  }

  // Waits for output of any rank and takes it. False when no rank can say anything any more.
  bool take_some_output() {
    std::vector<pollfd> polled;
    std::vector<Process*> owners;
    for (Process& process : processes) {
      if (process.output.get() >= 0) {
        polled.push_back({process.output.get(), POLLIN, 0});
        owners.push_back(&process);
      }
    }
    if (polled.empty()) {
      return false;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    // After the deadline everything has been killed: the ends of the outputs come at once.
    const int wait_ms = left.count() > 0 ? static_cast<int>(left.count()) : -1;
    if (left.count() <= 0) {
      expire();
    }
    if (::poll(polled.data(), polled.size(), wait_ms) < 0) {
      check(errno == EINTR ? 0 : errno, "poll");
      return true;
    }
    for (std::size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].revents != 0) {
        owners[i]->take_output();
      }
    }
    return true;
  }
};

Job::Job(std::unique_ptr<State> state) : state_(std::move(state)) {}
Job::Job(Job&&) noexcept = default;
Job::~Job() = default;

Job Job::start(const JobOptions& options) {
  const std::string comm_id = options.launched ? new_comm_id() : "";
  auto state = std::make_unique<State>();
  state->deadline = Clock::now() + options.limit;
  for (int rank = 0; rank < options.ranks; ++rank) {
    state->processes.push_back(spawn(options, rank, comm_id));
  }
  return Job(std::move(state));
}

pid_t Job::pid(int rank) const {
  return state_->at(rank).pid;
}

void Job::signal(int rank, int number) const {
  const Process& process = state_->at(rank);
  if (!process.reaped) {
    check(::kill(process.pid, number) == 0 ? 0 : errno, "kill");
  }
}

void Job::send_line(int rank, std::string_view line) const {
  const std::string text = std::string(line) + "\n";
  const ssize_t written = ::write(state_->at(rank).input.get(), text.data(), text.size());
  check(written == static_cast<ssize_t>(text.size()) ? 0 : errno, "write to a rank's stdin");
}

bool Job::wait_for_output(int rank, std::string_view text) {
  const Process& process = state_->at(rank);
  while (process.outcome.output.find(text) == std::string::npos) {
    if (process.output.get() < 0 || !state_->take_some_output()) {
      return false;
    }
  }
  return true;
}

void Job::wait_for_end(int rank) {
  while (!state_->at(rank).reaped && state_->take_some_output()) {
  }
}

std::vector<RankOutcome> Job::wait() {
  while (state_->take_some_output()) {
  }
  std::vector<RankOutcome> outcomes;
  for (const Process& process : state_->processes) {
    outcomes.push_back(process.outcome);
  }
  return outcomes;
}

std::ostream& operator<<(std::ostream& stream, const RankOutcome& outcome) {
  stream << "rank " << outcome.rank;
  if (outcome.timed_out) {
    stream << " ran past the limit and was killed";
  } else if (outcome.signal != 0) {
    stream << " was ended by signal " << outcome.signal << " (" << ::strsignal(outcome.signal)
           << ")";
  } else {
    stream << " exited with " << outcome.exit_code;
  }
  return stream << "; its output:\n" << outcome.output;
}

}  // namespace gyre::test
