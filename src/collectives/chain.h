// SPDX-License-Identifier: Apache-2.0
// How many messages of a plan must follow one another.
#pragma once

#include <span>

#include "collectives/plan.h"

namespace gyre::plan {

// The most messages and signals that must follow one another in one tile, program order included; -1
// where ranks wait for each other in a circle. `programs` by rank.
[[nodiscard]] int longest_chain(std::span<const Program> programs);

}  // namespace gyre::plan
