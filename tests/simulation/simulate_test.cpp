// SPDX-License-Identifier: Apache-2.0
// Every plan that has messages runs over the simulated network with the right result, in the time that
// closed forms and the estimate say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/catalog.h"
#include "collectives/estimate.h"
#include "collectives/layout.h"
#include "collectives/steps.h"
#include "simulation/experiment.h"

namespace gyre::simulation {
namespace {

using plan::Algorithm;
using plan::Collective;
using plan::Protocol;

void set_recipe(Experiment& experiment, const plan::Recipe& recipe) {
  experiment.plan = plan::describe(recipe);
  experiment.program_of = [recipe](int rank) { return plan::program_of(recipe, rank); };
}

Experiment experiment(Collective collective, Algorithm algorithm, int ranks, std::uint64_t bytes,
                      std::uint64_t slot_bytes = std::uint64_t{1} << 30U) {
  Experiment result;
  set_recipe(result,
             {collective, algorithm, Protocol::staged, ranks, plan::has_root(collective) ? 0 : -1});
  result.bytes = bytes;
  result.slot_bytes = slot_bytes;
  result.bandwidth = 10e9;
  result.latency = 2e-6;
  return result;
}

// The report of an experiment in which nothing goes wrong.
Report run(const Experiment& experiment) {
  auto report = simulate(experiment);
  EXPECT_TRUE(report) << (report ? "" : report.error().message);
  if (!report) return {};
  EXPECT_EQ(report->ranks.size(), static_cast<std::size_t>(experiment.plan.ranks));
  for (const RankReport& rank : report->ranks) EXPECT_EQ(rank.error, "");
  return *std::move(report);
}

double estimated(const Experiment& experiment) {
  const plan::NetworkModel network{.classes = {{.latency = experiment.latency,
                                                .per_byte = 1 / experiment.bandwidth,
                                                .reduce_per_byte = experiment.reduce_per_byte,
                                                .overhead = experiment.overhead}}};
  return plan::estimate(experiment.plan, experiment.program_of, network,
                        {.count = experiment.bytes / 4,
                         .element_bytes = 4,
                         .slot_bytes = experiment.slot_bytes,
                         .channels = experiment.channels,
                         .slots = experiment.slots})
      .value()
      .seconds;
}

void expect_within(double value, double expected, double fraction) {
  EXPECT_NEAR(value, expected, fraction * expected);
}

constexpr double accuracy = 0.01;

TEST(Simulate, EveryPlanWithMessagesGivesTheRightResult) {
  for (const Collective collective :
       {Collective::all_reduce, Collective::reduce, Collective::reduce_scatter,
        Collective::all_gather, Collective::broadcast, Collective::gather, Collective::scatter,
        Collective::all_to_all}) {
    for (const int ranks : {1, 2, 5, 8}) {
      for (const plan::Recipe& recipe : plan::recipes(collective, ranks, ranks / 2)) {
        if (recipe.protocol == Protocol::direct) continue;
        const bool in_line = recipe.protocol == Protocol::flag_in_line;
        if (in_line && recipe.algorithm != Algorithm::one_shot) continue;
        for (const int channels : {1, 3}) {
          Experiment each = experiment(collective, recipe.algorithm, ranks, 20'004, 1024);
          set_recipe(each, recipe);
          each.channels = in_line ? 1 : channels;
          each.slot_bytes = in_line ? 40'000 : 1024;
          each.slots = 1;
          SCOPED_TRACE(plan::title(plan::describe(recipe)) + " of " + std::to_string(ranks));
          run(each);
        }
      }
    }
  }
}

TEST(Simulate, RingTakesWhatItsClosedFormSays) {
  for (const int ranks : {2, 16, 64}) {
    for (const std::uint64_t block : {64, 1 << 20}) {
      Experiment ring = experiment(Collective::all_reduce, Algorithm::ring, ranks, block * ranks);
      ring.overhead = 3e-7;
      ring.reduce_per_byte = 2e-11;
      const double hop = ring.overhead + ring.latency + static_cast<double>(block) / ring.bandwidth;
      const double combining = static_cast<double>(block) * ring.reduce_per_byte;
      const Report report = run(ring);
      expect_within(report.seconds, 2 * (ranks - 1) * hop + (ranks - 1) * combining, accuracy);
      EXPECT_EQ(report.messages, 2 * (ranks - 1) * ranks);
      EXPECT_EQ(report.bytes, 2 * (ranks - 1) * block * ranks);
    }
  }
}

TEST(Simulate, ChainOfTilesIsAPipeline) {
  constexpr int ranks = 12;
  constexpr int tiles = 40;
  constexpr std::uint64_t tile = 1 << 16;
  const Experiment chain =
      experiment(Collective::broadcast, Algorithm::chain, ranks, tile * tiles, tile);
  expect_within(run(chain).seconds,
                (ranks - 1) * chain.latency + (ranks - 2 + tiles) * tile / chain.bandwidth,
                accuracy);
}

TEST(Simulate, SmallMessagesTakeTheDepthOfATree) {
  constexpr int depth = 6;
  for (const Collective collective : {Collective::broadcast, Collective::reduce}) {
    const Experiment tree = experiment(collective, Algorithm::binomial, 1 << depth, 64);
    expect_within(run(tree).seconds, depth * (tree.latency + 64 / tree.bandwidth), 0.05);
  }
}

// Two models of one network, made independently.
TEST(Simulate, AgreesWithTheEstimate) {
  const Experiment several[] = {
      experiment(Collective::all_reduce, Algorithm::ring, 7, 7 << 18, 1 << 16),
      experiment(Collective::all_gather, Algorithm::ring, 9, 1 << 20, 1 << 18),
      experiment(Collective::reduce_scatter, Algorithm::ring, 9, 1 << 20),
      experiment(Collective::gather, Algorithm::one_shot, 9, 1 << 20),
      experiment(Collective::scatter, Algorithm::one_shot, 9, 1 << 20),
      experiment(Collective::all_to_all, Algorithm::one_shot, 9, 1 << 20),
      experiment(Collective::broadcast, Algorithm::chain, 20, 1 << 22, 1 << 17)};
  for (const Experiment& each : several) {
    SCOPED_TRACE(plan::title(each.plan));
    expect_within(run(each).seconds, estimated(each), 0.05);
  }
}

// 4 GiB a rank are simulated, and a part of it is carried and checked.
TEST(Simulate, LargeBuffersAreScaled) {
  constexpr int ranks = 8;
  constexpr std::uint64_t bytes = std::uint64_t{4} << 30U;
  const Experiment ring =
      experiment(Collective::all_reduce, Algorithm::ring, ranks, bytes, bytes / 64);
  const Report report = run(ring);
  EXPECT_GT(report.scale, 1U);
  EXPECT_EQ(report.bytes, 2 * (ranks - 1) * bytes);
  expect_within(report.seconds, estimated(ring), accuracy);
}

TEST(Simulate, TheSameExperimentTakesTheSameTime) {
  const Experiment tree = experiment(Collective::reduce, Algorithm::two_shot, 13, 100'000, 4096);
  const Report first = run(tree);
  const Report second = run(tree);
  EXPECT_EQ(first.seconds, second.seconds);
  for (std::size_t rank = 0; rank < first.ranks.size(); ++rank) {
    EXPECT_EQ(first.ranks[rank].seconds, second.ranks[rank].seconds);
  }
}

TEST(Simulate, APlanThatIsStuckEnds) {
  Experiment stuck = experiment(Collective::broadcast, Algorithm::chain, 2, 64);
  stuck.program_of = [](int rank) {
    return rank == 0 ? plan::Program() : plan::Program{plan::build::wait(0)};
  };
  const auto report = simulate(stuck);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->ranks[1].error, testing::HasSubstr("waits for ever"));
}

TEST(Simulate, RefusesWhatItCannotDo) {
  Experiment direct = experiment(Collective::all_reduce, Algorithm::one_shot, 4, 64);
  direct.plan.protocol = Protocol::direct;
  EXPECT_EQ(simulate(direct).error().code, Code::not_supported);
  Experiment nobody = experiment(Collective::all_reduce, Algorithm::ring, 4, 64);
  nobody.injections = {{.rank = 4}};
  EXPECT_THAT(simulate(nobody).error().message, testing::HasSubstr("no rank 4"));
  Experiment long_lines = experiment(Collective::all_reduce, Algorithm::one_shot, 4, 4096, 1024);
  long_lines.plan.protocol = Protocol::flag_in_line;
  EXPECT_EQ(simulate(long_lines).error().code, Code::invalid_argument);
}

}  // namespace
}  // namespace gyre::simulation
