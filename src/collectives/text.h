// SPDX-License-Identifier: Apache-2.0
// Plans and steps as text, for people: error messages, gyre-plan, documentation.
#pragma once

#include <string>

#include "collectives/plan.h"

namespace gyre::plan {

// "input[2]", "slot(peer 1)[2]"
[[nodiscard]] std::string to_text(const Slice& slice);
// "copy input[0] -> peer_slot(peer 1)[0]", "wait peer 1",
// "combine slot(peer 1)[2] op input[2] -> output[2], peer_slot(peer 3)[2], complete"
[[nodiscard]] std::string to_text(const Step& step);
// The heading, then the numbered steps of each rank.
[[nodiscard]] std::string to_text(const Plan& plan);

}  // namespace gyre::plan
