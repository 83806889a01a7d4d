// SPDX-License-Identifier: Apache-2.0
#include "collectives/chooser_sizes.h"

#include <algorithm>

#include "collectives/geometry.h"
#include "collectives/layout.h"

namespace gyre::plan {

namespace {

constexpr std::uint64_t cache_line_bytes = 64;

std::uint64_t divide_up(std::uint64_t value, std::uint64_t by) {
  return value / by + (value % by != 0 ? 1 : 0);
}

int channels_for(Protocol protocol, bool brief, const ChoiceInput& input) {
  if (protocol != Protocol::staged) return 1;
  if (input.channels > 0) return input.channels;
  if (brief) return 1;
  return input.ranks > input.local_cpus ? choice_limits.channels_oversubscribed
                                        : choice_limits.channels;
}

std::uint64_t largest_slot(Protocol protocol, bool brief) {
  if (protocol == Protocol::flag_in_line) return choice_limits.inline_bytes;
  return brief ? choice_limits.exchange_slot : choice_limits.slot;
}

// The block of a tile when there is one tile for each channel: more is never used.
std::uint64_t enough(const Plan& heading, int channels, std::uint64_t bytes) {
  const bool sectioned = layout_of(heading.collective).sectioned;
  const auto blocks = static_cast<std::uint64_t>(sectioned ? 1 : heading.blocks);
  const std::uint64_t lines = divide_up(bytes, cache_line_bytes);
  return divide_up(lines, blocks * static_cast<std::uint64_t>(channels)) * cache_line_bytes;
}

}  // namespace

void size_slots(const Plan& heading, bool brief, const ChoiceInput& input, Choice& choice) {
  choice.channels = channels_for(heading.protocol, brief, input);
  if (heading.protocol == Protocol::direct) {
    choice.slot_bytes = unbounded_slot;
  } else if (input.chunk_bytes > 0) {
    choice.slot_bytes = std::max(input.chunk_bytes, input.element_bytes);
  } else {
    choice.slot_bytes = std::clamp(enough(heading, choice.channels, input.bytes), cache_line_bytes,
                                   largest_slot(heading.protocol, brief));
  }
}

Choice choose_sizes(const Plan& plan, const ChoiceInput& input) {
  Choice choice{.protocol = plan.protocol, .reason = "a plan was given"};
  size_slots(plan, is_short(input), input, choice);
  return choice;
}

}  // namespace gyre::plan
