// SPDX-License-Identifier: Apache-2.0
// Which step of one rank waits for which step of another.
#pragma once

#include <vector>

#include "collectives/plan.h"

namespace gyre::tool {

struct StepAt {
  int rank = 0;
  int step = 0;
};

// A message, from the step that puts it to the step that waits for it; or a signal.
struct Link {
  StepAt from, to;
  int block = 0;  // of a message
  bool is_signal = false;
};

// The k-th message of a FIFO is the k-th that is waited for; of signals too. What nobody waits for,
// or nobody sends, is left out.
[[nodiscard]] std::vector<Link> links_of(const plan::Plan& plan);

}  // namespace gyre::tool
