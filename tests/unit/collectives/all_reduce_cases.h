// SPDX-License-Identifier: Apache-2.0
// Every AllReduce that can be built, for tests over all of them.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "collectives/all_reduce.h"

namespace gyre::plan {

struct AllReduceCase {
  Algorithm algorithm;
  Protocol protocol;
  Hierarchy hierarchy = {.levels = {2, 2}, .across = Algorithm::halving};
};

inline std::vector<AllReduceCase> all_reduce_cases() {
  std::vector<AllReduceCase> cases;
  for (const Algorithm algorithm : all_algorithms) {
    for (const Protocol protocol : {Protocol::flag_in_line, Protocol::staged, Protocol::direct}) {
      if (supports(algorithm, protocol))
        cases.push_back({.algorithm = algorithm, .protocol = protocol});
    }
  }
  return cases;
}

inline std::string case_name(const testing::TestParamInfo<AllReduceCase>& each) {
  return std::string(name_of(each.param.algorithm)) + "_" +
         std::string(name_of(each.param.protocol));
}

}  // namespace gyre::plan
