// SPDX-License-Identifier: Apache-2.0
// A job of real processes: N copies of the running test program, launched as a launcher would, each
// of which plays a named role instead of running tests. Public API of Gyre only.
//
// A test program that starts jobs has a main of its own:
//
//   int main(int argc, char** argv) {
//     return gyre::test::run(argc, argv, {{"all_reduce", play_all_reduce}});
//   }
//
// and a test reads
//
//   Job job = Job::start({.role = "all_reduce", .ranks = 4});
//   for (const RankOutcome& rank : job.wait()) EXPECT_TRUE(rank.succeeded()) << rank;
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::test {

struct JobOptions {
  std::string role{};
  int ranks = 1;
  std::vector<std::string> arguments{};    // handed to the role
  std::vector<std::string> environment{};  // NAME=VALUE, over the inherited variables
  // Added for one rank only, after `environment`; may be empty.
  std::function<std::vector<std::string>(int rank)> rank_environment{};
  // RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, and GYRE_COMM_ID from gyreGetUniqueId called
  // here. Without it the ranks see no launcher at all.
  bool launched = true;
  std::chrono::seconds limit{60};  // then every rank that still runs is killed
};

struct RankOutcome {
  int rank = 0;
  int exit_code = -1;      // -1: ended by a signal
  int signal = 0;          // that ended it, or 0
  bool timed_out = false;  // the job's limit passed: killed by the harness
  std::string output;      // stdout and stderr, as they came

  [[nodiscard]] bool succeeded() const { return exit_code == 0 && !timed_out; }
};
std::ostream& operator<<(std::ostream& stream, const RankOutcome& outcome);

class Job {
 public:
  // Throws std::runtime_error when a process cannot be started: a test cannot go on then.
  [[nodiscard]] static Job start(const JobOptions& options);
  Job(Job&&) noexcept;
  Job& operator=(Job&&) = delete;
  ~Job();  // kills and reaps what still runs

  [[nodiscard]] pid_t pid(int rank) const;
  // SIGKILL, SIGSTOP, SIGCONT ... to one rank.
  void signal(int rank, int number) const;
  // A line for the rank's stdin, where read_line() waits: how a test lets a rank go on.
  void send_line(int rank, std::string_view line) const;
  // Until the output of `rank` contains `text`; false when it ends, or the limit passes, before.
  [[nodiscard]] bool wait_for_output(int rank, std::string_view text);
  // Until that rank has ended.
  void wait_for_end(int rank);
  // Until all have ended. In rank order.
  [[nodiscard]] std::vector<RankOutcome> wait();

 private:
  struct State;
  explicit Job(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// What a rank's process does; its result is the exit code.
using Role = std::function<int(std::span<const std::string> arguments)>;

// In a rank of a job: plays its role. Else: runs the tests. Ranks die with the test program.
[[nodiscard]] int run(int argc, char** argv, const std::map<std::string, Role>& roles);

// For roles: from the environment; -1 when unset.
[[nodiscard]] int own_rank();
[[nodiscard]] int world_size();
// For roles: writes a line at once, for wait_for_output; and waits for send_line. read_line gives
// an empty text when the test program is gone.
void say(std::string_view line);
[[nodiscard]] std::string read_line();

}  // namespace gyre::test
