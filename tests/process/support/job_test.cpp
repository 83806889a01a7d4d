// SPDX-License-Identifier: Apache-2.0
// The harness itself: a test that cannot see a rank fail is worth nothing.
#include "support/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <iostream>

namespace gyre::test {
namespace {

using testing::HasSubstr;

int play_echo(std::span<const std::string> arguments) {
  for (const std::string& argument : arguments) {
    say(argument);
  }
  const char* extra = std::getenv("EXTRA");
  say(extra == nullptr ? "no extra" : extra);
  std::cerr << "to stderr\n";
  return 3;
}

int play_wait(std::span<const std::string> /*arguments*/) {
  say("waiting");
  say("heard " + read_line());
  return 0;
}

TEST(Job, OutputAndExitCodeAreCollected) {
  Job job = Job::start({.role = "echo",
                        .ranks = 2,
                        .arguments = {"one", "two"},
                        .rank_environment = [](int rank) -> std::vector<std::string> {
                          return {"EXTRA=of rank " + std::to_string(rank)};
                        },
                        .launched = false});
  const auto outcomes = job.wait();
  ASSERT_EQ(outcomes.size(), 2);
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(outcomes.at(rank).rank, rank);
    EXPECT_EQ(outcomes.at(rank).exit_code, 3);
    EXPECT_FALSE(outcomes.at(rank).succeeded());
    EXPECT_EQ(outcomes.at(rank).output,
              "one\ntwo\nof rank " + std::to_string(rank) + "\nto stderr\n");
  }
}

TEST(Job, ARankWaitsForALine) {
  Job job = Job::start({.role = "wait", .launched = false});
  ASSERT_TRUE(job.wait_for_output(0, "waiting\n"));
  job.send_line(0, "go");
  const auto outcomes = job.wait();
  EXPECT_TRUE(outcomes.at(0).succeeded()) << outcomes.at(0);
  EXPECT_THAT(outcomes.at(0).output, HasSubstr("heard go\n"));
}

TEST(Job, AKilledRankIsReported) {
  Job job = Job::start({.role = "wait", .ranks = 2, .launched = false});
  ASSERT_TRUE(job.wait_for_output(1, "waiting"));
  job.signal(1, SIGKILL);
  // Expect: what never comes is noticed as soon as the rank is gone.
  EXPECT_FALSE(job.wait_for_output(1, "heard"));
  job.send_line(0, "go");
  const auto outcomes = job.wait();
  EXPECT_TRUE(outcomes.at(0).succeeded()) << outcomes.at(0);
  EXPECT_EQ(outcomes.at(1).signal, SIGKILL);
  EXPECT_FALSE(outcomes.at(1).succeeded());
}

TEST(Job, ARankThatRunsTooLongIsKilled) {
  Job job = Job::start({.role = "wait", .launched = false, .limit = std::chrono::seconds(1)});
  const auto outcomes = job.wait();
  EXPECT_TRUE(outcomes.at(0).timed_out);
  EXPECT_FALSE(outcomes.at(0).succeeded());
}

TEST(Job, AnUnknownRoleFails) {
  Job job = Job::start({.role = "no such role", .launched = false});
  const auto outcomes = job.wait();
  EXPECT_FALSE(outcomes.at(0).succeeded());
  EXPECT_THAT(outcomes.at(0).output, HasSubstr("no such role"));
}

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  return gyre::test::run(argc, argv,
                         {{"echo", gyre::test::play_echo}, {"wait", gyre::test::play_wait}});
}
