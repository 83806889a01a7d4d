// SPDX-License-Identifier: Apache-2.0
// What gyre-plan counts and draws.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/catalog.h"
#include "collectives/chain.h"
#include "gyre_plan/dot.h"
#include "gyre_plan/links.h"
#include "gyre_plan/measures.h"

namespace gyre::tool {
namespace {

using plan::Algorithm;
using plan::Collective;
using plan::Protocol;
using testing::HasSubstr;

plan::Plan all_reduce(Algorithm algorithm, Protocol protocol, int ranks) {
  return plan::make_plan({Collective::all_reduce, algorithm, protocol, ranks, -1});
}

TEST(Measures, AreThoseOfTheTableInAlgorithms) {
  for (const int n : {2, 3, 5, 8}) {
    SCOPED_TRACE(n);
    const double least = 2.0 * (n - 1) / n;
    const Measures ring = measure(all_reduce(Algorithm::ring, Protocol::staged, n));
    EXPECT_EQ(ring.chain, 2 * (n - 1));
    EXPECT_EQ(ring.messages, 2 * (n - 1));
    EXPECT_DOUBLE_EQ(ring.sent, least);
    EXPECT_EQ(ring.peers, n == 2 ? 1 : 2);
    const Measures two_shot = measure(all_reduce(Algorithm::two_shot, Protocol::staged, n));
    EXPECT_EQ(two_shot.chain, 2);
    EXPECT_EQ(two_shot.messages, 2 * (n - 1));
    EXPECT_DOUBLE_EQ(two_shot.sent, least);
    EXPECT_DOUBLE_EQ(two_shot.combined, 1.0);
    EXPECT_EQ(two_shot.peers, n - 1);
    const Measures one_shot = measure(all_reduce(Algorithm::one_shot, Protocol::staged, n));
    EXPECT_EQ(one_shot.chain, 1);
    EXPECT_DOUBLE_EQ(one_shot.sent, n - 1);
    EXPECT_DOUBLE_EQ(one_shot.combined, n);
    const Measures direct = measure(all_reduce(Algorithm::two_shot, Protocol::direct, n));
    EXPECT_NEAR(direct.sent, (n - 1.0) / n, 1e-12);
    EXPECT_NEAR(direct.read_from_peers, (n - 1.0) / n, 1e-12);
    EXPECT_EQ(direct.messages, n - 1);
  }
}

TEST(Measures, OfARootedPlanAreThoseOfTheRankThatHasMost) {
  const Measures tree = measure(
      plan::make_plan({Collective::broadcast, Algorithm::binomial, Protocol::staged, 8, 3}));
  EXPECT_EQ(tree.chain, 3);
  EXPECT_EQ(tree.messages, 3);
  EXPECT_EQ(tree.total_messages, 7);
  const Measures chain =
      measure(plan::make_plan({Collective::broadcast, Algorithm::chain, Protocol::staged, 8, 3}));
  EXPECT_EQ(chain.chain, 7);
  EXPECT_EQ(chain.messages, 1);
}

TEST(Links, JoinEachPutWithItsWait) {
  const plan::Plan ring = all_reduce(Algorithm::ring, Protocol::staged, 4);
  const auto links = links_of(ring);
  EXPECT_EQ(links.size(), 4U * 6U);
  for (const Link& link : links) {
    EXPECT_EQ(link.to.rank, (link.from.rank + 1) % 4);
    const auto& step = ring.programs[static_cast<std::size_t>(link.to.rank)]
                                    [static_cast<std::size_t>(link.to.step)];
    EXPECT_EQ(step.kind, plan::StepKind::wait);
    EXPECT_EQ(step.peer, link.from.rank);
  }
}

TEST(Links, ACircleOfWaitsHasNoLongestChain) {
  plan::Plan pair = all_reduce(Algorithm::one_shot, Protocol::staged, 2);
  for (plan::Program& program : pair.programs) std::swap(program[0], program[1]);
  EXPECT_EQ(plan::longest_chain(pair.programs), -1);
}

TEST(Dot, HasALaneForEachRankAndAnEdgeForEachMessage) {
  const std::string staged = to_dot(all_reduce(Algorithm::one_shot, Protocol::staged, 2));
  EXPECT_THAT(staged, HasSubstr("cluster_0"));
  EXPECT_THAT(staged, HasSubstr("cluster_1"));
  EXPECT_THAT(staged, HasSubstr("r0_0 -> r1_1 [label=\"0\""));
  EXPECT_THAT(staged, HasSubstr("r1_0 -> r0_1 [label=\"0\""));
  const std::string direct = to_dot(all_reduce(Algorithm::one_shot, Protocol::direct, 2));
  EXPECT_THAT(direct, HasSubstr("r0_1 -> r1_2 [style=dashed"));
}

}  // namespace
}  // namespace gyre::tool
