// SPDX-License-Identifier: Apache-2.0
// Links and hosts fail in the midst of a collective: every rank ends, with an error that names the
// culprit, and none waits for ever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/catalog.h"
#include "collectives/layout.h"
#include "simulation/experiment.h"

namespace gyre::simulation {
namespace {

using plan::Algorithm;
using plan::Collective;
using plan::Protocol;
using testing::HasSubstr;

constexpr int ranks = 16;

void set_recipe(Experiment& experiment, const plan::Recipe& recipe) {
  experiment.plan = plan::describe(recipe);
  experiment.program_of = [recipe](int rank) { return plan::program_of(recipe, rank); };
}

Experiment experiment(Collective collective, Algorithm algorithm) {
  Experiment result;
  set_recipe(result,
             {collective, algorithm, Protocol::staged, ranks, plan::has_root(collective) ? 0 : -1});
  result.bytes = std::uint64_t{64} << 20U;
  result.notice = 1e-4;
  return result;
}

double undisturbed_seconds(const Experiment& experiment) {
  return simulate(experiment).value().seconds;
}

void expect_all_to_blame(const Experiment& experiment, int culprit, const char* text) {
  const auto report = simulate(experiment);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_THAT(report->ranks, testing::SizeIs(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    const RankReport& state = report->ranks[static_cast<std::size_t>(rank)];
    EXPECT_EQ(state.culprit, culprit) << "rank " << rank << ": " << state.error;
    EXPECT_THAT(state.error, HasSubstr(text)) << "rank " << rank;
  }
}

TEST(Failures, ALinkBreaksAtAnyTime) {
  for (const auto& [collective, algorithm] :
       {std::pair{Collective::all_reduce, Algorithm::ring},
        std::pair{Collective::all_reduce, Algorithm::one_shot},
        std::pair{Collective::all_to_all, Algorithm::one_shot}}) {
    for (const Topology topology : {Topology::star, Topology::fat_tree}) {
      Experiment broken = experiment(collective, algorithm);
      broken.topology = topology;
      const double whole = undisturbed_seconds(broken);
      for (const double part : {0.0, 0.1, 0.5}) {
        broken.injections = {{Injection::What::link, 5, part * whole}};
        SCOPED_TRACE(part);
        expect_all_to_blame(broken, 5, "The link of rank 5 to its switch is down");
      }
    }
  }
}

TEST(Failures, AHostDiesAtAnyTime) {
  Experiment dying = experiment(Collective::all_reduce, Algorithm::ring);
  const double whole = undisturbed_seconds(dying);
  for (const double part : {0.0, 0.3, 0.6}) {
    dying.injections = {{Injection::What::host, 11, part * whole}};
    SCOPED_TRACE(part);
    expect_all_to_blame(dying, 11, "Rank 11 died");
  }
}

// The first cause stands, whatever fails because of it or after it.
TEST(Failures, TheFirstOfSeveralIsNamed) {
  Experiment dying = experiment(Collective::all_reduce, Algorithm::ring);
  const double whole = undisturbed_seconds(dying);
  dying.injections = {{Injection::What::host, 3, 0.2 * whole},
                      {Injection::What::host, 9, 0.2 * whole + dying.notice / 2}};
  const auto report = simulate(dying).value();
  for (int rank = 0; rank < ranks; ++rank) {
    const int culprit = rank == 9 ? 9 : 3;
    EXPECT_EQ(report.ranks[static_cast<std::size_t>(rank)].culprit, culprit) << "rank " << rank;
  }
}

TEST(Failures, RanksHearOfItWhenTheControlChannelSays) {
  Experiment dying = experiment(Collective::all_reduce, Algorithm::ring);
  const double at = 0.25 * undisturbed_seconds(dying);
  dying.notice = 0.5;
  dying.injections = {{Injection::What::host, 2, at}};
  const auto report = simulate(dying).value();
  int survivors = 0;
  for (const RankReport& rank : report.ranks) {
    const bool survived = rank.seconds > 0;
    survivors += survived ? 1 : 0;
    EXPECT_NEAR(rank.seconds, survived ? at + 0.5 : 0, 1e-6);
  }
  EXPECT_EQ(survivors, ranks - 1);
}

TEST(Failures, WhoWasDoneBeforeIsNotDisturbed) {
  Experiment late = experiment(Collective::broadcast, Algorithm::chain);
  late.notice = 1e-3;  // more than what is left
  const double whole = undisturbed_seconds(late);
  late.injections = {{Injection::What::link, ranks - 1, 0.9 * whole}};
  const auto report = simulate(late).value();
  EXPECT_EQ(report.ranks.front().error, "") << "the root had sent everything";
  EXPECT_EQ(report.ranks.back().culprit, ranks - 1);
  late.injections.front().at = 2 * whole;
  const auto undisturbed = simulate(late).value();
  for (const RankReport& rank : undisturbed.ranks) EXPECT_EQ(rank.error, "");
}

}  // namespace
}  // namespace gyre::simulation
