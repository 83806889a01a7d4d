// SPDX-License-Identifier: Apache-2.0
// Channels and slots for a plan that is given, not chosen: of its algorithm nothing is known.
#include <algorithm>

#include "collectives/chooser.h"
#include "collectives/geometry.h"
#include "collectives/layout.h"

namespace gyre::plan {

Choice choose_sizes(const Plan& plan, const ChoiceInput& input) {
  Choice choice{
      .protocol = plan.protocol, .slot_bytes = unbounded_slot, .reason = "a plan was given"};
  if (plan.protocol == Protocol::direct) return choice;
  constexpr std::uint64_t cache_line_bytes = 64;
  const bool small = input.bytes <= choice_limits.pair_exchange_bytes;
  const bool several = !small && input.ranks <= input.local_cpus;
  choice.channels = input.channels > 0 ? input.channels : several ? choice_limits.channels : 1;
  if (input.chunk_bytes > 0) {
    choice.slot_bytes = std::max(input.chunk_bytes, input.element_bytes);
    return choice;
  }
  // The block of a tile when there is one tile for each channel.
  const std::uint64_t blocks =
      layout_of(plan.collective).sectioned ? 1 : static_cast<std::uint64_t>(plan.blocks);
  const std::uint64_t parts = blocks * static_cast<std::uint64_t>(choice.channels);
  const std::uint64_t enough =
      (input.bytes / parts + cache_line_bytes) / cache_line_bytes * cache_line_bytes;
  choice.slot_bytes = std::clamp(enough, cache_line_bytes,
                                 small ? choice_limits.exchange_slot : choice_limits.slot);
  return choice;
}

}  // namespace gyre::plan
