// SPDX-License-Identifier: Apache-2.0
// Everything in the catalog, for tests over all of it.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "collectives/catalog.h"
#include "collectives/hierarchical.h"
#include "collectives/layout.h"

namespace gyre::plan {

inline constexpr Collective planned_collectives[] = {
    Collective::all_reduce, Collective::reduce, Collective::reduce_scatter, Collective::all_gather,
    Collective::broadcast,  Collective::gather, Collective::scatter,        Collective::all_to_all};

// A recipe for any number of ranks.
using PlanCase = Recipe;

inline Recipe recipe_of(PlanCase each, int ranks, int root) {
  each.ranks = ranks;
  each.root = has_root(each.collective) ? root : -1;
  return each;
}

// The hierarchical ones in several shapes.
inline std::vector<PlanCase> shapes_of(const PlanCase& each) {
  if (each.algorithm != Algorithm::hierarchical) return {each};
  using enum Algorithm;
  const Hierarchy hierarchies[] = {
      {.levels = {2}},
      {.levels = {2}, .across = tree},
      {.levels = {4, 2}, .across = doubling},
      {.levels = {2, 2, 2}, .across = halving},
      {.levels = {2, 3, 2}, .inside = ring},
      {.levels = {3, 2}, .inside = pat, .across = pat},
      {.levels = {3, 2}, .across = binomial},
      {.levels = {2, 2, 2, 2}, .across = bruck},
      {.levels = {1 << 20}, .across = two_shot},  // all ranks of a power of two
  };
  std::vector<PlanCase> shapes;
  for (const Hierarchy& hierarchy : hierarchies) {
    PlanCase shape = each;
    shape.hierarchy = hierarchy;
    if (check_hierarchy(shape)) shapes.push_back(shape);
  }
  return shapes;
}

inline std::vector<PlanCase> plan_cases_of(Collective collective) {
  std::vector<PlanCase> all;
  for (const Recipe& recipe : recipes(collective, 1)) {
    const auto shapes = shapes_of(recipe);
    all.insert(all.end(), shapes.begin(), shapes.end());
  }
  return all;
}

inline std::vector<PlanCase> plan_cases() {
  std::vector<PlanCase> all;
  for (const Collective collective : planned_collectives) {
    const auto more = plan_cases_of(collective);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

inline std::string name_of_case(const PlanCase& each) {
  std::string name = std::string(name_of(each.collective)) + "_" +
                     std::string(name_of(each.algorithm)) + "_" +
                     std::string(name_of(each.protocol));
  if (each.algorithm == Algorithm::hierarchical) {
    for (const int size : each.hierarchy.levels) name += "_" + std::to_string(size);
    name += "_" + std::string(name_of(each.hierarchy.inside)) + "_" +
            std::string(name_of(each.hierarchy.across));
  }
  return name;
}

inline std::string plan_case_name(const testing::TestParamInfo<PlanCase>& each) {
  return name_of_case(each.param);
}

}  // namespace gyre::plan
