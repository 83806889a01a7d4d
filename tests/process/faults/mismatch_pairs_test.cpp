// SPDX-License-Identifier: Apache-2.0
// Ranks that do not make the same call: every pair of collectives, and every argument of each. All
// ranks learn within a second that two calls met, and which.
//
// A rank that only sends, like the root of a Broadcast, may have returned by then: it learns from its
// next call.
#include <gtest/gtest.h>
#include <gyre/gyre.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "support/checks.h"
#include "support/job.h"
#include "support/sanitizers.h"

namespace gyre::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int ranks = 3;

struct Call {
  std::string name;
  std::size_t count = 0;
  gyreDataType_t type = gyreFloat32;
  gyreRedOp_t op = gyreSum;
  int root = 0;

  [[nodiscard]] bool reduces() const {
    return name == "AllReduce" || name == "Reduce" || name == "ReduceScatter";
  }
  [[nodiscard]] bool rooted() const {
    return name == "Reduce" || name == "Broadcast" || name == "Gather" || name == "Scatter";
  }
  // As the library writes it.
  [[nodiscard]] std::string text() const {
    if (name == "Barrier") return "Barrier()";
    std::string text = name + "(count=" + std::to_string(count) + ", " +
                       (type == gyreFloat32 ? "float32" : "int32");
    if (reduces()) text += op == gyreSum ? ", sum" : ", max";
    return text + (rooted() ? ", root=" + std::to_string(root) + ")" : ")");
  }
};

gyreResult_t make(const Call& call, const void* in, void* out, gyreComm_t comm) {
  const auto [name, count, type, op, root] = call;
  if (name == "AllReduce") return gyreAllReduce(in, out, count, type, op, comm, nullptr);
  if (name == "Reduce") return gyreReduce(in, out, count, type, op, root, comm, nullptr);
  if (name == "ReduceScatter") return gyreReduceScatter(in, out, count, type, op, comm, nullptr);
  if (name == "AllGather") return gyreAllGather(in, out, count, type, comm, nullptr);
  if (name == "Broadcast") return gyreBroadcast(in, out, count, type, root, comm, nullptr);
  if (name == "Gather") return gyreGather(in, out, count, type, root, comm, nullptr);
  if (name == "Scatter") return gyreScatter(in, out, count, type, root, comm, nullptr);
  if (name == "AllToAll") return gyreAllToAll(in, out, count, type, comm, nullptr);
  return gyreBarrier(comm, nullptr);
}

constexpr std::array names = {"AllReduce", "Reduce",  "ReduceScatter", "AllGather", "Broadcast",
                              "Gather",    "Scatter", "AllToAll",      "Barrier"};

struct Meeting {
  Call usual, deviation;
};

// Every collective with every other one, and with itself with another argument.
std::vector<Meeting> meetings(std::size_t count) {
  std::vector<Meeting> all;
  const auto call = [&](const char* name) { return Call{.name = name, .count = count}; };
  for (const char* usual : names) {
    for (const char* other : names) {
      if (usual != other) all.push_back({call(usual), call(other)});
    }
    if (std::string_view(usual) == "Barrier") continue;
    const auto with = [&](auto&& change) {
      all.push_back({call(usual), call(usual)});
      change(all.back().deviation);
    };
    with([&](Call& c) { c.count = count / 2; });
    with([](Call& c) { c.count = 0; });
    with([](Call& c) { c.type = gyreInt32; });
    if (call(usual).reduces()) with([](Call& c) { c.op = gyreMax; });
    if (call(usual).rooted()) with([](Call& c) { c.root = 1; });
  }
  return all;
}

class Player {
 public:
  Player(Checks& checks, gyreComm_t base, std::size_t count)
      : checks_(checks), base_(base), in_(ranks * count), out_(ranks * count) {}

  // On a communicator of its own, which is then lost.
  void play(const Meeting& meeting, int deviant) {
    const std::string what = meeting.usual.text() + " against " + meeting.deviation.text() +
                             " of rank " + std::to_string(deviant);
    const gyreUniqueId id = share_new_id(checks_, base_);
    gyreComm_t comm = nullptr;
    checks_.succeeded(gyreCommInitRank(&comm, ranks, id, own_rank()), "gyreCommInitRank");
    // Nobody is still joining when the first one fails.
    checks_.succeeded(gyreBarrier(base_, nullptr), "a barrier");
    checks_.succeeded(make(meeting.usual, in_.data(), out_.data(), comm), "a call that all make");
    // Nobody is still in it when the first one fails: a root does not wait for the others.
    checks_.succeeded(gyreBarrier(base_, nullptr), "a barrier");
    const auto start = Clock::now();
    gyreResult_t result = make(own_rank() == deviant ? meeting.deviation : meeting.usual,
                               in_.data(), out_.data(), comm);
    constexpr double limit = under_sanitizer ? 5 : 1;
    double took = 0;
    do {
      if (result == gyreSuccess) result = make(meeting.usual, in_.data(), out_.data(), comm);
      took = std::chrono::duration<double>(Clock::now() - start).count();
    } while (result == gyreSuccess && took < limit);
    checks_.refused(
        result, gyreInvalidUsage, what,
        {meeting.usual.text(), meeting.deviation.text(), "rank " + std::to_string(deviant)});
    checks_.that(took < limit, "in a second", what + " took " + std::to_string(took));
    checks_.refused(gyreBarrier(comm, nullptr), gyreInvalidUsage, "a later call after " + what,
                    {meeting.usual.text(), meeting.deviation.text()});
    checks_.succeeded(gyreCommDestroy(comm), "gyreCommDestroy");
  }

 private:
  Checks& checks_;
  gyreComm_t base_;
  std::vector<float> in_, out_;
};

// Arguments: elements; who deviates; every how many-th meeting.
int play_meetings(std::span<const std::string> arguments) {
  Checks checks;
  const RankComm comm(checks);
  if (!comm) return checks.exit_code();
  const std::size_t count = std::stoull(arguments[0]);
  const int deviant = std::stoi(arguments[1]);
  const std::size_t step = std::stoull(arguments[2]);
  Player player(checks, comm.get(), count);
  const std::vector<Meeting> all = meetings(count);
  for (std::size_t i = 0; i < all.size(); i += step) {
    player.play(all[i], deviant);
  }
  return checks.exit_code();
}

struct Setup {
  const char* name;
  std::size_t count;
  int deviant;
};

class MismatchPairs : public testing::TestWithParam<Setup> {};

TEST_P(MismatchPairs, AreToldOnEveryRank) {
  Job job = Job::start(
      {.role = "meetings",
       .ranks = ranks,
       .arguments = {std::to_string(GetParam().count), std::to_string(GetParam().deviant),
                     std::to_string(repetitions(1, 7))},
       .environment = {"GYRE_TIMEOUT=10"},
       .limit = std::chrono::seconds(120)});
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
  }
}
INSTANTIATE_TEST_SUITE_P(Sizes, MismatchPairs,
                         testing::Values(Setup{"SmallRank0", 10, 0}, Setup{"SmallRank2", 10, 2},
                                         Setup{"StagedRank0", 30'000, 0},
                                         Setup{"StagedRank2", 30'000, 2}),
                         [](const auto& setup) { return setup.param.name; });

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  return gyre::test::run(argc, argv, {{"meetings", gyre::test::play_meetings}});
}
