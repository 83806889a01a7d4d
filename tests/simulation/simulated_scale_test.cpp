// SPDX-License-Identifier: Apache-2.0
// Thousands of ranks, on a fat tree: all results right, and times as closed forms say.
#include <gtest/gtest.h>

#include "collectives/catalog.h"
#include "simulation/experiment.h"

namespace gyre::simulation {
namespace {

using plan::Algorithm;
using plan::Collective;

Experiment experiment(Collective collective, Algorithm algorithm, int ranks, std::uint64_t bytes) {
  const plan::Recipe recipe{collective, algorithm, plan::Protocol::staged, ranks,
                            collective == Collective::all_reduce ? -1 : 0};
  Experiment result;
  result.plan = plan::describe(recipe);
  result.program_of = [recipe](int rank) { return plan::program_of(recipe, rank); };
  result.bytes = bytes;
  result.topology = Topology::fat_tree;
  return result;
}

double seconds(const Experiment& experiment) {
  const auto report = simulate(experiment);
  EXPECT_TRUE(report) << (report ? "" : report.error().message);
  if (!report) return -1;
  for (const RankReport& rank : report->ranks) EXPECT_EQ(rank.error, "");
  return report->seconds;
}

// 32 hosts at each of 32 leaf switches. Of the 1024 hops round the ring, 32 lead from one leaf to the
// next, over twice as many links; the mean latency counts.
TEST(Scale, RingOf1024) {
  constexpr int ranks = 1024;
  constexpr std::uint64_t block = 32 * 1024;
  const Experiment ring = experiment(Collective::all_reduce, Algorithm::ring, ranks, block * ranks);
  const double hop = ring.latency * (1 + 32.0 / ranks) + block / ring.bandwidth;
  EXPECT_NEAR(seconds(ring), 2 * (ranks - 1) * hop, 0.05 * 2 * (ranks - 1) * hop);
}

// 64 hosts at each leaf: the six lower levels of the tree stay within a leaf, the six upper ones cross.
TEST(Scale, TreeOf4096) {
  constexpr int ranks = 4096;
  for (const Collective collective : {Collective::broadcast, Collective::reduce}) {
    const Experiment tree = experiment(collective, Algorithm::binomial, ranks, 64);
    const double expected = (6 + 6 * 2) * tree.latency + 12 * 64 / tree.bandwidth;
    EXPECT_NEAR(seconds(tree), expected, 0.05 * expected);
  }
}

TEST(Scale, ChainOf512IsAPipeline) {
  constexpr int ranks = 512;
  constexpr int tiles = 256;
  Experiment chain = experiment(Collective::broadcast, Algorithm::chain, ranks, tiles * 131'072);
  chain.topology = Topology::star;
  const double expected =
      (ranks - 1) * chain.latency + (ranks - 2 + tiles) * 131'072 / chain.bandwidth;
  EXPECT_NEAR(seconds(chain), expected, 0.05 * expected);
}

}  // namespace
}  // namespace gyre::simulation
