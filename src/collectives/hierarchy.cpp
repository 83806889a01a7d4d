// SPDX-License-Identifier: Apache-2.0
#include "collectives/hierarchy.h"

#include <numeric>

namespace gyre::plan {

Levels::Levels(const Hierarchy& hierarchy, int ranks) {
  int stride = 1;
  const auto add = [&](int size) {
    if (size > 1) levels_.push_back({stride, size});
    stride *= size;
  };
  for (const int size : hierarchy.levels) add(std::gcd(size, ranks / stride));
  add(ranks / stride);
  if (levels_.empty()) levels_.push_back({1, 1});
}

}  // namespace gyre::plan
