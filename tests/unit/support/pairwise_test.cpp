// SPDX-License-Identifier: Apache-2.0
#include "support/pairwise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace gyre::test {
namespace {

using Pair = std::tuple<std::size_t, int, std::size_t, int>;

void add_pairs(const Row& row, std::set<Pair>& pairs) {
  for (std::size_t a = 0; a < row.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) pairs.insert({a, row[a], b, row[b]});
  }
}

// By looking at the whole product, which has no shortcut that could be wrong.
std::set<Pair> feasible_pairs(const Space& space) {
  std::set<Pair> pairs;
  Row row(space.levels.size(), 0);
  for (;;) {
    if (space.allows(row)) add_pairs(row, pairs);
    std::size_t place = row.size();
    while (place > 0 && ++row[place - 1] == space.levels[place - 1]) row[--place] = 0;
    if (place == 0) return pairs;
  }
}

std::set<Pair> covered_pairs(const std::vector<Row>& rows) {
  std::set<Pair> pairs;
  for (const Row& row : rows) add_pairs(row, pairs);
  return pairs;
}

bool anything(std::span<const int> /*row*/) {
  return true;
}

bool both(std::span<const int> row, std::size_t a, int x, std::size_t b, int y) {
  return row[a] == x && row[b] == y;
}

// Some pairs cannot be, one only because of two other rules together: 0 of the first parameter needs
// 1 of the second, which excludes 2 of the third.
bool some(std::span<const int> row) {
  const bool needs = row[0] == 0 && row[1] != 1 && row[1] != not_chosen;
  return !needs && !both(row, 1, 1, 2, 2) && !both(row, 3, 0, 4, 1);
}

struct Named {
  const char* name;
  Space space;
};

std::vector<Named> spaces() {
  return {{"one parameter", {{4}, anything}},
          {"two parameters", {{3, 5}, anything}},
          {"single values", {{1, 1, 7, 1}, anything}},
          {"many small ones", {{2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, anything}},
          {"unequal ones", {{9, 4, 2, 3, 6}, anything}},
          {"with rules", {{3, 4, 3, 5, 2, 3}, some}},
          {"with rules and a shared head", {{3, 4, 3, 5, 2, 3}, some, 3}},
          {"nothing is allowed", {{3, 3}, [](std::span<const int>) { return false; }}},
          {"only the diagonal", {{4, 4, 4}, [](std::span<const int> row) {
                                   int value = not_chosen;
                                   for (const int each : row) {
                                     if (each == not_chosen) continue;
                                     if (value != not_chosen && each != value) return false;
                                     value = each;
                                   }
                                   return true;
                                 }}}};
}

TEST(Pairwise, EveryPairThatCanBeIsThereAndNoOther) {
  for (const auto& [name, space] : spaces()) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const std::vector<Row> rows = covering_array(space, seed);
      EXPECT_EQ(covered_pairs(rows), feasible_pairs(space)) << name << ", seed " << seed;
      for (const Row& row : rows) EXPECT_TRUE(space.allows(row)) << name;
    }
  }
}

TEST(Pairwise, TakesFewRows) {
  const Space binary = {{2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, anything};
  EXPECT_LE(covering_array(binary, 1).size(), 10U);  // of 1024; 6 is the least
  const Space mixed = {{9, 4, 2, 3, 6}, anything};
  EXPECT_LE(covering_array(mixed, 1).size(), 65U);  // of 1296; 54 is the least
}

TEST(Pairwise, SharesTheFirstParametersWhereItCan) {
  Space space = {{3, 3, 2, 5, 6, 7}, anything};
  const auto heads_of = [](const std::vector<Row>& rows) {
    std::set<Row> heads;
    for (const Row& row : rows) heads.insert(Row(row.begin(), row.begin() + 3));
    return heads.size();
  };
  const std::size_t apart = heads_of(covering_array(space, 1));
  space.shared = 3;
  const std::size_t shared = heads_of(covering_array(space, 1));
  EXPECT_LT(shared, apart);
  EXPECT_LE(shared, 11U);  // 9 is the least
}

TEST(Pairwise, TheSameSeedGivesTheSameRows) {
  const Space space = {{9, 4, 2, 3, 6}, anything};
  EXPECT_EQ(covering_array(space, 7), covering_array(space, 7));
  EXPECT_NE(covering_array(space, 7), covering_array(space, 8));
}

TEST(Pairwise, CompletesARowWhereThereIsAWay) {
  const Space space = {{3, 4, 3, 5, 2, 3}, some};
  Row row = {0, not_chosen, not_chosen, not_chosen, not_chosen, not_chosen};
  ASSERT_TRUE(complete(space, row, 3));
  EXPECT_EQ(row[0], 0);
  EXPECT_EQ(row[1], 1);
  EXPECT_NE(row[2], 2);
  Row none = {0, not_chosen, 2, not_chosen, not_chosen, not_chosen};
  EXPECT_FALSE(complete(space, none, 3));
}

TEST(Pairwise, VisitsTheProductInOrder) {
  const Space space = {{3, 4, 3, 5, 2, 3}, some};
  std::vector<Row> visited;
  for_each_row(space, Row(6, not_chosen), [&](const Row& row) { visited.push_back(row); });
  EXPECT_TRUE(std::ranges::is_sorted(visited));
  EXPECT_EQ(covered_pairs(visited), feasible_pairs(space));
  std::size_t with_head = 0;
  for_each_row(space, {2, not_chosen, not_chosen, not_chosen, not_chosen, 1},
               [&](const Row& row) { with_head += row[0] == 2 && row[5] == 1 ? 1 : 0; });
  EXPECT_EQ(with_head, static_cast<std::size_t>(std::ranges::count_if(
                           visited, [](const Row& row) { return row[0] == 2 && row[5] == 1; })));
}

}  // namespace
}  // namespace gyre::test
