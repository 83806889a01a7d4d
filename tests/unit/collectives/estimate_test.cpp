// SPDX-License-Identifier: Apache-2.0
// Estimates against closed forms. alpha: latency, beta: seconds a byte, gamma: seconds to combine a
// byte, omicron: overhead of a message; n ranks, messages of b bytes.
#include "collectives/estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/steps.h"

namespace gyre::plan {
namespace {

constexpr double alpha = 3e-6;
constexpr double beta = 1e-9;
constexpr double gamma_s = 2.5e-10;
constexpr double omicron = 4e-7;
constexpr std::uint64_t element = 4;

NetworkModel network(double gamma = 0, double overhead = 0) {
  return {.classes = {{alpha, beta, gamma, overhead}}};
}

// One channel, and so many slots that none is ever waited for.
Workload workload(std::uint64_t bytes, std::uint64_t slot_bytes = std::uint64_t{1} << 40U) {
  return {.count = bytes / element,
          .element_bytes = element,
          .slot_bytes = slot_bytes,
          .channels = 1,
          .slots = 1000};
}

double seconds(const Recipe& recipe, const NetworkModel& net, const Workload& work) {
  const auto result = estimate(recipe, net, work);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result ? result->seconds : -1;
}

// The two are the same but for rounding.
void expect_seconds(double value, double expected) {
  EXPECT_NEAR(value, expected, 1e-9 * expected);
}

Recipe recipe(Collective collective, Algorithm algorithm, int ranks, int root = -1) {
  return {collective, algorithm, Protocol::staged, ranks, root};
}

TEST(Estimate, RingAllReduceIsAMessageAndAHopAtATime) {
  for (const int n : {2, 3, 5, 16, 67}) {
    const std::uint64_t block = 6400;
    const auto b = static_cast<double>(block);
    const double expected = 2 * (n - 1) * (omicron + alpha + b * beta) + (n - 1) * b * gamma_s;
    expect_seconds(seconds(recipe(Collective::all_reduce, Algorithm::ring, n),
                           network(gamma_s, omicron), workload(block * n)),
                   expected);
  }
}

TEST(Estimate, RingOfSections) {
  constexpr int n = 9;
  constexpr double b = 8192;
  expect_seconds(
      seconds(recipe(Collective::all_gather, Algorithm::ring, n), network(gamma_s), workload(8192)),
      (n - 1) * (alpha + b * beta));
  expect_seconds(seconds(recipe(Collective::reduce_scatter, Algorithm::ring, n), network(gamma_s),
                         workload(8192)),
                 (n - 1) * (alpha + b * (beta + gamma_s)));
}

// n-1 hops until the first tile is everywhere, then a tile behind the other.
TEST(Estimate, ChainOfTilesIsAPipeline) {
  constexpr double b = 4096;
  for (const int n : {2, 5, 33}) {
    for (const int tiles : {1, 2, 50}) {
      const Recipe chain = recipe(Collective::broadcast, Algorithm::chain, n, n / 2);
      Workload work = workload(4096 * tiles, 4096);
      expect_seconds(seconds(chain, network(), work), (n - 1) * alpha + (n - 2 + tiles) * b * beta);
      // With one slot, the next tile starts when the slot is known to be free.
      work.slots = 1;
      expect_seconds(seconds(chain, network(), work),
                     (n - 1) * (alpha + b * beta) + (tiles - 1) * (2 * alpha + b * beta));
    }
  }
}

TEST(Estimate, BinomialTrees) {
  constexpr double b = 1024;
  for (const int k : {1, 3, 6}) {
    const int n = 1 << k;
    expect_seconds(seconds(recipe(Collective::broadcast, Algorithm::binomial, n, 1), network(),
                           workload(1024)),
                   k * (alpha + b * beta));
    // Each inner node combines its children when the last one, with the largest subtree, has come.
    expect_seconds(seconds(recipe(Collective::reduce, Algorithm::binomial, n, 0), network(gamma_s),
                           workload(1024)),
                   k * (alpha + b * beta) + b * gamma_s * k * (k + 1) / 2);
  }
}

TEST(Estimate, OneShotKeepsThePortsBusy) {
  constexpr int n = 7;
  constexpr double b = 65536;
  expect_seconds(seconds(recipe(Collective::all_reduce, Algorithm::one_shot, n),
                         network(gamma_s, omicron), workload(65536)),
                 omicron + alpha + (n - 1) * b * (beta + gamma_s));
  expect_seconds(
      seconds(recipe(Collective::gather, Algorithm::one_shot, n, 3), network(), workload(65536)),
      alpha + (n - 1) * b * beta);
  expect_seconds(
      seconds(recipe(Collective::all_to_all, Algorithm::one_shot, n), network(), workload(65536)),
      alpha + (n - 1) * b * beta);
}

// Two channels fill the gaps that the latency of one leaves.
TEST(Estimate, ChannelsOverlap) {
  constexpr int n = 8;
  constexpr double b = 1000 * 64;
  Workload work = workload(2 * n * 64000, 64000);
  const Recipe ring = recipe(Collective::all_reduce, Algorithm::ring, n);
  expect_seconds(seconds(ring, network(), work), 2 * 2 * (n - 1) * (alpha + b * beta));
  work.channels = 2;
  // Each port sends 2(n-1) messages for each channel without a pause; only the last waits for it all.
  expect_seconds(seconds(ring, network(), work), alpha + 2 * 2 * (n - 1) * b * beta);
}

TEST(Estimate, TellsBytesMessagesAndTheLastRank) {
  constexpr int n = 6;
  const auto ring =
      estimate(recipe(Collective::all_reduce, Algorithm::ring, n), network(), workload(n * 640))
          .value();
  EXPECT_EQ(ring.messages, 2 * (n - 1) * n);
  EXPECT_EQ(ring.bytes, 2 * (n - 1) * n * 640);
  EXPECT_EQ(ring.most_bytes, 2 * (n - 1) * 640);
  EXPECT_THAT(ring.rank_seconds, testing::SizeIs(n));
  const auto chain =
      estimate(recipe(Collective::broadcast, Algorithm::chain, n, 2), network(), workload(640))
          .value();
  EXPECT_EQ(chain.critical_rank, 1) << "the end of a chain that starts at rank 2";
  EXPECT_EQ(chain.rank_seconds[2], 0) << "the root has nothing to wait for";
}

// Ranks 0 and 1 share a host, so do 2 and 3.
TEST(Estimate, LinksHaveClasses) {
  NetworkModel hosts = {.classes = {{1e-7, 1e-10, 0, 0}, {1e-5, 1e-9, 0, 0}},
                        .class_of = [](int a, int b) { return a / 2 == b / 2 ? 0U : 1U; }};
  constexpr double b = 4096;
  expect_seconds(
      seconds(recipe(Collective::broadcast, Algorithm::chain, 4, 0), hosts, workload(4096)),
      2 * (1e-7 + b * 1e-10) + (1e-5 + b * 1e-9));
}

TEST(Estimate, DirectPlansReadTheirPeers) {
  constexpr int n = 4;
  constexpr double b = 4096;
  const Recipe direct = {Collective::all_reduce, Algorithm::one_shot, Protocol::direct, n, -1};
  expect_seconds(seconds(direct, network(gamma_s), workload(4096)),
                 alpha + (n - 1) * b * (beta + gamma_s));
}

TEST(Estimate, APlanThatIsStuckIsNotEstimated) {
  Plan plan = describe(recipe(Collective::broadcast, Algorithm::chain, 2, 0));
  plan.programs = {{}, {build::wait(0)}};
  const auto result = estimate(plan, network(), workload(64));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, testing::HasSubstr("rank 1 waits"));
}

TEST(Estimate, NothingToDoTakesNoTime) {
  EXPECT_EQ(seconds(recipe(Collective::all_reduce, Algorithm::ring, 4), network(), workload(0)), 0);
}

TEST(Estimate, EveryPlanOfTheCatalogKeepsToTheLimits) {
  for (const Collective collective :
       {Collective::all_reduce, Collective::reduce, Collective::reduce_scatter,
        Collective::all_gather, Collective::broadcast, Collective::gather, Collective::scatter,
        Collective::all_to_all}) {
    for (const int ranks : {1, 2, 5, 8, 13}) {
      for (const Recipe& each : recipes(collective, ranks)) {
        for (const int channels : {1, 3}) {
          const Workload work = {.count = 10'007,
                                 .element_bytes = 4,
                                 .slot_bytes = 2048,
                                 .channels = channels,
                                 .slots = 1};
          const auto whole = estimate(make_plan(each), network(gamma_s, omicron), work);
          ASSERT_TRUE(whole) << title(describe(each)) << " of " << ranks;
          const auto frugal = estimate(each, network(gamma_s, omicron), work).value();
          EXPECT_EQ(whole->rank_seconds, frugal.rank_seconds);
          EXPECT_GE(whole->seconds, static_cast<double>(whole->most_bytes) * beta);
          // As slow as one rank after the other, one message after the other, at most.
          const double rounds = static_cast<double>(whole->messages);
          EXPECT_LE(whole->seconds,
                    rounds * (omicron + 2 * alpha) +
                        static_cast<double>(ranks) * 40'064 * ranks * (beta + gamma_s) * ranks * 2);
          EXPECT_LE(estimate(each, network(), work)->seconds, whole->seconds);
        }
      }
    }
  }
}

TEST(Estimate, BusBandwidthHasTheFactorsOfTheField) {
  EXPECT_DOUBLE_EQ(bus_bandwidth(Collective::all_reduce, 4, 1000, 2), 750);
  EXPECT_DOUBLE_EQ(bus_bandwidth(Collective::all_gather, 4, 1000, 2), 1500);
  EXPECT_DOUBLE_EQ(bus_bandwidth(Collective::broadcast, 4, 1000, 2), 500);
}

}  // namespace
}  // namespace gyre::plan
