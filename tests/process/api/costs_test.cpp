// SPDX-License-Identifier: Apache-2.0
// What links cost is measured by the first job, kept, and decides what later jobs run.
#include <gtest/gtest.h>
#include <gyre/gyre.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/checks.h"
#include "support/job.h"
#include "support/sanitizers.h"
#include "support/temporary_directory.h"

namespace gyre::test {
namespace {

// Arguments: elements, the plan that must have run; "": any.
int play_sum(std::span<const std::string> arguments) {
  Checks checks;
  const RankComm comm(checks);
  if (!comm) return checks.exit_code();
  std::vector<int> values(std::stoull(arguments[0]), own_rank() + 1);
  checks.succeeded(gyreAllReduce(values.data(), values.data(), values.size(), gyreInt32, gyreSum,
                                 comm.get(), nullptr),
                   "AllReduce");
  checks.that(values.back() == world_size() * (world_size() + 1) / 2, "the sum");
  const char* name = "";
  gyreCommGetLastPlan(comm.get(), &name);
  checks.that(arguments[1].empty() || arguments[1] == name, "what ran", name);
  return checks.exit_code();
}

// The user's first call is call 1, whatever was measured before.
int play_mismatch(std::span<const std::string>) {
  Checks checks;
  const RankComm comm(checks);
  if (!comm) return checks.exit_code();
  checks.succeeded(gyreBarrier(comm.get(), nullptr), "call 1");
  int value = 0;
  const std::size_t count = own_rank() == 0 ? 1 : 0;
  checks.refused(gyreAllReduce(&value, &value, count, gyreInt32, gyreSum, comm.get(), nullptr),
                 gyreInvalidUsage, "call 2", {"as call 2 "});
  return checks.exit_code();
}

// The output of rank 0.
std::string run_job(const char* role, const std::string& file,
                    std::vector<std::string> arguments = {}) {
  Job job = Job::start({.role = role,
                        .ranks = 3,
                        .arguments = std::move(arguments),
                        .environment = {"GYRE_COST_FILE=" + file, "GYRE_TIMEOUT=20",
                                        "GYRE_DEBUG=INFO", "GYRE_DEBUG_SUBSYS=TUNING"}});
  const auto outcomes = job.wait();
  for (const RankOutcome& rank : outcomes) {
    EXPECT_TRUE(rank.succeeded()) << rank;
  }
  return outcomes[0].output;
}

// "CPU, 2 CPUs, 3 ranks", of a job that measured.
std::string shape_in(const std::string& output) {
  const std::string before = "measured for ";
  const std::size_t at = output.find(before);
  if (at == std::string::npos) return "";
  return output.substr(at + before.size(), output.find(": an exchange", at) - at - before.size());
}

TEST(Costs, AreMeasuredOnceAndDecide) {
  const TemporaryDirectory folder;
  const std::string file = folder.path("gyre/costs.json");
  const std::string shape = shape_in(run_job("sum", file, {"5000", ""}));
  ASSERT_NE(shape, "");
  nlohmann::json document = {{"version", GYRE_VERSION_CODE}};
  // On a busy machine what is measured is not believed, and not kept.
  if (std::filesystem::exists(file)) {
    document = nlohmann::json::parse(std::ifstream(file));
    ASSERT_EQ(document["links"].size(), 1U);
    EXPECT_TRUE(document["links"].contains(shape)) << document;
  }
  // Hops that cost ten milliseconds, and all else nothing: one exchange is best at any size.
  document["links"][shape] = {{"exchange_seconds", 1e-2},
                              {"message_seconds", 0},
                              {"seconds_per_byte", 0},
                              {"seconds_per_byte_large", 0}};
  std::filesystem::create_directories(folder.path("gyre"));
  std::ofstream(file) << document;
  const std::string output = run_job("sum", file, {"1000000", "oneshot/staged"});
  EXPECT_EQ(shape_in(output), "") << "what is known is not measured again";
  EXPECT_EQ(nlohmann::json::parse(std::ifstream(file)), document);
}

TEST(Costs, ACommunicatorWorksWhereNothingCanBeKept) {
  run_job("sum", "/proc/no/costs.json", {"5000", ""});
  run_job("sum", "none", {"5000", "oneshot/staged"});
}

TEST(Costs, OurOwnCallsAreNotCounted) {
  run_job("mismatch", "/proc/no/costs.json");
}

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  return gyre::test::run(argc, argv,
                         {{"sum", gyre::test::play_sum}, {"mismatch", gyre::test::play_mismatch}});
}
