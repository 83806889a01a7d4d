// SPDX-License-Identifier: Apache-2.0
// What a plan costs, counted.
#pragma once

#include <cstdint>

#include "collectives/plan.h"

namespace gyre::tool {

// Of the rank that has most, unless it says total. Volumes are in buffers; where the buffers have
// sections, in sections.
struct Measures {
  std::int64_t steps = 0;
  std::int64_t total_steps = 0;
  std::int64_t messages = 0;  // and signals, sent
  std::int64_t total_messages = 0;
  double sent = 0;  // put into slots, or written to outputs of peers
  double total_sent = 0;
  double read_from_peers = 0;  // out of their inputs and outputs
  double combined = 0;         // read by steps with several sources
  int peers = 0;               // that a rank sends to, or receives from
  int chain = 0;               // see collectives/chain.h
};

[[nodiscard]] Measures measure(const plan::Plan& plan);

}  // namespace gyre::tool
