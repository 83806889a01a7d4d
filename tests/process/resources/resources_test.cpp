// SPDX-License-Identifier: Apache-2.0
// What Gyre takes it gives back: descriptors, threads, mappings, memory; and it uses no CPU while
// there is nothing to do.
#include <gtest/gtest.h>
#include <gyre/gyre.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "support/checks.h"
#include "support/job.h"
#include "support/own_resources.h"
#include "support/sanitizers.h"

namespace gyre::test {
namespace {

using std::chrono::milliseconds;

bool reduce_once(Checks& checks, gyreComm_t comm) {
  std::vector<int> data(5000, own_rank() + 1);
  const int ranks = world_size();
  return checks.succeeded(gyreAllReduce(data.data(), data.data(), data.size(), gyreInt32, gyreSum,
                                        comm, nullptr),
                          "gyreAllReduce") &&
         checks.that(data.front() == ranks * (ranks + 1) / 2 && data.front() == data.back(),
                     "the right sum");
}

// One round: a communicator of its own, used and destroyed. The id comes over `parent`.
bool make_use_destroy(Checks& checks, gyreComm_t parent) {
  const gyreUniqueId id = share_new_id(checks, parent);
  gyreComm_t comm = nullptr;
  return checks.succeeded(gyreCommInitRank(&comm, world_size(), id, own_rank()),
                          "gyreCommInitRank") &&
         reduce_once(checks, comm) && checks.succeeded(gyreCommDestroy(comm), "gyreCommDestroy");
}

// Argument: rounds.
int play_rounds(std::span<const std::string> arguments) {
  Checks checks;
  const RankComm parent(checks);
  if (!parent) {
    return checks.exit_code();
  }
  constexpr int warm_up = 50;
  const int rounds = std::stoi(arguments[0]);
  OwnResources before;
  for (int round = 0; round < rounds; ++round) {
    if (round == warm_up) {
      before = own_resources();
    }
    if (!make_use_destroy(checks, parent.get())) {
      return checks.exit_code();
    }
  }
  // What a last farewell still holds goes within moments.
  std::this_thread::sleep_for(milliseconds(300));
  const OwnResources after = own_resources();
  const std::string both = text_of(before) + "; then " + text_of(after);
  say(both);
  checks.that(after.descriptors <= before.descriptors, "descriptors stay flat", both);
  checks.that(after.threads <= before.threads, "threads stay flat", both);
  if (!under_sanitizer) {  // a sanitizer maps and keeps memory as it likes
    checks.that(after.mappings <= before.mappings + 4, "mappings stay flat", both);
    checks.that(after.resident_kib < before.resident_kib + 1024, "memory stays flat", both);
  }
  return checks.exit_code();
}

TEST(Resources, AThousandCommunicatorsLeaveNothing) {
  Job job = Job::start({.role = "rounds",
                        .ranks = 3,
                        .arguments = {std::to_string(repetitions(1000, 120))},
                        .environment = {"GYRE_TIMEOUT=20", "GYRE_INIT_TIMEOUT=20"},
                        .limit = std::chrono::seconds(200)});
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
  }
}

// Several communicators at once, each used by a thread of its own.
int play_threads(std::span<const std::string> /*arguments*/) {
  Checks checks;
  const RankComm parent(checks);
  constexpr std::size_t count = 4;
  std::vector<gyreUniqueId> ids(count);
  std::vector<Checks> checks_of(count);
  std::vector<std::thread> threads;
  for (gyreUniqueId& id : ids) {
    id = share_new_id(checks, parent.get());
  }
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      gyreComm_t comm = nullptr;
      Checks& own = checks_of[i];
      own.succeeded(gyreCommInitRank(&comm, world_size(), ids[i], own_rank()), "init in a thread");
      for (int round = 0; round < repetitions(200, 30) && reduce_once(own, comm); ++round) {
      }
      own.succeeded(gyreCommDestroy(comm), "destroy in a thread");
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  int failures = checks.failures();
  for (const Checks& own : checks_of) {
    failures += own.failures();
  }
  return failures == 0 ? 0 : 1;
}

TEST(Resources, CommunicatorsOfSeveralThreads) {
  Job job = Job::start({.role = "threads", .ranks = 3, .environment = {"GYRE_TIMEOUT=20"}});
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
  }
}

// Rank 1 comes late to a call: what the others use meanwhile. Then all idle.
int play_late(std::span<const std::string> /*arguments*/) {
  Checks checks;
  const RankComm comm(checks);
  constexpr milliseconds late{4000};
  constexpr milliseconds idle{2000};
  checks.succeeded(gyreBarrier(comm.get(), nullptr), "a barrier");
  const auto before = own_cpu_time();
  if (own_rank() == 1) {
    std::this_thread::sleep_for(late);
  }
  reduce_once(checks, comm.get());
  const auto after = own_cpu_time();
  std::this_thread::sleep_for(idle);
  const auto at_end = own_cpu_time();
  const auto percent = [](auto used, auto of) {
    return 100.0 * std::chrono::duration<double>(used) / std::chrono::duration<double>(of);
  };
  say(std::to_string(percent(after - before, late)) + "% of a core waiting, " +
      std::to_string(percent(at_end - after, idle)) + "% idle");
  checks.that(percent(after - before, late) < (under_sanitizer ? 15 : 5), "waiting costs little");
  checks.that(percent(at_end - after, idle) < 1, "being idle costs nothing");
  return checks.exit_code();
}

TEST(Resources, WaitingAndBeingIdleCostNoCpu) {
  for (const int ranks : {2, 4}) {
    Job job = Job::start({.role = "late", .ranks = ranks, .environment = {"GYRE_TIMEOUT=30"}});
    for (const RankOutcome& rank : job.wait()) {
      EXPECT_TRUE(rank.succeeded()) << rank;
    }
  }
}

// A child of fork gets an error, does no harm by ending, and the parent goes on.
int play_fork(std::span<const std::string> /*arguments*/) {
  Checks checks;
  const RankComm comm(checks);
  for (int round = 0; round < 5; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      Checks in_child;
      in_child.refused(gyreBarrier(comm.get(), nullptr), gyreInvalidUsage, "a call after fork",
                       {"fork"});
      in_child.that(gyreCommDestroy(comm.get()) == gyreInvalidUsage, "destroy after fork refused");
      gyreComm_t made = nullptr;
      gyreUniqueId id{};
      in_child.that(gyreGetUniqueId(&id) != gyreSuccess, "no id after fork");
      in_child.that(gyreCommInitEnvironment(&made, nullptr) != gyreSuccess, "no init after fork");
      ::_exit(in_child.exit_code());
    }
    int status = -1;
    static_cast<void>(::waitpid(child, &status, 0));
    checks.that(status == 0, "the child's checks", std::to_string(status));
    reduce_once(checks, comm.get());
  }
  return checks.exit_code();
}

TEST(Resources, AForkedChildHarmsNobody) {
  Job job = Job::start({.role = "fork", .ranks = 2, .environment = {"GYRE_TIMEOUT=20"}});
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
  }
}

// Every system call that can be interrupted is, all the time.
int play_storm(std::span<const std::string> arguments) {
  Checks checks;
  struct sigaction action {};
  action.sa_handler = [](int) {};
  action.sa_flags = 0;  // no SA_RESTART
  checks.that(::sigaction(SIGALRM, &action, nullptr) == 0, "sigaction");
  const itimerval every_ms{.it_interval = {0, 1000}, .it_value = {0, 1000}};
  checks.that(::setitimer(ITIMER_REAL, &every_ms, nullptr) == 0, "setitimer");
  const RankComm parent(checks);
  const int rounds = std::stoi(arguments[0]);
  for (int round = 0; round < rounds && make_use_destroy(checks, parent.get()); ++round) {
  }
  return checks.exit_code();
}

TEST(Resources, AStormOfSignalsHarmsNobody) {
  Job job = Job::start({.role = "storm",
                        .ranks = 3,
                        .arguments = {std::to_string(repetitions(50, 15))},
                        .environment = {"GYRE_TIMEOUT=20", "GYRE_INIT_TIMEOUT=20"}});
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
  }
}

// Argument: descriptors that the process may have. Success, or an error that says so.
int play_few_descriptors(std::span<const std::string> arguments) {
  Checks checks;
  const auto most = static_cast<rlim_t>(std::stoul(arguments[0]));
  const rlimit limit{.rlim_cur = most, .rlim_max = most};
  checks.that(::setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
  gyreConfig_t config = GYRE_CONFIG_INITIALIZER;
  config.initTimeoutSeconds = 3;
  gyreComm_t comm = nullptr;
  const gyreResult_t result = gyreCommInitEnvironment(&comm, &config);
  if (result == gyreSuccess) {
    say("joined");
    checks.succeeded(gyreCommDestroy(comm), "gyreCommDestroy");
    return checks.exit_code();
  }
  say(std::string("refused: ") + gyreGetLastError(nullptr));
  return checks.exit_code();
}

TEST(Resources, FewDescriptorsGiveACleanError) {
  bool refused = false;
  bool joined = false;
  for (const char* most : {"6", "9", "12", "40"}) {
    Job job = Job::start({.role = "few_descriptors", .ranks = 3, .arguments = {most}});
    std::string said;
    for (const RankOutcome& rank : job.wait()) {
      EXPECT_TRUE(rank.succeeded()) << most << " descriptors: " << rank;
      said += rank.output;
    }
    refused = refused || said.find("open descriptors") != std::string::npos;
    joined = said.find("refused") == std::string::npos;
  }
  EXPECT_TRUE(refused) << "no text says that there were too few descriptors";
  EXPECT_TRUE(joined) << "40 descriptors are enough";
}

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  using namespace gyre::test;
  return run(argc, argv,
             {{"rounds", play_rounds},
              {"threads", play_threads},
              {"late", play_late},
              {"fork", play_fork},
              {"storm", play_storm},
              {"few_descriptors", play_few_descriptors}});
}
