// SPDX-License-Identifier: Apache-2.0
// Measures what the links of a communicator cost, by calls of its own.
#pragma once

#include "base/clock.h"
#include "base/status.h"
#include "collectives/cost_model.h"
#include "core/collectives.h"

namespace gyre::core {

struct CalibrationContext {
  int ranks = 1;
  std::size_t cpus = 1;
};

// Collective; some tens of milliseconds at most. Each rank gets what it saw: the ranks must agree
// whose costs hold. The shortest of several times counts, since everything that disturbs adds.
Result<plan::LinkCosts> measure_costs(Collectives& collectives, Clock& clock,
                                      const CalibrationContext& context);

// Whether a machine could have such costs. One that does something else at the same time measures
// what it likes: then rules decide alone.
[[nodiscard]] bool are_plausible(const plan::LinkCosts& costs, const CalibrationContext& context);

}  // namespace gyre::core
