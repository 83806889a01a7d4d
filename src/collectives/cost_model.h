// SPDX-License-Identifier: Apache-2.0
// What a plan takes on a host, from four measured numbers.
//
// The model. Ranks move bytes themselves, so a rank is busy for `per_byte` for each byte that it
// writes into a slot or an output, or reads to do so, and for `message` for each message; where ranks
// share CPUs, that much longer. A message is seen `exchange` after it was begun. Then a tile takes
// what its busiest rank is busy, or what the longest chain of messages takes that must follow one
// another, whichever is longer; further tiles follow as fast as the busiest rank is done with them.
// It is LogP (D. Culler et al., "LogP: towards a realistic model of parallel computation", PPoPP
// 1993) with the processor as the network.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "collectives/catalog.h"
#include "collectives/plan.h"

namespace gyre::plan {

// Of one class of links, as all ranks of a communicator use them at a time. Seconds.
struct LinkCosts {
  double exchange = 0;        // of 8 bytes among all ranks, each to each
  double message = 0;         // of the processor, beside the bytes
  double per_byte = 0;        // of calls that stay in the caches
  double per_byte_large = 0;  // of calls that do not
  friend bool operator==(const LinkCosts&, const LinkCosts&) = default;
};

// What a plan does in one tile: counted in blocks, of the rank that has most of each.
struct PlanFigures {
  int blocks = 1;  // of a tile; of a section where the collective has sections: 1
  int chain = 0;   // messages that must follow one another
  std::int64_t messages = 0;
  std::int64_t touched = 0;  // blocks that are read and written
};

// `description` without programs; `program_of` gives the program of each rank.
[[nodiscard]] PlanFigures figures_of(const Plan& description,
                                     const std::function<Program(int rank)>& program_of);
[[nodiscard]] PlanFigures figures_of(const Recipe& recipe);

struct CostQuestion {
  std::uint64_t bytes = 0;  // of the buffer, or of one section
  std::uint64_t slot_bytes = 1;
  int ranks = 1;
  int local_cpus = 1;
};

// Seconds, of a staged plan.
[[nodiscard]] double predict(const PlanFigures& figures, const LinkCosts& costs,
                             const CostQuestion& question);

// The cost that makes the prediction `seconds`: of `cost`, the others being given. Predictions grow
// with every cost; the answer is between 0 and `most`.
[[nodiscard]] double solve_cost(double LinkCosts::*cost, LinkCosts costs,
                                const PlanFigures& figures, const CostQuestion& question,
                                double seconds, double most);

}  // namespace gyre::plan
