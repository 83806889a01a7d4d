// SPDX-License-Identifier: Apache-2.0
// A plan as other simulators want it: for each rank a graph of sends, receives and computations, with
// every tile of every channel written out.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "collectives/geometry.h"
#include "collectives/plan.h"

namespace gyre::tool {

struct Operation {
  enum class Kind : std::uint8_t { send, receive, compute };
  Kind kind = Kind::compute;
  std::int32_t peer = -1;
  std::uint64_t bytes = 0;  // sent, received, or combined with others
  std::uint64_t tag = 0;    // of a send and its receive; no other message of the two has it
  // Operations before this one in the list that must have ended.
  std::vector<std::uint32_t> after = {};
};

struct Unrolling {
  plan::Geometry geometry;
  std::uint64_t element_bytes = 4;
  int channels = 1;
  int slots = 8;  // of each FIFO
};

// One rank's program. It never passes a wait, so what follows in a channel comes after the receive;
// and a receive comes after the release of the slot that it needs. Direct plans have no messages.
[[nodiscard]] Result<std::vector<Operation>> unroll(const plan::Plan& description,
                                                    const plan::Program& program,
                                                    const Unrolling& how);

}  // namespace gyre::tool
