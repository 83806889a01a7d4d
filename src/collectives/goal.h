// SPDX-License-Identifier: Apache-2.0
// What a collective must leave in its outputs: the specification that the verifier checks against.
#pragma once

#include <functional>
#include <optional>

#include "base/status.h"
#include "collectives/plan.h"

namespace gyre::plan {

// A set of contributions: block `block` of the inputs of ranks first .. first + count - 1, each
// exactly once.
struct Wanted {
  int block = 0;
  int first = 0;
  int count = 0;
  friend bool operator==(const Wanted&, const Wanted&) = default;
};

struct Goal {
  // What output block `block` of `rank` must be in the end; nothing where it does not matter.
  std::function<std::optional<Wanted>(int rank, int block)> wanted;
  // Which blocks the buffers of `rank` have.
  std::function<bool(int rank, int block)> has_input;
  std::function<bool(int rank, int block)> has_output;
  // Outputs are reductions over all ranks: they must be completed, and bitwise equal everywhere.
  bool reduces = false;
  // Input and output are cut alike, so every step stays within one block number.
  bool same_blocks = false;
};

// A collective is added to the verifier by a case here.
[[nodiscard]] Result<Goal> goal_of(const Plan& plan);

}  // namespace gyre::plan
