// SPDX-License-Identifier: Apache-2.0
// Everything in the catalog, for tests over all of it.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "collectives/catalog.h"
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
  std::vector<PlanCase> shapes;
  for (const Algorithm across : {Algorithm::ring, Algorithm::doubling, Algorithm::halving}) {
    PlanCase shape = each;
    shape.across = across;
    shape.ranks_per_host = 2;
    shapes.push_back(shape);
    shape.ranks_per_host = 4;
    shape.ranks_per_socket = 2;
    shapes.push_back(shape);
  }
  shapes.back().ranks_per_host = 1 << 20;  // all ranks of a power of two on one host
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
    name += "_" + std::to_string(each.ranks_per_host) + "_" +
            std::to_string(each.ranks_per_socket) + "_" + std::string(name_of(each.across));
  }
  return name;
}

inline std::string plan_case_name(const testing::TestParamInfo<PlanCase>& each) {
  return name_of_case(each.param);
}

}  // namespace gyre::plan
