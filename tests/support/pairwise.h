// SPDX-License-Identifier: Apache-2.0
// Covering arrays of strength two: few rows in which every two values of every two parameters meet.
//
// Most faults need one or two parameters to have certain values (D. R. Kuhn, D. R. Wallace,
// A. M. Gallo, "Software fault interactions and implications for software testing", IEEE Transactions
// on Software Engineering 30(6), 2004), so a few hundred rows stand for a product of billions.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace gyre::test {

// The number of the value of each parameter; not_chosen where it is open.
using Row = std::vector<int>;
inline constexpr int not_chosen = -1;

struct Space {
  std::vector<int> levels;  // how many values each parameter has
  // Whether such a row may be. Of a row with open places it may say no only if there is no way to
  // fill them; it should say no as early as it can, for that is what a search goes by.
  std::function<bool(std::span<const int> row)> allows;
  // The first so many parameters cost time to change: rows share their values where they can.
  std::size_t shared = 0;
};

// Fills the open places, trying values in an order that `seed` decides. False: there is no way.
[[nodiscard]] bool complete(const Space& space, Row& row, std::uint64_t seed);

// Calls `body` with every allowed row that agrees with `row` where it is not open, in order.
void for_each_row(const Space& space, const Row& row, const std::function<void(const Row&)>& body);

// Every pair of values that some allowed row holds is in a row of the result. Greedy: each row begins
// with a pair that is still missing and takes, parameter by parameter, the value that adds the most
// (the density of D. M. Cohen et al., "The AETG system", IEEE Transactions on Software Engineering
// 23(7), 1997). The same seed gives the same rows.
[[nodiscard]] std::vector<Row> covering_array(const Space& space, std::uint64_t seed);

}  // namespace gyre::test
