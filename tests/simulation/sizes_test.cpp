// SPDX-License-Identifier: Apache-2.0
// Large buffers are carried in part: what is carried has the tiles and messages of the whole.
#include <gtest/gtest.h>

#include "collectives/catalog.h"
#include "simulation/sizes.h"

namespace gyre::simulation {
namespace {

using plan::Algorithm;
using plan::Collective;

Experiment experiment(Collective collective, int ranks, std::uint64_t bytes,
                      std::uint64_t slot_bytes) {
  Experiment result;
  result.plan = plan::describe({collective, Algorithm::ring, plan::Protocol::staged, ranks, -1});
  result.bytes = bytes;
  result.slot_bytes = slot_bytes;
  return result;
}

void expect_same_messages(const Experiment& experiment, double tolerance) {
  const Sizes sizes = choose_sizes(experiment, experiment.plan);
  const plan::Geometry carried = geometry_of(experiment, experiment.plan, sizes);
  const plan::Geometry whole = geometry_of(
      experiment, experiment.plan,
      {.scale = 1, .count = experiment.bytes / element_bytes, .slot_bytes = experiment.slot_bytes});
  const auto tiles = static_cast<double>(whole.tiles());
  EXPECT_NEAR(static_cast<double>(carried.tiles()), tiles, tolerance * tiles);
  const auto length = static_cast<double>(whole.block(0, 0).length);
  EXPECT_NEAR(static_cast<double>(carried.block(0, 0).length * sizes.scale), length,
              tolerance * length);
}

TEST(Sizes, LongBuffersKeepTheirMessages) {
  for (const Collective collective : {Collective::all_reduce, Collective::all_gather}) {
    for (const int ranks : {2, 7, 64, 1000, 1024}) {
      for (const std::uint64_t bytes : {1'000'000, 33'554'432, 1'234'567'892}) {
        for (const std::uint64_t slot : {1024, 65'536, 100'000, 1 << 30}) {
          SCOPED_TRACE(testing::Message()
                       << ranks << " ranks, " << bytes << " B, slots of " << slot);
          expect_same_messages(experiment(collective, ranks, bytes, slot), 0.04);
        }
      }
    }
  }
}

// 512 cache lines in each block, and half a line of each is carried.
TEST(Sizes, PowersOfTwoKeepThemExactly) {
  const Experiment ring =
      experiment(Collective::all_reduce, 1024, std::uint64_t{32} << 20U, 131'072);
  const Sizes sizes = choose_sizes(ring, ring.plan);
  EXPECT_EQ(sizes.count * element_bytes, 32'768U);
  expect_same_messages(ring, 0);
}

TEST(Sizes, SmallBuffersAreCarriedWhole) {
  const Experiment ring = experiment(Collective::all_reduce, 1024, 20'004, 131'072);
  EXPECT_EQ(choose_sizes(ring, ring.plan).scale, 1U);
  expect_same_messages(ring, 0);
}

}  // namespace
}  // namespace gyre::simulation
