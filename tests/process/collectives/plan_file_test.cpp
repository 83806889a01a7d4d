// SPDX-License-Identifier: Apache-2.0
// Plans that users bring: run where they are right, refused with the reason where they are not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gyre/gyre.h>

#include <cstdint>
#include <string>
#include <vector>

#include "process/collectives/arena.h"
#include "support/checks.h"
#include "support/job.h"
#include "support/plan_text.h"
#include "support/temporary_directory.h"

namespace gyre::test {
namespace {

using testing::HasSubstr;

// Two-shot AllReduce, in which the ranks combine from the last to the first, unlike Gyre's own.
Program two_shot_program(int rank, int ranks) {
  Program program;
  std::vector<std::string> sources;
  std::vector<std::string> destinations = {slice("output", rank)};
  for (int peer = 0; peer < ranks; ++peer) {
    if (peer == rank) continue;
    program.push_back(combine({slice("input", peer)}, {slice("peer_slot", peer, peer)}));
    destinations.push_back(slice("peer_slot", rank, peer));
  }
  for (int peer = ranks - 1; peer >= 0; --peer) {
    sources.push_back(peer == rank ? slice("input", rank) : slice("slot", rank, peer));
    if (peer != rank) program.push_back(with_peer("wait", peer));
  }
  program.push_back(combine(sources, destinations, true));
  for (int peer = 0; peer < ranks; ++peer) {
    if (peer != rank) program.push_back(with_peer("release", peer));
  }
  for (int peer = 0; peer < ranks; ++peer) {
    if (peer == rank) continue;
    program.push_back(with_peer("wait", peer));
    program.push_back(combine({slice("slot", peer, peer)}, {slice("output", peer)}));
    program.push_back(with_peer("release", peer));
  }
  return program;
}

std::vector<Program> two_shot_programs(int ranks) {
  std::vector<Program> programs;
  for (int rank = 0; rank < ranks; ++rank) programs.push_back(two_shot_program(rank, ranks));
  return programs;
}

std::string two_shot(int ranks, int slots = 2) {
  return plan("backwards", heading("AllReduce", "staged", ranks, ranks, slots),
              two_shot_programs(ranks));
}

// Everybody reads all inputs, and the two tell each other when they have done so.
std::string direct_pair() {
  std::vector<Program> programs;
  for (const int rank : {0, 1}) {
    const int peer = 1 - rank;
    const std::string own = slice("input", 0);
    const std::string other = slice("peer_input", 0, peer);
    programs.push_back({combine(rank == 0 ? std::vector{own, other} : std::vector{other, own},
                                {slice("output", 0)}, true),
                        with_peer("signal", peer), with_peer("await", peer)});
  }
  return plan("look", heading("AllReduce", "direct", 2, 1, 1, false), programs);
}

// Rank 0 gives its input to rank 1 twice, for itself and to be handed on to rank 2. What rank 0 does looks
// like an exchange among all, and is none.
std::string by_proxy() {
  const std::string own = slice("input", 0);
  const auto put = [](const std::string& from, int peer) {
    return combine({from}, {slice("peer_slot", 0, peer)});
  };
  const auto slot = [](int peer) { return slice("slot", 0, peer); };
  const std::vector<std::string> output = {slice("output", 0)};
  const Program rank_0 = {put(own, 1),
                          put(own, 1),
                          with_peer("wait", 1),
                          with_peer("wait", 2),
                          combine({own, slot(1), slot(2)}, output, true),
                          with_peer("release", 1),
                          with_peer("release", 2)};
  const Program rank_1 = {put(own, 0),
                          put(own, 2),
                          with_peer("wait", 0),
                          with_peer("wait", 2),
                          combine({slot(0), own, slot(2)}, output, true),
                          with_peer("release", 0),
                          with_peer("release", 2),
                          with_peer("wait", 0),
                          put(slot(0), 2),
                          with_peer("release", 0)};
  const std::string kept = "{\"scratch\": 0, \"index\": 0}";
  const Program rank_2 = {put(own, 0),
                          put(own, 1),
                          with_peer("wait", 1),
                          combine({slot(1)}, {kept}),
                          with_peer("release", 1),
                          with_peer("wait", 1),
                          combine({slot(1), kept, own}, output, true),
                          with_peer("release", 1)};
  return plan("proxy", heading("AllReduce", "staged", 3, 1, 2) + ", \"scratch_blocks\": 1",
              {rank_0, rank_1, rank_2});
}

std::string broadcast_from(int root) {
  const Program sender = {
      combine({slice("input", 0)}, {slice("output", 0), slice("peer_slot", 0, 1 - root)})};
  const Program receiver = {with_peer("wait", root),
                            combine({slice("slot", 0, root)}, {slice("output", 0)}),
                            with_peer("release", root)};
  return plan("tell", heading("Broadcast", "staged", 2, 1, 1, true, root),
              root == 0 ? std::vector{sender, receiver} : std::vector{receiver, sender});
}

constexpr std::size_t most = 300'000;

void all_reduce(Checks& checks, gyreComm_t comm, Memory memory, std::size_t count,
                const std::string& expected_plan, bool in_place = false) {
  const Arena in(checks, comm, memory, most * 4);
  const Arena out(checks, comm, memory, most * 4);
  auto* const input = reinterpret_cast<std::int32_t*>(in.data());
  auto* const output = in_place ? input : reinterpret_cast<std::int32_t*>(out.data());
  for (std::size_t i = 0; i < count; ++i) {
    output[i] = -1;
    input[i] = static_cast<std::int32_t>(i) * (own_rank() + 1);
  }
  checks.succeeded(gyreAllReduce(input, output, count, gyreInt32, gyreSum, comm, nullptr), "call");
  const int ranks = world_size();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    wrong += output[i] != static_cast<std::int32_t>(i) * (ranks * (ranks + 1) / 2) ? 1 : 0;
  }
  checks.that(wrong == 0, "right elements", std::to_string(wrong) + " are not");
  const char* name = nullptr;
  checks.succeeded(gyreCommGetLastPlan(comm, &name), "gyreCommGetLastPlan");
  checks.that(name == expected_plan, "the plan is " + expected_plan, name);
}

// Arguments: kind of memory; then counts, each with the plan that must run.
int play_all_reduce(std::span<const std::string> arguments) {
  Checks checks;
  const RankComm comm(checks);
  const auto memory = static_cast<Memory>(std::stoi(arguments[0]));
  for (std::size_t i = 1; comm && i + 1 < arguments.size(); i += 2) {
    all_reduce(checks, comm.get(), memory, std::stoull(arguments[i]), arguments[i + 1]);
    if (memory == Memory::heap) {
      all_reduce(checks, comm.get(), memory, std::stoull(arguments[i]), arguments[i + 1], true);
    }
  }
  return checks.exit_code();
}

// The file is named by the configuration, not by the environment.
int play_configured(std::span<const std::string> arguments) {
  Checks checks;
  gyreConfig_t config = GYRE_CONFIG_INITIALIZER;
  config.planFile = arguments[0].c_str();
  const RankComm comm(checks, &config);
  if (comm) all_reduce(checks, comm.get(), Memory::heap, 1000, "file:backwards/staged");
  return checks.exit_code();
}

int play_broadcast(std::span<const std::string> /*arguments*/) {
  Checks checks;
  const RankComm comm(checks);
  for (const int root : {0, 1}) {
    std::vector<int> data(1000, own_rank() == root ? 7 + root : -1);
    checks.succeeded(
        gyreBroadcast(data.data(), data.data(), data.size(), gyreInt32, root, comm.get(), nullptr),
        "gyreBroadcast");
    checks.that(data == std::vector<int>(1000, 7 + root), "the root's data");
    const char* name = "";
    checks.succeeded(gyreCommGetLastPlan(comm.get(), &name), "gyreCommGetLastPlan");
    checks.that((std::string(name) == "file:tell/staged") == (root == 1), "runs for its root",
                name);
  }
  return checks.exit_code();
}

// Arguments: words of the text with which every rank's init must be refused.
int play_refused(std::span<const std::string> arguments) {
  Checks checks;
  gyreComm_t comm = nullptr;
  const gyreResult_t result = gyreCommInitEnvironment(&comm, nullptr);
  checks.that(result == gyreInvalidArgument || result == gyreSystemError, "init is refused",
              gyreGetErrorString(result));
  const std::string text = gyreGetLastError(nullptr);
  for (const std::string& word : arguments) {
    checks.that(text.find(word) != std::string::npos, "the text has \"" + word + "\"", text);
  }
  return checks.exit_code();
}

void run_job(const std::string& role, int ranks, const std::vector<std::string>& arguments,
             const std::string& plan_file) {
  Job job = Job::start({.role = role,
                        .ranks = ranks,
                        .arguments = arguments,
                        .environment = {"GYRE_TIMEOUT=20", "GYRE_PLAN_FILE=" + plan_file},
                        .limit = std::chrono::seconds(60)});
  for (const RankOutcome& rank : job.wait()) EXPECT_TRUE(rank.succeeded()) << rank;
}

class PlanFile : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    return directory_.write(name, text);
  }
  TemporaryDirectory directory_;
};

TEST_F(PlanFile, RunsForItsCollectiveAtEverySize) {
  for (const int ranks : {2, 3, 5}) {
    const std::string name = "file:backwards/staged";
    run_job("all_reduce", ranks,
            {"0", "1", name, "7", name, "257", name, "40000", name, "300000", name},
            write("plan.json", two_shot(ranks)));
  }
}

TEST_F(PlanFile, WithTinyChunksEveryFifoIsUsedManyTimes) {
  const std::string name = "file:backwards/staged";
  Job job = Job::start({.role = "all_reduce",
                        .ranks = 3,
                        .arguments = {"0", "40000", name},
                        .environment = {"GYRE_TIMEOUT=20", "GYRE_CHUNK=128",
                                        "GYRE_PLAN_FILE=" + write("p.json", two_shot(3))}});
  for (const RankOutcome& rank : job.wait()) EXPECT_TRUE(rank.succeeded()) << rank;
}

TEST_F(PlanFile, OneThatLooksLikeAnExchangeIsRunAsItIs) {
  const std::string name = "file:proxy/staged";
  run_job("all_reduce", 3, {"0", "1", name, "40000", name, "300000", name},
          write("plan.json", by_proxy()));
}

TEST_F(PlanFile, RunsInMappedMemoryTooWhenItIsStaged) {
  const std::string name = "file:backwards/staged";
  run_job("all_reduce", 3, {"1", "300000", name}, write("plan.json", two_shot(3)));
}

TEST_F(PlanFile, ADirectOneRunsInMappedMemory) {
  run_job("all_reduce", 2, {"1", "300000", "file:look/direct"}, write("plan.json", direct_pair()));
  // Elsewhere it cannot.
  run_job("all_reduce", 2, {"0", "300000", "twoshot/staged"}, write("plan.json", direct_pair()));
}

TEST_F(PlanFile, SeveralAreChosenAmong) {
  const std::string files = write("one.json", direct_pair()) + ":" + write("two.json", two_shot(2));
  run_job("all_reduce", 2, {"1", "300000", "file:look/direct", "1", "file:look/direct"}, files);
  run_job("all_reduce", 2, {"0", "300000", "file:backwards/staged"}, files);
}

TEST_F(PlanFile, OnlyRank0NeedsTheFile) {
  const std::string file = write("plan.json", two_shot(3));
  Job job = Job::start({.role = "all_reduce",
                        .ranks = 3,
                        .arguments = {"0", "1000", "file:backwards/staged"},
                        .environment = {"GYRE_TIMEOUT=20"},
                        .rank_environment = [&](int rank) -> std::vector<std::string> {
                          if (rank != 0) return {"GYRE_PLAN_FILE="};
                          return {"GYRE_PLAN_FILE=" + file};
                        }});
  for (const RankOutcome& rank : job.wait()) EXPECT_TRUE(rank.succeeded()) << rank;
}

TEST_F(PlanFile, TheConfigurationNamesItToo) {
  run_job("configured", 2, {write("plan.json", two_shot(2))}, "");
}

TEST_F(PlanFile, OneForAnotherNumberOfRanksIsNotUsed) {
  run_job("all_reduce", 2, {"0", "300000", "twoshot/staged"}, write("plan.json", two_shot(3)));
}

TEST_F(PlanFile, OneWithARootIsForCallsWithThatRoot) {
  run_job("broadcast", 2, {}, write("plan.json", broadcast_from(1)));
}

TEST_F(PlanFile, AWrongOneIsRefusedOnEveryRankAndTheStepIsNamed) {
  std::vector<Program> programs = two_shot_programs(3);
  programs[1].erase(programs[1].begin());  // rank 0 gets the next message in its place
  run_job("refused", 3,
          {"GYRE_PLAN_FILE", "wrong.json is refused", "rank 0, step 4", "carries block 1, not 0"},
          write("wrong.json", plan("less", heading("AllReduce", "staged", 3, 3, 2), programs)));
  programs = two_shot_programs(3);
  programs[2][4] = combine({slice("slot", 2, 1), slice("input", 2)}, {slice("output", 2)}, true);
  run_job("refused", 3, {"wrong.json", "rank 2, step 4", "not complete"},
          write("wrong.json", plan("less", heading("AllReduce", "staged", 3, 3, 2), programs)));
}

TEST_F(PlanFile, WhatIsNoPlanIsRefusedWithItsPlace) {
  run_job("refused", 2, {"none.json"}, directory_.path("none.json"));
  run_job("refused", 2, {"text.json is no plan", "line 1"}, write("text.json", "hello"));
  std::string text = two_shot(2);
  text.replace(text.find("\"wait\": 1"), 9, "\"wait\": 5");
  run_job("refused", 2, {"/programs/0/1/wait", "from 0 to 1"}, write("peer.json", text));
}

TEST_F(PlanFile, OneThatCannotRunHereIsRefused) {
  run_job("refused", 2, {"4096 slots", "GYRE_SLOTS=4096"}, write("slots.json", two_shot(2, 4096)));
}

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  return gyre::test::run(argc, argv,
                         {{"all_reduce", gyre::test::play_all_reduce},
                          {"configured", gyre::test::play_configured},
                          {"broadcast", gyre::test::play_broadcast},
                          {"refused", gyre::test::play_refused}});
}
