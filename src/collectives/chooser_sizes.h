// SPDX-License-Identifier: Apache-2.0
// Channels and slots of what was chosen.
#pragma once

#include "collectives/chooser.h"
#include "collectives/plan.h"

namespace gyre::plan {

// Whether a call, of a plan of which no more is known, has so few bytes that one channel with small
// slots does.
[[nodiscard]] inline bool is_short(const ChoiceInput& input) {
  return input.bytes <= choice_limits.pair_exchange_bytes;
}

// `heading`: the plan, without programs. `brief`: one channel with small slots.
void size_slots(const Plan& heading, bool brief, const ChoiceInput& input, Choice& choice);

}  // namespace gyre::plan
