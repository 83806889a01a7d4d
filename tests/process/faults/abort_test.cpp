// SPDX-License-Identifier: Apache-2.0
// gyreCommAbort ends a blocked call here, is told to the others, and gives the buffers back for
// good: a peer that was stopped in the middle of a store must not reach them any more.
#include <gtest/gtest.h>
#include <gyre/gyre.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
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

constexpr double most_seconds = under_sanitizer ? 6 : 2;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

gyreResult_t reduce(const Arena& in, const Arena& out, std::size_t count, gyreComm_t comm) {
  return gyreAllReduce(in.data(), out.data(), count, gyreInt32, gyreSum, comm, nullptr);
}

// Rank 0 aborts, from a second thread and when told, while its first is in AllReduces that rank 1
// takes no part in any more. Argument: kind of memory.
int play_stopped_peer(std::span<const std::string> arguments) {
  Checks checks;
  constexpr std::size_t count = 4'000'000;
  RankComm comm(checks);
  if (!comm) {
    return checks.exit_code();
  }
  const auto memory = static_cast<Memory>(std::stoi(arguments[0]));
  const Arena in(checks, comm.get(), memory, count * 4);
  const Arena out(checks, comm.get(), memory, count * 4);
  checks.succeeded(reduce(in, out, count, comm.get()), "AllReduce with both");
  say("ready");
  gyreResult_t result = gyreSuccess;
  std::thread caller([&] {
    while (result == gyreSuccess) {
      result = reduce(in, out, count, comm.get());
    }
  });
  if (own_rank() == 1) {
    caller.join();
    checks.that(result == gyreRemoteError || result == gyreAborted, "the abort is told here",
                gyreGetErrorString(result));
    checks.refused(gyreBarrier(comm.get(), nullptr), result, "a later call", {"rank 0", "Abort"});
    return checks.exit_code();
  }
  static_cast<void>(read_line());
  const auto start = Clock::now();
  checks.succeeded(gyreCommAbort(comm.get()), "gyreCommAbort");
  comm.forget();
  checks.that(seconds_since(start) < most_seconds, "an abort in time",
              std::to_string(seconds_since(start)));
  caller.join();
  checks.that(result == gyreAborted, "the blocked call is aborted", gyreGetErrorString(result));
  constexpr std::byte pattern{0x5a};
  for (const Arena* arena : {&in, &out}) {
    std::fill_n(arena->data(), count * 4, pattern);
  }
  say("written");
  static_cast<void>(read_line());  // the peer has run on and ended
  for (const Arena* arena : {&in, &out}) {
    checks.that(std::all_of(arena->data(), arena->data() + count * 4,
                            [](std::byte byte) { return byte == pattern; }),
                "what was written after the abort stands");
  }
  return checks.exit_code();
}

class AbortWith : public testing::TestWithParam<Memory> {};

TEST_P(AbortWith, AStoppedPeerGivesTheBuffersBack) {
  for (int i = 0; i < repetitions(3, 1); ++i) {
    Job job = Job::start({.role = "stopped_peer",
                          .ranks = 2,
                          .arguments = {std::to_string(static_cast<int>(GetParam()))},
                          .limit = std::chrono::seconds(60)});
    ASSERT_TRUE(job.wait_for_output(0, "ready") && job.wait_for_output(1, "ready"));
    std::this_thread::sleep_for(milliseconds(5 + 3 * i));  // in the middle of one of many calls
    job.signal(1, SIGSTOP);
    std::this_thread::sleep_for(milliseconds(50));
    job.send_line(0, "abort");
    const bool written = job.wait_for_output(0, "written");
    job.signal(1, SIGCONT);
    EXPECT_TRUE(written);
    job.wait_for_end(1);
    job.send_line(0, "look");
    for (const RankOutcome& rank : job.wait()) {
      EXPECT_TRUE(rank.succeeded()) << rank;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Kinds, AbortWith,
                         testing::Values(Memory::heap, Memory::shared, Memory::registered));

// One of three ranks aborts in the middle of a loop; the others are in calls, or computing.
int play_one_aborts(std::span<const std::string> /*arguments*/) {
  Checks checks;
  RankComm comm(checks);
  if (!comm) {
    return checks.exit_code();
  }
  const Arena data(checks, comm.get(), Memory::heap, 4000);
  for (int i = 0; i < 100; ++i) {
    checks.succeeded(reduce(data, data, 1000, comm.get()), "AllReduce with all");
  }
  if (own_rank() == 1) {
    checks.succeeded(gyreCommAbort(comm.get()), "gyreCommAbort");
    comm.forget();
    return checks.exit_code();
  }
  const auto start = Clock::now();
  const gyreResult_t result = reduce(data, data, 1000, comm.get());
  checks.refused(result, gyreRemoteError, "AllReduce", {"rank 1", "Abort"});
  checks.that(seconds_since(start) < most_seconds, "in time", std::to_string(seconds_since(start)));
  return checks.exit_code();
}

TEST(Abort, OfOneRankIsToldToTheOthers) {
  Job job = Job::start({.role = "one_aborts", .ranks = 3, .environment = {"GYRE_TIMEOUT=20"}});
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
  }
}

// Rank 0 is blocked in calls on two communicators, which two threads abort.
int play_two_comms(std::span<const std::string> /*arguments*/) {
  Checks checks;
  const RankComm parent(checks);
  std::vector<gyreComm_t> comms(2);
  for (gyreComm_t& comm : comms) {
    const gyreUniqueId id = share_new_id(checks, parent.get());
    checks.succeeded(gyreCommInitRank(&comm, 2, id, own_rank()), "gyreCommInitRank");
  }
  if (own_rank() == 1) {
    static_cast<void>(read_line());
    for (const gyreComm_t comm : comms) {
      checks.refused(gyreBarrier(comm, nullptr), gyreRemoteError, "a barrier", {"rank 0", "Abort"});
      checks.succeeded(gyreCommDestroy(comm), "gyreCommDestroy");
    }
    return checks.exit_code();
  }
  std::vector<gyreResult_t> results(2);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] { results[i] = gyreBarrier(comms[i], nullptr); });
  }
  std::this_thread::sleep_for(milliseconds(200));  // both are asleep by now
  const auto start = Clock::now();
  std::vector<gyreResult_t> aborts(2, gyreInternalError);
  for (std::size_t i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] { aborts[i] = gyreCommAbort(comms[i]); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  checks.that(seconds_since(start) < most_seconds, "in time", std::to_string(seconds_since(start)));
  for (std::size_t i = 0; i < 2; ++i) {
    checks.that(results[i] == gyreAborted, "the blocked call is aborted");
    checks.that(aborts[i] == gyreSuccess, "the abort succeeds");
  }
  say("aborted");
  return checks.exit_code();
}

TEST(Abort, OfTwoCommunicatorsFromTwoThreads) {
  Job job = Job::start({.role = "two_comms", .ranks = 2, .environment = {"GYRE_TIMEOUT=20"}});
  ASSERT_TRUE(job.wait_for_output(0, "aborted"));
  job.send_line(1, "go on");
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
  }
}

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  using namespace gyre::test;
  return run(argc, argv,
             {{"stopped_peer", play_stopped_peer},
              {"one_aborts", play_one_aborts},
              {"two_comms", play_two_comms}});
}
