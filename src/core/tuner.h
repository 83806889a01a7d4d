// SPDX-License-Identifier: Apache-2.0
// The user's say in how a call runs.
#pragma once

#include "base/status.h"
#include "collectives/chooser.h"
#include "core/call.h"
#include "gyre/gyre.h"

namespace gyre::core {

struct Tuner {
  gyreTuner_t function = nullptr;
  void* context = nullptr;
};

// Asks the tuner about a call that would run as `choice`. What it changes is forced in `input`, for the
// choice to be made again; true if it changed anything. Fails when it names what there is not.
Result<bool> consult(const Tuner& tuner, const Call& call, const plan::Choice& choice,
                     plan::ChoiceInput& input);

}  // namespace gyre::core
