// SPDX-License-Identifier: Apache-2.0
// A rank that dies, in any way and at any moment, ends the calls of all others within a second or
// two, with an error that names it.
#include <dirent.h>
#include <gtest/gtest.h>
#include <gyre/gyre.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "process/collectives/arena.h"
#include "support/checks.h"
#include "support/job.h"
#include "support/sanitizers.h"

namespace gyre::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr double most_seconds = under_sanitizer ? 5 : 2;

// CLOCK_MONOTONIC is one clock for all processes: the test says when it killed, the rank how long
// after that it knew.
std::int64_t now_ms() {
  return std::chrono::duration_cast<milliseconds>(Clock::now().time_since_epoch()).count();
}

void die(const std::string& how) {
  if (how == "exit") {
    std::_Exit(0);
  }
  // A sanitizer would catch it and write a report, which is another death.
  static_cast<void>(std::signal(SIGSEGV, SIG_DFL));
  static_cast<void>(::raise(how == "segv" ? SIGSEGV : SIGKILL));
}

// Arguments: who dies, how ("kill" comes from the test), count, kind of memory, "computing" or "".
// Survivors reduce until it fails; or compute until told that the death is old news, and then call.
int play_until_death(std::span<const std::string> arguments) {
  Checks checks;
  const int victim = std::stoi(arguments[0]);
  const std::string& how = arguments[1];
  const std::size_t count = std::stoull(arguments[2]);
  const bool computing = arguments[4] == "computing";
  const RankComm comm(checks);
  if (!comm) {
    return checks.exit_code();
  }
  const Arena in(checks, comm.get(), static_cast<Memory>(std::stoi(arguments[3])), count * 4);
  const Arena out(checks, comm.get(), static_cast<Memory>(std::stoi(arguments[3])), count * 4);
  const auto reduce = [&] {
    return gyreAllReduce(in.data(), out.data(), count, gyreInt32, gyreSum, comm.get(), nullptr);
  };
  for (int i = 0; i < 5; ++i) {
    checks.succeeded(reduce(), "AllReduce with all ranks");
  }
  say("ready");
  if (own_rank() == victim) {
    if (how != "kill") {
      die(how);
    }
    while (computing || reduce() == gyreSuccess) {
      std::this_thread::sleep_for(milliseconds(computing ? 10 : 0));
    }
    return 1;
  }
  if (computing) {
    static_cast<void>(read_line());
  }
  gyreResult_t result = gyreSuccess;
  while (result == gyreSuccess) {
    result = reduce();
  }
  const std::int64_t noticed = now_ms();
  gyreRankInfo_t info{};
  info.size = sizeof(info);
  checks.succeeded(gyreCommGetRankInfo(comm.get(), victim, &info), "gyreCommGetRankInfo");
  checks.refused(reduce(), gyreRemoteError, "AllReduce after the death",
                 {"ank " + std::to_string(victim), std::to_string(info.pid)});
  checks.that(result == gyreRemoteError, "the first error is a remote one",
              gyreGetErrorString(result));
  say("noticed at " + std::to_string(noticed));
  return checks.exit_code();
}

std::int64_t when_noticed(const RankOutcome& rank) {
  const std::size_t at = rank.output.find("noticed at ");
  return at == std::string::npos ? -1 : std::stoll(rank.output.substr(at + 11));
}

struct Death {
  std::string name;
  std::string how = "kill";
  std::size_t count = 2;
  Memory memory = Memory::heap;
  bool computing = false;
};

class DeathOf : public testing::TestWithParam<Death> {};

TEST_P(DeathOf, EachRankIsNoticedByTheOthers) {
  const Death& death = GetParam();
  for (int victim = 0; victim < 3; ++victim) {
    SCOPED_TRACE("rank " + std::to_string(victim) + " dies");
    Job job =
        Job::start({.role = "until_death",
                    .ranks = 3,
                    .arguments = {std::to_string(victim), death.how, std::to_string(death.count),
                                  std::to_string(static_cast<int>(death.memory)),
                                  death.computing ? "computing" : ""},
                    .environment = {"GYRE_TIMEOUT=20", "ASAN_OPTIONS=handle_segv=0"},
                    .limit = std::chrono::seconds(60)});
    for (int rank = 0; rank < 3; ++rank) {
      ASSERT_TRUE(job.wait_for_output(rank, "ready"))
          << job.wait().at(static_cast<std::size_t>(rank));
    }
    const std::int64_t killed = now_ms();
    if (death.how == "kill") {
      job.signal(victim, SIGKILL);
    }
    std::int64_t asked = killed;
    if (death.computing) {
      std::this_thread::sleep_for(milliseconds(300));  // the news has no call to meet
      asked = now_ms();
      for (int rank = 0; rank < 3; ++rank) {
        if (rank != victim) {
          job.send_line(rank, "go on");
        }
      }
    }
    const auto outcomes = job.wait();
    for (int rank = 0; rank < 3; ++rank) {
      if (rank == victim) {
        continue;
      }
      const RankOutcome& outcome = outcomes.at(static_cast<std::size_t>(rank));
      EXPECT_TRUE(outcome.succeeded()) << outcome;
      EXPECT_LT(static_cast<double>(when_noticed(outcome) - asked) / 1000, most_seconds) << outcome;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(
    Ways, DeathOf,
    testing::Values(Death{"KillInSmall"}, Death{"KillInStaged", "kill", 4'000'000},
                    Death{"KillInDirect", "kill", 4'000'000, Memory::shared},
                    Death{"SegvInSmall", "segv"},
                    Death{"SegvInDirect", "segv", 1'000'000, Memory::shared},
                    Death{"ExitInSmall", "exit"}, Death{"ExitInStaged", "exit", 1'000'000},
                    Death{"KillWhileOthersCompute", "kill", 2, Memory::heap, true},
                    Death{"ExitWhileOthersCompute", "exit", 2, Memory::heap, true}),
    [](const auto& death) { return death.param.name; });

std::set<std::string> shared_memory_files() {
  std::set<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", ignored)) {
    names.insert(entry.path().filename());
  }
  return names;
}

// All ranks killed at once, at any moment from the start of init on.
TEST(Death, NothingIsLeftBehind) {
  const auto before = shared_memory_files();
  for (int i = 0; i < repetitions(10, 4); ++i) {
    Job job = Job::start({.role = "until_death",
                          .ranks = 3,
                          .arguments = {"0", "kill", "1000000", "1", ""},
                          .limit = std::chrono::seconds(60)});
    std::this_thread::sleep_for(milliseconds(10 * i));
    for (int rank = 0; rank < 3; ++rank) {
      job.signal(rank, SIGKILL);
    }
    static_cast<void>(job.wait());
  }
  for (const std::string& name : shared_memory_files()) {
    EXPECT_TRUE(before.contains(name) || name.find("gyre") == std::string::npos) << name;
  }
}

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  return gyre::test::run(argc, argv, {{"until_death", gyre::test::play_until_death}});
}
