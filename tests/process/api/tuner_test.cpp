// SPDX-License-Identifier: Apache-2.0
// The user's say in how calls run.
#include <gtest/gtest.h>
#include <gyre/gyre.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "support/checks.h"
#include "support/job.h"

namespace gyre::test {
namespace {

struct Wish {
  std::string algorithm{}, protocol{};
  int asked = 0;
  gyreTunerCall_t last{};
  std::string last_collective{};
};

void tune(void* context, const gyreTunerCall_t* call, gyreTunerChoice_t* choice) {
  Wish& wish = *static_cast<Wish*>(context);
  ++wish.asked;
  wish.last = *call;
  wish.last_collective = call->collective;
  if (!wish.algorithm.empty()) {
    std::snprintf(choice->algorithm, sizeof(choice->algorithm), "%s", wish.algorithm.c_str());
  }
  if (!wish.protocol.empty()) {
    std::snprintf(choice->protocol, sizeof(choice->protocol), "%s", wish.protocol.c_str());
  }
}

gyreConfig_t config_with(Wish& wish) {
  gyreConfig_t config = GYRE_CONFIG_INITIALIZER;
  config.tuner = tune;
  config.tunerContext = &wish;
  return config;
}

gyreResult_t add_up(gyreComm_t comm, std::vector<int>& values) {
  return gyreAllReduce(values.data(), values.data(), values.size(), gyreInt32, gyreSum, comm,
                       nullptr);
}

std::string plan_of(gyreComm_t comm) {
  const char* name = "";
  gyreCommGetLastPlan(comm, &name);
  return name;
}

// Arguments: algorithm and protocol of rank 0, those of the others.
int play_chosen(std::span<const std::string> arguments) {
  Checks checks;
  Wish wish{.algorithm = arguments[0], .protocol = arguments[1]};
  const gyreConfig_t config = config_with(wish);
  const RankComm comm(checks, &config);
  if (!comm) return checks.exit_code();
  std::vector<int> values(1000, own_rank());
  for (int call = 0; call < 3; ++call) {
    checks.succeeded(add_up(comm.get(), values), "AllReduce");
  }
  checks.that(plan_of(comm.get()) == arguments[2], "what runs", plan_of(comm.get()));
  checks.that(wish.asked == 1, "asked once for each kind of call", std::to_string(wish.asked));
  checks.that(wish.last.count == 1000 && wish.last.datatype == gyreInt32 && wish.last.root == -1 &&
                  wish.last.nranks == world_size() && wish.last_collective == "AllReduce",
              "told what is called");
  checks.that(values[999] == 3 * world_size() * world_size(), "the sum",
              std::to_string(values[999]));
  return checks.exit_code();
}

int play_nonsense(std::span<const std::string>) {
  Checks checks;
  Wish wish{.algorithm = "magic"};
  const gyreConfig_t config = config_with(wish);
  const RankComm comm(checks, &config);
  if (!comm) return checks.exit_code();
  std::vector<int> values(1000);
  checks.refused(add_up(comm.get(), values), gyreInvalidUsage, "an unknown algorithm",
                 {"tuner", "magic"});
  wish = {.algorithm = "ring", .protocol = "direct"};
  values.resize(1001);
  checks.refused(add_up(comm.get(), values), gyreInvalidUsage, "what cannot run", {"ring/direct"});
  wish = {};
  values.resize(1002);
  checks.succeeded(add_up(comm.get(), values), "a later call");
  return checks.exit_code();
}

int play_discord(std::span<const std::string>) {
  Checks checks;
  Wish wish{.algorithm = own_rank() == 1 ? "ring" : "oneshot", .protocol = "staged"};
  const gyreConfig_t config = config_with(wish);
  const RankComm comm(checks, &config);
  if (!comm) return checks.exit_code();
  checks.succeeded(gyreBarrier(comm.get(), nullptr), "a call that all make");
  std::vector<int> values(1000);
  checks.refused(add_up(comm.get(), values), gyreInvalidUsage, "another plan on a rank",
                 {"rank 1", "ring/staged", "oneshot/staged", "count=1000"});
  return checks.exit_code();
}

void run_role(const char* role, std::vector<std::string> arguments = {}) {
  Job job = Job::start({.role = role,
                        .ranks = 3,
                        .arguments = std::move(arguments),
                        .environment = {"GYRE_TIMEOUT=10"}});
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
  }
}

TEST(Tuner, ChoosesWhatRuns) {
  run_role("chosen", {"", "", "oneshot/staged"});
  run_role("chosen", {"ring", "", "ring/staged"});
  run_role("chosen", {"doubling", "", "doubling/staged"});
  run_role("chosen", {"", "inline", "oneshot/inline"});
}

TEST(Tuner, WhatItInventsIsRefused) {
  run_role("nonsense");
}

TEST(Tuner, RanksThatRunAnotherPlanAreTold) {
  run_role("discord");
}

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  return gyre::test::run(argc, argv,
                         {{"chosen", gyre::test::play_chosen},
                          {"nonsense", gyre::test::play_nonsense},
                          {"discord", gyre::test::play_discord}});
}
