// SPDX-License-Identifier: Apache-2.0
// AllReduce over real processes: generated cases, every forced algorithm and protocol, tiny chunks,
// every kind of memory. The same bits on all ranks, whatever instructions a rank uses.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "process/collectives/all_reduce_player.h"
#include "support/job.h"
#include "support/sanitizers.h"

namespace gyre::test {
namespace {

// Arguments: the first case, how many, the most elements.
int play_cases(std::span<const std::string> arguments) {
  Checks checks;
  const RankComm comm(checks);
  if (!comm) {
    return checks.exit_code();
  }
  AllReducePlayer player(checks, comm.get());
  const std::uint64_t first = std::stoull(arguments[0]);
  const std::uint64_t count = std::stoull(arguments[1]);
  const std::size_t most = std::stoull(arguments[2]);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    AllReduceCase one = make_case(seed);
    one.count = std::min(one.count, most);
    if (!player.play(one)) {
      break;
    }
  }
  return checks.exit_code();
}

// The lines of the cases: what must be the same on every rank.
std::string digests_of(const RankOutcome& outcome) {
  std::istringstream lines(outcome.output);
  std::string digests;
  for (std::string line; std::getline(lines, line);) {
    digests += line.starts_with("case ") ? line + '\n' : "";
  }
  return digests;
}

struct Forced {
  std::string name;
  std::vector<std::string> environment;
  // Tiny chunks cost a change of process each when ranks share a CPU.
  std::size_t most_elements = largest_count;
};

void PrintTo(const Forced& forced, std::ostream* stream) {
  *stream << forced.name;
}

struct Cases {
  int ranks = 1;
  std::vector<std::string> environment{};
  int first = 0;
  int count = 1;
  std::size_t most_elements = largest_count;
  int scalar_rank = -1;  // has no vector instructions
};

// Runs the cases and returns the digests that all ranks agreed on.
std::string run_cases(const Cases& cases) {
  std::vector<std::string> environment = cases.environment;
  environment.emplace_back("GYRE_TIMEOUT=20");  // the others end too when one rank gives up
  Job job = Job::start({.role = "cases",
                        .ranks = cases.ranks,
                        .arguments = {std::to_string(cases.first), std::to_string(cases.count),
                                      std::to_string(cases.most_elements)},
                        .environment = environment,
                        .rank_environment = [&cases](int rank) -> std::vector<std::string> {
                          return {rank == cases.scalar_rank ? "GYRE_SIMD=scalar" : "GYRE_SIMD="};
                        },
                        .limit = std::chrono::seconds(120)});
  const auto outcomes = job.wait();
  const std::string digests = digests_of(outcomes[0]);
  for (const RankOutcome& rank : outcomes) {
    EXPECT_TRUE(rank.succeeded()) << rank;
    if (!rank.succeeded()) {
      return digests;
    }
    EXPECT_EQ(digests_of(rank), digests) << "rank " << rank.rank << " has other bits";
  }
  return digests;
}

class AllReduceOf : public testing::TestWithParam<int> {};

TEST_P(AllReduceOf, AnyNumberOfRanks) {
  static_cast<void>(
      run_cases({.ranks = GetParam(), .first = 1000 * GetParam(), .count = repetitions(396, 60)}));
}
INSTANTIATE_TEST_SUITE_P(Ranks, AllReduceOf, testing::Values(1, 2, 3, 4, 7));

class AllReduceForced : public testing::TestWithParam<Forced> {};

TEST_P(AllReduceForced, GivesTheSameOnAllRanks) {
  for (const int ranks : {2, 4}) {
    SCOPED_TRACE(std::to_string(ranks) + " ranks");
    static_cast<void>(run_cases({.ranks = ranks,
                                 .environment = GetParam().environment,
                                 .first = 20'000,
                                 .count = repetitions(132, 40),
                                 .most_elements = GetParam().most_elements}));
  }
}
INSTANTIATE_TEST_SUITE_P(
    Settings, AllReduceForced,
    testing::Values(
        Forced{"Ring", {"GYRE_ALGO=ring", "GYRE_PROTO=staged"}},
        Forced{"RingOnly", {"GYRE_ALGO=ring"}},
        Forced{"OneShot", {"GYRE_ALGO=oneshot", "GYRE_PROTO=staged"}, 4099},
        Forced{"OneShotOnly", {"GYRE_ALGO=oneshot"}},
        Forced{"TwoShot", {"GYRE_ALGO=twoshot", "GYRE_PROTO=staged"}},
        Forced{"TwoShotOnly", {"GYRE_ALGO=twoshot"}},
        Forced{"Tree", {"GYRE_ALGO=tree", "GYRE_SLOTS=1"}},
        Forced{"Doubling", {"GYRE_ALGO=doubling"}}, Forced{"Halving", {"GYRE_ALGO=halving"}},
        Forced{"Hierarchical", {"GYRE_ALGO=hierarchical"}},
        Forced{"Inline", {"GYRE_ALGO=oneshot", "GYRE_PROTO=inline"}},
        Forced{"InlineOnly", {"GYRE_PROTO=inline"}, 4099}, Forced{"Direct", {"GYRE_PROTO=direct"}},
        Forced{"RingTinyChunks",
               {"GYRE_ALGO=ring", "GYRE_PROTO=staged", "GYRE_CHUNK=64", "GYRE_CHANNELS=3"},
               1003},
        Forced{"TwoShotTinyChunks",
               {"GYRE_ALGO=twoshot", "GYRE_PROTO=staged", "GYRE_CHUNK=192", "GYRE_SLOTS=1"},
               1003},
        Forced{"OddChunks",
               {"GYRE_ALGO=ring", "GYRE_CHUNK=1000", "GYRE_CHANNELS=2", "GYRE_SLOTS=5"},
               4099},
        Forced{"ChunksOfOneByte", {"GYRE_CHUNK=1"}, 100},
        Forced{"UnevenChunksManyChannels",
               {"GYRE_ALGO=twoshot", "GYRE_PROTO=staged", "GYRE_CHUNK=4095", "GYRE_CHANNELS=7",
                "GYRE_SLOTS=3"},
               4099}),
    [](const auto& forced) { return forced.param.name; });

TEST(AllReduce, ARankWithoutVectorInstructionsGivesTheSameBits) {
  const int count = repetitions(300, 60);
  const std::string vector = run_cases({.ranks = 3, .first = 40'000, .count = count});
  EXPECT_EQ(run_cases({.ranks = 3, .first = 40'000, .count = count, .scalar_rank = 1}), vector);
}

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  return gyre::test::run(argc, argv, {{"cases", gyre::test::play_cases}});
}
