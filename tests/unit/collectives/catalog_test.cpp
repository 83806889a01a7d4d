// SPDX-License-Identifier: Apache-2.0
// Every plan that can be built, of every collective: proved by the verifier, and run on real data
// with the ranks' steps in random order.
#include "collectives/catalog.h"

#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "collectives/layout.h"
#include "collectives/verifier.h"
#include "unit/collectives/interpreter.h"

namespace gyre::plan {
namespace {

constexpr Collective collectives[] = {
    Collective::all_reduce, Collective::reduce, Collective::reduce_scatter, Collective::all_gather,
    Collective::broadcast,  Collective::gather, Collective::scatter,        Collective::all_to_all};

using Values = std::vector<std::int64_t>;

std::vector<int> roots_of(Collective collective, int ranks) {
  if (!has_root(collective) || ranks == 1) return {0};
  return ranks == 2 ? std::vector{0, 1} : std::vector{0, ranks / 2, ranks - 1};
}

class Catalog : public testing::TestWithParam<Collective> {
 protected:
  template <typename Body>
  void for_each_plan(int ranks, Body&& body) {
    for (const int root : roots_of(GetParam(), ranks)) {
      for (const Recipe& recipe : recipes(GetParam(), ranks, root)) {
        body(make_plan(recipe));
      }
    }
  }
};

std::string verdict(const Plan& plan, const VerifyOptions& options = {}) {
  const Status status = verify(plan, options);
  return status ? "" : status.error().message;
}

TEST_P(Catalog, IsProvedForUpTo67Ranks) {
  for (int ranks = 1; ranks <= 67; ranks += ranks < 20 ? 1 : 7) {
    for_each_plan(ranks, [&](const Plan& plan) {
      ASSERT_EQ(verdict(plan, {.tiles = 3}), "") << title(plan) << " root " << plan.root;
      ASSERT_EQ(verdict(plan, {.tiles = 2, .slots = plan.slots + ranks % 3}), "") << title(plan);
    });
  }
}

TEST_P(Catalog, IsProvedForManyRanks) {
  for_each_plan(128, [](const Plan& plan) { ASSERT_EQ(verdict(plan), "") << title(plan); });
}

// What rank `rank` holds in its input: of block b where it has sections.
std::int64_t element(int rank, std::uint64_t block, std::uint64_t index) {
  return static_cast<std::int64_t>((static_cast<std::uint64_t>(rank) + 1) * 1'000'003 +
                                   block * 10'007 + index * 31);
}

Values input_of(const Plan& plan, int rank, std::uint64_t count) {
  const Layout layout = layout_of(plan.collective);
  const auto blocks =
      static_cast<std::uint64_t>(layout.sectioned && layout.input_sections ? plan.ranks : 1);
  Values values;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    for (std::uint64_t i = 0; i < count; ++i) values.push_back(element(rank, block, i));
  }
  return values;
}

// Element i of output block `block` of `rank`, by the definition of the collective.
std::int64_t wanted(const Plan& plan, int rank, int block, std::uint64_t i) {
  const auto sum = [&](std::uint64_t of) {
    std::int64_t all = 0;
    for (int source = 0; source < plan.ranks; ++source) all += element(source, of, i);
    return all;
  };
  switch (plan.collective) {
    case Collective::reduce_scatter:
      return sum(static_cast<std::uint64_t>(rank));
    case Collective::all_gather:
    case Collective::gather:
      return element(block, 0, i);
    case Collective::broadcast:
      return element(plan.root, 0, i);
    case Collective::scatter:
      return element(plan.root, static_cast<std::uint64_t>(rank), i);
    case Collective::all_to_all:
      return element(block, static_cast<std::uint64_t>(rank), i);
    default:
      return sum(0);
  }
}

bool has_result(const Plan& plan, int rank) {
  const bool at_root =
      plan.collective == Collective::reduce || plan.collective == Collective::gather;
  return !at_root || rank == plan.root;
}

void check_output(const Plan& plan, int rank, const Values& output, std::uint64_t count,
                  bool in_place) {
  const Layout layout = layout_of(plan.collective);
  const bool all = layout.sectioned && layout.output_sections;
  for (int block = 0; block < (all ? plan.ranks : 1); ++block) {
    // In place the one section of ReduceScatter and Scatter lies among all.
    const bool among = layout.sectioned && (all || in_place);
    const int section = all ? block : rank;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t at = (among ? static_cast<std::uint64_t>(section) * count : 0) + i;
      ASSERT_EQ(output[at], wanted(plan, rank, block, i))
          << title(plan) << " of " << plan.ranks << ", root " << plan.root << ", rank " << rank
          << ", block " << block << ", element " << i;
    }
  }
}

void run_on_data(const Plan& plan, std::uint64_t count, bool in_place, std::uint64_t seed) {
  const bool sectioned = layout_of(plan.collective).sectioned;
  const Geometry geometry({.count = count,
                           .element_bytes = sizeof(std::int64_t),
                           .blocks = sectioned ? 1 : static_cast<std::uint64_t>(plan.blocks),
                           .slot_bytes = plan.protocol == Protocol::direct ? unbounded_slot : 128,
                           .channels = 1});
  std::vector<Values> inputs;
  for (int rank = 0; rank < plan.ranks; ++rank) inputs.push_back(input_of(plan, rank, count));
  Interpreter<std::int64_t> machine(plan, geometry, std::move(inputs), -77, in_place, count);
  ASSERT_TRUE(machine.run(seed)) << title(plan) << " of " << plan.ranks;
  EXPECT_FALSE(machine.anything_left());
  for (int rank = 0; rank < plan.ranks; ++rank) {
    if (has_result(plan, rank)) {
      check_output(plan, rank, machine.output(static_cast<std::size_t>(rank)), count, in_place);
    }
  }
}

TEST_P(Catalog, DoesOnDataWhatItIsFor) {
  for (const int ranks : {1, 2, 3, 4, 5, 7, 8, 13}) {
    for_each_plan(ranks, [&](const Plan& plan) {
      for (const std::uint64_t count : {1, 7, 16, 17, 200}) {
        for (const bool in_place : {false, true}) {
          if (!in_place || plan.in_place_safe) {
            run_on_data(plan, count, in_place, count + static_cast<std::uint64_t>(ranks));
          }
        }
      }
    });
  }
}

// A plan with a root elsewhere than it says does not do what it says.
TEST(CatalogVerifier, ARootMatters) {
  for (const Collective collective : collectives) {
    if (!has_root(collective)) continue;
    for (const Recipe& recipe : recipes(collective, 4, 1)) {
      Plan plan = make_plan(recipe);
      plan.root = 2;
      EXPECT_NE(verdict(plan), "") << title(plan);
      plan.root = 4;
      EXPECT_NE(verdict(plan), "") << title(plan);
    }
  }
}

std::string name_of_case(const testing::TestParamInfo<Collective>& each) {
  return std::string(name_of(each.param));
}
INSTANTIATE_TEST_SUITE_P(All, Catalog, testing::ValuesIn(collectives), name_of_case);

}  // namespace
}  // namespace gyre::plan
