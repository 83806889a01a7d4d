// SPDX-License-Identifier: Apache-2.0
// The matrix has what the library has, and its covering array every pair of it.
#include "support/matrix_space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "collectives/algorithm.h"
#include "collectives/catalog.h"
#include "collectives/layout.h"

namespace gyre::test {
namespace {

constexpr plan::Collective collectives[] = {
    plan::Collective::all_reduce, plan::Collective::reduce,    plan::Collective::reduce_scatter,
    plan::Collective::all_gather, plan::Collective::broadcast, plan::Collective::gather,
    plan::Collective::scatter,    plan::Collective::all_to_all};

std::string text(std::string_view collective, std::string_view algorithm, std::string_view protocol,
                 bool in_order) {
  return std::string(collective) + " by " + std::string(algorithm) + "/" + std::string(protocol) +
         (in_order ? "" : ", in another order");
}

// What communicators run: the catalog, of which lines carry one-shot only (core/prepared.cpp).
TEST(MatrixSpace, HasEveryAlgorithmOfTheLibrary) {
  std::set<std::string> of_library;
  for (const plan::Collective collective : collectives) {
    for (const plan::Recipe& recipe : plan::recipes(collective, 8)) {
      if (recipe.protocol == plan::Protocol::flag_in_line &&
          recipe.algorithm != plan::Algorithm::one_shot) {
        continue;
      }
      of_library.insert(text(name_of(collective), name_of(recipe.algorithm),
                             name_of(recipe.protocol),
                             plan::in_canonical_order(collective, recipe.algorithm)));
    }
  }
  std::set<std::string> of_matrix;
  for (const Way& way : ways()) {
    if (way.algorithm.empty()) continue;
    const auto& traits = collective_traits()[static_cast<std::size_t>(way.collective)];
    of_matrix.insert(text(traits.name, way.algorithm, way.protocol, way.in_order));
  }
  EXPECT_EQ(of_matrix, of_library);
}

TEST(MatrixSpace, KnowsWhatReducesAndWhatHasARoot) {
  for (const plan::Collective collective : collectives) {
    const auto traits =
        std::ranges::find(collective_traits(), name_of(collective), &CollectiveTraits::name);
    ASSERT_NE(traits, collective_traits().end()) << name_of(collective);
    EXPECT_EQ(traits->reduces, plan::reduces(collective));
    EXPECT_EQ(traits->rooted, plan::has_root(collective));
  }
}

TEST(MatrixSpace, ARowIsANumberAndBack) {
  Row row(matrix_space().levels.size(), not_chosen);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Row filled = row;
    ASSERT_TRUE(complete(matrix_space(), filled, seed));
    EXPECT_EQ(decode_row(encode(filled)), filled);
  }
}

TEST(MatrixSpace, EveryPairThatCanBeIsInTheCoveringArray) {
  const Space& space = matrix_space();
  const std::vector<Row> rows = covering_array(space, 20260101);
  const std::size_t parameters = space.levels.size();
  for (std::size_t a = 0; a < parameters; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      for (int x = 0; x < space.levels[a]; ++x) {
        for (int y = 0; y < space.levels[b]; ++y) {
          Row row(parameters, not_chosen);
          row[a] = x;
          row[b] = y;
          const bool covered = std::ranges::any_of(
              rows, [&](const Row& each) { return each[a] == x && each[b] == y; });
          ASSERT_EQ(covered, complete(space, row, 1)) << a << '=' << x << ' ' << b << '=' << y;
        }
      }
    }
  }
  for (const Row& row : rows) EXPECT_TRUE(space.allows(row));
  // 300 pairs of count and type; a hundredth of a millionth of the product.
  EXPECT_LE(rows.size(), 500U);
}

TEST(MatrixSpace, BuffersHoldEveryCase) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Row row(matrix_space().levels.size(), not_chosen);
    ASSERT_TRUE(complete(matrix_space(), row, seed));
    const MatrixCase one = case_of(row);
    ASSERT_LE(one.count, std::size_t{1} << 20) << one.text();
    ASSERT_TRUE(one.root >= 0 && one.root < one.ranks) << one.text();
  }
}

}  // namespace
}  // namespace gyre::test
