// SPDX-License-Identifier: Apache-2.0
// What a user sees who sets variables: warnings about unknown names, errors about bad values, and
// at INFO what is in force and why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gyre/gyre.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "support/checks.h"
#include "support/job.h"
#include "support/temporary_directory.h"

namespace gyre::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// A small and a large AllReduce.
int play_member(std::span<const std::string> /*arguments*/) {
  Checks checks;
  const RankComm comm(checks);
  std::vector<float> data(300'000);
  for (const std::size_t count : {std::size_t{4}, data.size()}) {
    if (comm) {
      checks.succeeded(
          gyreAllReduce(data.data(), data.data(), count, gyreFloat32, gyreSum, comm.get(), nullptr),
          "gyreAllReduce");
    }
  }
  say("pid " + std::to_string(::getpid()));
  return checks.exit_code();
}

RankOutcome outcome_of(const std::vector<std::string>& environment, int ranks = 2) {
  Job job = Job::start({.role = "member", .ranks = ranks, .environment = environment});
  return job.wait().front();
}

TEST(Settings, AnUnknownNameIsAWarningWithTheNearestName) {
  const RankOutcome rank = outcome_of({"GYRE_CHUNKS=4096"});
  EXPECT_TRUE(rank.succeeded()) << rank;
  EXPECT_THAT(rank.output, HasSubstr("GYRE WARN"));
  EXPECT_THAT(rank.output, HasSubstr("GYRE_CHUNKS"));
  EXPECT_THAT(rank.output, HasSubstr("GYRE_CHUNK?"));
}

TEST(Settings, ATypoWithoutANeighbourIsAWarningToo) {
  const RankOutcome rank = outcome_of({"GYRE_TYPO=1"});
  EXPECT_TRUE(rank.succeeded()) << rank;
  EXPECT_THAT(rank.output, HasSubstr("GYRE_TYPO"));
}

TEST(Settings, ABadValueIsAnErrorOfInit) {
  const RankOutcome rank = outcome_of({"GYRE_CHUNK=4Q"}, 1);
  EXPECT_EQ(rank.exit_code, 1) << rank;
  EXPECT_THAT(rank.output, HasSubstr("GYRE_CHUNK"));
  EXPECT_THAT(rank.output, HasSubstr("4Q"));
}

TEST(Settings, AnOrdinaryRunPrintsNothing) {
  const RankOutcome rank = outcome_of({});
  EXPECT_TRUE(rank.succeeded()) << rank;
  EXPECT_THAT(rank.output, Not(HasSubstr("GYRE")));
}

TEST(Settings, InfoTellsWhatIsInForceAndWhy) {
  const RankOutcome rank = outcome_of({"GYRE_DEBUG=INFO", "GYRE_CHANNELS=3"});
  EXPECT_TRUE(rank.succeeded()) << rank;
  EXPECT_THAT(rank.output, HasSubstr("GYRE_CHANNELS = 3 (environment)"));
  EXPECT_THAT(rank.output, HasSubstr("GYRE_TIMEOUT = 1800 (default)"));
  // Plans, with the reason of their choice, and how the ranks are connected.
  EXPECT_THAT(rank.output, HasSubstr("oneshot/inline"));
  EXPECT_THAT(rank.output, HasSubstr("/staged"));
  EXPECT_THAT(rank.output, HasSubstr("few ranks"));
  EXPECT_THAT(rank.output, HasSubstr("shared"));
}

TEST(Settings, EachProcessHasALogFileOfItsOwn) {
  const TemporaryDirectory directory;
  Job job = Job::start(
      {.role = "member",
       .ranks = 2,
       .environment = {"GYRE_DEBUG=INFO", "GYRE_DEBUG_FILE=" + directory.path("log.%h.%p")}});
  std::array<char, 256> host{};
  ASSERT_EQ(::gethostname(host.data(), host.size()), 0);
  for (const int rank : {0, 1}) {
    const std::string name =
        "log." + std::string(host.data()) + "." + std::to_string(job.pid(rank));
    job.wait_for_end(rank);
    EXPECT_THAT(directory.read(name), HasSubstr("GYRE INFO")) << name;
    EXPECT_THAT(directory.read(name), HasSubstr(":" + std::to_string(job.pid(rank)) + ":"));
  }
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
    EXPECT_THAT(rank.output, Not(HasSubstr("GYRE")));
  }
}

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  return gyre::test::run(argc, argv, {{"member", gyre::test::play_member}});
}
