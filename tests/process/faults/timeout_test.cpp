// SPDX-License-Identifier: Apache-2.0
// Ranks that never come: the others learn, at their deadline, who is missing.
#include <gtest/gtest.h>
#include <gyre/gyre.h>

#include <chrono>
#include <string>
#include <vector>

#include "support/checks.h"
#include "support/job.h"
#include "support/sanitizers.h"

namespace gyre::test {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr double grace = under_sanitizer ? 4 : 2;

int play_init(std::span<const std::string> /*arguments*/) {
  Checks checks;
  if (own_rank() == 2) {
    static_cast<void>(read_line());  // never calls
    return 0;
  }
  gyreConfig_t config = GYRE_CONFIG_INITIALIZER;
  config.initTimeoutSeconds = 3;
  gyreComm_t comm = nullptr;
  const auto start = Clock::now();
  checks.refused(gyreCommInitEnvironment(&comm, &config), gyreTimeout, "init", {"ank 2"});
  const double took = seconds_since(start);
  checks.that(took > 2.5 && took < 3 + grace, "after 3 seconds", std::to_string(took));
  checks.that(comm == nullptr, "no communicator");
  say("done");
  return checks.exit_code();
}

TEST(Timeout, OfInitNamesTheRankThatIsMissing) {
  Job job = Job::start({.role = "init", .ranks = 4});
  for (const int rank : {0, 1, 3}) {
    EXPECT_TRUE(job.wait_for_output(rank, "done"));
  }
  job.send_line(2, "end");
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
  }
}

// Argument: "barrier", or a count of elements.
int play_call(std::span<const std::string> arguments) {
  Checks checks;
  gyreConfig_t config = GYRE_CONFIG_INITIALIZER;
  config.timeoutSeconds = 2;
  const RankComm comm(checks, &config);
  const auto count = arguments[0] == "barrier" ? 0 : std::stoull(arguments[0]);
  std::vector<float> data(count);
  const auto call = [&] {
    return count == 0 ? gyreBarrier(comm.get(), nullptr)
                      : gyreAllReduce(data.data(), data.data(), count, gyreFloat32, gyreSum,
                                      comm.get(), nullptr);
  };
  if (own_rank() == 1) {
    static_cast<void>(read_line());
    // What the others had sent is here, and may be all that the late call needs. The next one,
    // for which nothing came, fails with their cause.
    gyreResult_t late = call();
    if (late == gyreSuccess) {
      late = call();
    }
    checks.refused(late, gyreTimeout, "the late rank", {" 1 did not make this call"});
    return checks.exit_code();
  }
  const auto start = Clock::now();
  const gyreResult_t result = call();
  const double took = seconds_since(start);
  checks.refused(result, gyreTimeout, "the call", {" 1 did not make this call"});
  checks.that(took > 1.5 && took < 2 + grace, "after 2 seconds", std::to_string(took));
  say("done");
  return checks.exit_code();
}

class TimeoutOf : public testing::TestWithParam<const char*> {};

TEST_P(TimeoutOf, ACallNamesTheRankThatIsLate) {
  Job job = Job::start({.role = "call", .ranks = 3, .arguments = {GetParam()}});
  for (const int rank : {0, 2}) {
    EXPECT_TRUE(job.wait_for_output(rank, "done"));
  }
  job.send_line(1, "go on");
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
  }
}
INSTANTIATE_TEST_SUITE_P(Calls, TimeoutOf, testing::Values("barrier", "4", "1000000"));

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  using namespace gyre::test;
  return run(argc, argv, {{"init", play_init}, {"call", play_call}});
}
