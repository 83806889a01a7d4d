// SPDX-License-Identifier: Apache-2.0
#include "support/pairwise.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <set>

namespace gyre::test {
namespace {

using Random = std::mt19937_64;

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

int parameters_of(const Space& space) {
  return static_cast<int>(space.levels.size());
}

// 0 .. count - 1 in random order. Not std::shuffle, whose order is the library's own affair.
std::vector<int> shuffled(int count, Random& random) {
  std::vector<int> order(at(count));
  std::iota(order.begin(), order.end(), 0);
  for (int i = count - 1; i > 0; --i) {
    std::swap(order[at(i)], order[random() % at(i + 1)]);
  }
  return order;
}

// One parameter after another, with a way back.
bool fill_from(const Space& space, Row& row, int parameter, Random& random) {
  while (parameter < parameters_of(space) && row[at(parameter)] != not_chosen) ++parameter;
  if (parameter == parameters_of(space)) return true;
  for (const int value : shuffled(space.levels[at(parameter)], random)) {
    row[at(parameter)] = value;
    if (space.allows(row) && fill_from(space, row, parameter + 1, random)) return true;
  }
  row[at(parameter)] = not_chosen;
  return false;
}

void visit_from(const Space& space, Row& row, int parameter,
                const std::function<void(const Row&)>& body) {
  while (parameter < parameters_of(space) && row[at(parameter)] != not_chosen) ++parameter;
  if (parameter == parameters_of(space)) {
    body(row);
    return;
  }
  for (int value = 0; value < space.levels[at(parameter)]; ++value) {
    row[at(parameter)] = value;
    if (space.allows(row)) visit_from(space, row, parameter + 1, body);
  }
  row[at(parameter)] = not_chosen;
}

// Which pairs are still missing: one flag for each (parameter, value, parameter, value).
class Missing {
 public:
  explicit Missing(const Space& space) : space_(space), first_(space.levels.size()) {
    std::exclusive_scan(space.levels.begin(), space.levels.end(), first_.begin(), 0);
    values_ = std::accumulate(space.levels.begin(), space.levels.end(), 0);
    flags_.resize(at(values_) * at(values_));
    for_each_pair([&](int a, int x, int b, int y) { flag(a, x, b, y) = true; });
  }

  [[nodiscard]] bool is(int a, int x, int b, int y) const {
    return flags_[at(first_[at(a)] + x) * at(values_) + at(first_[at(b)] + y)];
  }
  void strike(int a, int x, int b, int y) {
    flag(a, x, b, y) = false;
    flag(b, y, a, x) = false;
  }
  void strike(const Row& row) {
    for (int a = 0; a < parameters_of(space_); ++a) {
      for (int b = 0; b < a; ++b) strike(a, row[at(a)], b, row[at(b)]);
    }
  }
  // How many missing pairs a value would add to a row.
  [[nodiscard]] int gain(const Row& row, int parameter, int value) const {
    int gain = 0;
    for (int other = 0; other < parameters_of(space_); ++other) {
      if (other == parameter || row[at(other)] == not_chosen) continue;
      gain += is(parameter, value, other, row[at(other)]) ? 1 : 0;
    }
    return gain;
  }
  template <typename Body>
  void for_each_pair(Body&& body) const {
    for (int a = 0; a < parameters_of(space_); ++a) {
      for (int b = 0; b < parameters_of(space_); ++b) {
        for (int x = 0; a != b && x < space_.levels[at(a)]; ++x) {
          for (int y = 0; y < space_.levels[at(b)]; ++y) body(a, x, b, y);
        }
      }
    }
  }

 private:
  std::vector<bool>::reference flag(int a, int x, int b, int y) {
    return flags_[at(first_[at(a)] + x) * at(values_) + at(first_[at(b)] + y)];
  }

  const Space& space_;
  std::vector<int> first_;  // number of the first value of each parameter among all values
  int values_ = 0;
  std::vector<bool> flags_;
};

// The values of a parameter, those that add most first; equal ones by chance.
std::vector<int> by_gain(const Space& space, const Missing& missing, const Row& row, int parameter,
                         Random& random) {
  std::vector<int> values = shuffled(space.levels[at(parameter)], random);
  std::stable_sort(values.begin(), values.end(), [&](int left, int right) {
    return missing.gain(row, parameter, left) > missing.gain(row, parameter, right);
  });
  return values;
}

// A row around the pairs that `row` has, which can be completed.
Row grown(const Space& space, const Missing& missing, Row row, Random& random) {
  for (const int parameter : shuffled(parameters_of(space), random)) {
    if (row[at(parameter)] != not_chosen) continue;
    for (const int value : by_gain(space, missing, row, parameter, random)) {
      row[at(parameter)] = value;
      Row whole = row;
      if (space.allows(row) && complete(space, whole, random())) break;
      row[at(parameter)] = not_chosen;
    }
  }
  return row;
}

int new_pairs(const Space& space, const Missing& missing, const Row& row) {
  int pairs = 0;
  for (int parameter = 0; parameter < parameters_of(space); ++parameter) {
    pairs += missing.gain(row, parameter, row[at(parameter)]);
  }
  return pairs;
}

// What the rows so far have in the parameters that are shared.
class Heads {
 public:
  explicit Heads(const Space& space) : space_(space) {}

  void add(const Row& row) {
    heads_.insert(Row(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(space_.shared)));
  }
  // `start` with each head that it may have, a few of them, or as it is when there is none.
  [[nodiscard]] std::vector<Row> starts_with(const Row& start, std::size_t most,
                                             Random& random) const {
    std::vector<Row> starts;
    const std::vector<Row> all(heads_.begin(), heads_.end());
    for (const int number : shuffled(static_cast<int>(all.size()), random)) {
      Row row = start;
      Row whole = take(row, all[at(number)]) ? row : Row{};
      if (whole.empty() || !complete(space_, whole, random())) continue;
      starts.push_back(std::move(row));
      if (starts.size() == most) break;
    }
    return starts.empty() ? std::vector(most, start) : starts;
  }

 private:
  static bool take(Row& row, const Row& head) {
    for (std::size_t i = 0; i < head.size(); ++i) {
      if (row[i] != not_chosen && row[i] != head[i]) return false;
      row[i] = head[i];
    }
    return true;
  }

  const Space& space_;
  std::set<Row> heads_;
};

}  // namespace

bool complete(const Space& space, Row& row, std::uint64_t seed) {
  Random random(seed);
  return space.allows(row) && fill_from(space, row, 0, random);
}

void for_each_row(const Space& space, const Row& row, const std::function<void(const Row&)>& body) {
  Row open = row;
  if (space.allows(open)) visit_from(space, open, 0, body);
}

std::vector<Row> covering_array(const Space& space, std::uint64_t seed) {
  constexpr std::size_t tries = 4;  // of each row; the one that adds most is taken
  Random random(seed);
  Missing missing(space);
  Heads heads(space);
  std::vector<Row> rows;
  missing.for_each_pair([&](int a, int x, int b, int y) {
    if (!missing.is(a, x, b, y)) return;
    Row start(space.levels.size(), not_chosen);
    start[at(a)] = x;
    start[at(b)] = y;
    Row some = start;
    if (!complete(space, some, random())) {
      missing.strike(a, x, b, y);
      return;
    }
    std::optional<Row> best;
    for (const Row& begun : heads.starts_with(start, tries, random)) {
      Row row = grown(space, missing, begun, random);
      if (!best || new_pairs(space, missing, row) > new_pairs(space, missing, *best)) {
        best = std::move(row);
      }
    }
    missing.strike(*best);
    heads.add(*best);
    rows.push_back(std::move(*best));
  });
  return rows;
}

}  // namespace gyre::test
