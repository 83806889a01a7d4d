// SPDX-License-Identifier: Apache-2.0
// Ranks that do not make the same call: every rank learns in a second which two calls met.
#include <gtest/gtest.h>
#include <gyre/gyre.h>

#include <chrono>
#include <string>
#include <vector>

#include "process/collectives/arena.h"
#include "support/checks.h"
#include "support/job.h"
#include "support/sanitizers.h"

namespace gyre::test {
namespace {

using Clock = std::chrono::steady_clock;

// What rank 1 does instead of AllReduce(count, float32, sum).
struct Deviation {
  std::string name;
  std::size_t count_factor_percent = 100;
  gyreDataType_t type = gyreFloat32;
  gyreRedOp_t op = gyreSum;
  bool barrier = false;
  std::string word;  // in the text, beside the other rank's call
};

const std::vector<Deviation>& deviations() {
  static const std::vector<Deviation> all = {
      {.name = "count", .count_factor_percent = 50, .word = "count="},
      {.name = "far_less", .count_factor_percent = 1, .word = "count="},  // by another algorithm
      {.name = "zero", .count_factor_percent = 0, .word = "count=0"},
      {.name = "type", .type = gyreInt32, .word = "int32"},
      {.name = "op", .op = gyreMax, .word = "max"},
      {.name = "barrier", .barrier = true, .word = "Barrier"},
  };
  return all;
}

gyreResult_t call(const Deviation& how, std::size_t count, const Arena& in, const Arena& out,
                  gyreComm_t comm) {
  return how.barrier ? gyreBarrier(comm, nullptr)
                     : gyreAllReduce(in.data(), out.data(), count * how.count_factor_percent / 100,
                                     how.type, how.op, comm, nullptr);
}

// Arguments: number of the deviation, count, kind of memory, who deviates. A swapped order is
// met as AllReduce against Barrier, whichever rank begins with which.
int play_deviation(std::span<const std::string> arguments) {
  Checks checks;
  const Deviation& deviation = deviations().at(std::stoull(arguments[0]));
  const std::size_t count = std::stoull(arguments[1]);
  const auto memory = static_cast<Memory>(std::stoi(arguments[2]));
  const RankComm comm(checks);
  if (!comm) {
    return checks.exit_code();
  }
  const Arena in(checks, comm.get(), memory, count * 4);
  const Arena out(checks, comm.get(), memory, count * 4);
  const Deviation usual;
  checks.succeeded(call(usual, count, in, out, comm.get()), "a call that all make");
  const auto start = Clock::now();
  const int deviant = std::stoi(arguments[3]);
  const gyreResult_t result =
      call(own_rank() == deviant ? deviation : usual, count, in, out, comm.get());
  const auto took = std::chrono::duration<double>(Clock::now() - start).count();
  const std::string usual_count = "count=" + std::to_string(count) + ", float32, sum";
  checks.refused(result, gyreInvalidUsage, "the call",
                 {"AllReduce", usual_count, deviation.word, "rank " + arguments[3]});
  checks.that(took < (under_sanitizer ? 5 : 1), "in a second", std::to_string(took));
  checks.refused(gyreBarrier(comm.get(), nullptr), gyreInvalidUsage, "a later call",
                 {deviation.word});
  return checks.exit_code();
}

struct Size {
  std::string name;
  std::size_t count;
  Memory memory;
};

class Mismatch : public testing::TestWithParam<Size> {};

TEST_P(Mismatch, IsToldOnEveryRank) {
  for (std::size_t i = 0; i < deviations().size(); ++i) {
    for (const int deviant : {0, 2}) {
      SCOPED_TRACE(deviations()[i].name + " on rank " + std::to_string(deviant));
      Job job = Job::start({.role = "deviation",
                            .ranks = 3,
                            .arguments = {std::to_string(i), std::to_string(GetParam().count),
                                          std::to_string(static_cast<int>(GetParam().memory)),
                                          std::to_string(deviant)},
                            .environment = {"GYRE_TIMEOUT=10"},
                            .limit = std::chrono::seconds(60)});
      for (const RankOutcome& rank : job.wait()) {
        EXPECT_TRUE(rank.succeeded()) << rank;
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Sizes, Mismatch,
                         testing::Values(Size{"Small", 4, Memory::heap},
                                         Size{"Staged", 300'000, Memory::heap},
                                         Size{"Direct", 300'000, Memory::shared}),
                         [](const auto& size) { return size.param.name; });

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  return gyre::test::run(argc, argv, {{"deviation", gyre::test::play_deviation}});
}
