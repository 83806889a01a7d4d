// SPDX-License-Identifier: Apache-2.0
// Messages that do not fit what is received, and calls that wait for each other: every rank learns it
// in a second, with both sides' values.
#include <gtest/gtest.h>
#include <gyre/gyre.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "support/checks.h"
#include "support/job.h"
#include "support/sanitizers.h"

namespace gyre::test {
namespace {

using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;

constexpr std::size_t large = 3'000'000;  // bytes: more than slots hold

// What a rank of three does; the words that every rank's error must contain.
struct Fault {
  Words words;
  gyreResult_t (*play)(int rank, gyreComm_t comm, std::vector<char>& in, std::vector<char>& out);
};

gyreResult_t send(const std::vector<char>& out, std::size_t bytes, int peer, gyreComm_t comm) {
  return gyreSend(out.data(), bytes, gyreInt8, peer, comm, nullptr);
}
gyreResult_t receive(std::vector<char>& in, std::size_t bytes, int peer, gyreComm_t comm) {
  return gyreRecv(in.data(), bytes, gyreInt8, peer, comm, nullptr);
}

const std::map<std::string, Fault>& faults() {
  static const std::map<std::string, Fault> all = {
      {"count",
       {{"100 elements of int8", "99 elements of int8", "rank 0", "rank 1"},
        [](int rank, gyreComm_t comm, std::vector<char>& in, std::vector<char>& out) {
          if (rank == 0) send(out, 100, 1, comm);
          if (rank == 1) return receive(in, 99, 0, comm);
          return gyreBarrier(comm, nullptr);
        }}},
      {"far_less",
       {{"100 elements of int8", "3000000 elements of int8", "rank 0", "rank 1"},
        [](int rank, gyreComm_t comm, std::vector<char>& in, std::vector<char>& out) {
          if (rank == 0) send(out, 100, 1, comm);
          if (rank == 1) return receive(in, large, 0, comm);
          return gyreBarrier(comm, nullptr);
        }}},
      {"type",
       {{"4 elements of int8", "4 elements of float32", "rank 0", "rank 1"},
        [](int rank, gyreComm_t comm, std::vector<char>& in, std::vector<char>& out) {
          if (rank == 0) send(out, 4, 1, comm);
          if (rank == 1) return gyreRecv(in.data(), 4, gyreFloat32, 0, comm, nullptr);
          return gyreBarrier(comm, nullptr);
        }}},
      {"both_receive",
       {{"wait for each other", "message 1", "7 elements", "9 elements"},
        [](int rank, gyreComm_t comm, std::vector<char>& in, std::vector<char>& out) {
          if (rank == 0) receive(in, 7, 1, comm), send(out, 9, 1, comm);
          if (rank == 1) receive(in, 9, 0, comm), send(out, 7, 0, comm);
          return gyreBarrier(comm, nullptr);
        }}},
      {"collective_first",
       {{"wait for each other", "Barrier", "7 elements", "rank 0", "rank 1"},
        [](int rank, gyreComm_t comm, std::vector<char>& in, std::vector<char>& out) {
          if (rank == 0) receive(in, 7, 1, comm);
          const gyreResult_t result = gyreBarrier(comm, nullptr);
          if (rank == 1) send(out, 7, 0, comm);
          return result;
        }}},
      {"sections",
       {{"AllToAllV", "5 elements", "6 elements", "rank 0", "rank 2"},
        [](int rank, gyreComm_t comm, std::vector<char>& in, std::vector<char>& out) {
          // Rank 0 sends five elements to rank 2, which expects six.
          const std::size_t sent[] = {5, 5, 5};
          std::size_t received[] = {5, 5, 5};
          if (rank == 2) received[0] = 6;
          const std::size_t at[] = {0, 10, 20};
          return gyreAllToAllV(out.data(), sent, at, in.data(), received, at, gyreInt8, comm,
                               nullptr);
        }}},
      {"sections_and_another",
       {{"AllToAllV", "AllReduce", "rank 2"},
        [](int rank, gyreComm_t comm, std::vector<char>& in, std::vector<char>& out) {
          const std::size_t counts[] = {5, 5, 5};
          const std::size_t at[] = {0, 10, 20};
          if (rank == 2) {
            return gyreAllReduce(out.data(), in.data(), 5, gyreInt8, gyreSum, comm, nullptr);
          }
          return gyreAllToAllV(out.data(), counts, at, in.data(), counts, at, gyreInt8, comm,
                               nullptr);
        }}},
  };
  return all;
}

int play(std::span<const std::string> arguments) {
  Checks checks;
  const RankComm comm(checks);
  if (!comm) return checks.exit_code();
  const Fault& fault = faults().at(arguments[0]);
  std::vector<char> in(4 * large), out(large, 'x');
  checks.succeeded(gyreBarrier(comm.get(), nullptr), "a call that all make");
  const auto start = Clock::now();
  gyreResult_t result = fault.play(own_rank(), comm.get(), in, out);
  if (result == gyreSuccess) {  // this rank's part could be done: the next call tells
    result = gyreBarrier(comm.get(), nullptr);
  }
  const auto took = std::chrono::duration<double>(Clock::now() - start).count();
  checks.refused(result, gyreInvalidUsage, "the call", {});
  const std::string text = gyreGetLastError(comm.get());
  for (const std::string& word : fault.words) {
    checks.that(text.find(word) != std::string::npos, "it must say " + word, text);
  }
  checks.that(took < (under_sanitizer ? 5 : 1), "in a second", std::to_string(took));
  return checks.exit_code();
}

class MessageMismatch : public testing::TestWithParam<std::string> {};

TEST_P(MessageMismatch, IsToldOnEveryRank) {
  Job job = Job::start(
      {.role = "fault", .ranks = 3, .arguments = {GetParam()}, .environment = {"GYRE_TIMEOUT=10"}});
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& [name, fault] : faults()) all.push_back(name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, MessageMismatch, testing::ValuesIn(names()),
                         [](const auto& name) { return name.param; });

// A peer that never sends is named when the time is over; one that dies, at once.
int play_absent(std::span<const std::string> arguments) {
  Checks checks;
  RankComm comm(checks);
  if (!comm) return checks.exit_code();
  char byte = 0;
  checks.succeeded(gyreBarrier(comm.get(), nullptr), "a call that all make");
  if (own_rank() == 0) {
    const bool dies = arguments[0] == "dies";
    checks.refused(gyreRecv(&byte, 1, gyreInt8, 1, comm.get(), nullptr),
                   dies ? gyreRemoteError : gyreTimeout, "Recv", {"ank 1"});
    if (!dies)
      checks.refused(gyreBarrier(comm.get(), nullptr), gyreTimeout, "later", {"message 1"});
    say("done");
  } else if (arguments[0] == "dies") {
    comm.forget();
    std::_Exit(3);
  } else {
    static_cast<void>(read_line());
  }
  return checks.exit_code();
}

TEST(MessageFaults, APeerThatNeverSendsIsNamed) {
  Job job = Job::start(
      {.role = "absent", .ranks = 2, .arguments = {"late"}, .environment = {"GYRE_TIMEOUT=1"}});
  EXPECT_TRUE(job.wait_for_output(0, "done"));
  job.send_line(1, "go on");
  EXPECT_TRUE(job.wait()[0].succeeded());
}

TEST(MessageFaults, APeerThatDiesIsNamed) {
  Job job = Job::start(
      {.role = "absent", .ranks = 2, .arguments = {"dies"}, .environment = {"GYRE_TIMEOUT=20"}});
  const auto outcomes = job.wait();
  EXPECT_TRUE(outcomes[0].succeeded()) << outcomes[0];
}

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  return gyre::test::run(argc, argv,
                         {{"fault", gyre::test::play}, {"absent", gyre::test::play_absent}});
}
