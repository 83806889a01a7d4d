// SPDX-License-Identifier: Apache-2.0
// A plan as a drawing.
#pragma once

#include <string>

#include "collectives/plan.h"

namespace gyre::tool {

// For Graphviz: a lane of steps for each rank, an edge for each message, a dashed one for each signal.
[[nodiscard]] std::string to_dot(const plan::Plan& plan);

}  // namespace gyre::tool
