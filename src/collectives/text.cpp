// SPDX-License-Identifier: Apache-2.0
#include "collectives/text.h"

#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "collectives/algorithm.h"

namespace gyre::plan {

namespace {

std::string_view name_of(Place place) {
  switch (place) {
    case Place::input:
      return "input";
    case Place::output:
      return "output";
    case Place::slot:
      return "slot";
    case Place::peer_slot:
      return "peer_slot";
    case Place::peer_input:
      return "peer_input";
    case Place::peer_output:
      return "peer_output";
    case Place::scratch:
      return "scratch";
  }
  return "unknown";
}

std::string_view name_of(StepKind kind) {
  switch (kind) {
    case StepKind::combine:
      return "combine";
    case StepKind::wait:
      return "wait";
    case StepKind::release:
      return "release";
    case StepKind::signal:
      return "signal";
    case StepKind::await:
      return "await";
  }
  return "unknown";
}

std::string joined(const std::vector<Slice>& slices, std::string_view separator) {
  std::string text;
  for (const Slice& slice : slices) {
    if (!text.empty()) text += separator;
    text += to_text(slice);
  }
  return text;
}

}  // namespace

std::string to_text(const Slice& slice) {
  if (slice.place == Place::scratch)
    return fmt::format("scratch({})[{}]", slice.scratch, slice.block);
  const bool own = slice.place == Place::input || slice.place == Place::output;
  return own ? fmt::format("{}[{}]", name_of(slice.place), slice.block)
             : fmt::format("{}(peer {})[{}]", name_of(slice.place), slice.peer, slice.block);
}

std::string to_text(const Step& step) {
  if (step.kind != StepKind::combine) {
    return fmt::format("{} peer {}", name_of(step.kind), step.peer);
  }
  return fmt::format("{} {} -> {}{}", step.sources.size() == 1 ? "copy" : "combine",
                     joined(step.sources, " op "), joined(step.destinations, ", "),
                     step.completes ? ", complete" : "");
}

std::string to_text(const Plan& plan) {
  std::string text = fmt::format(
      "{} {}: {} ranks, {} blocks a tile, {} slots a FIFO, {}{}\n", name_of(plan.collective),
      title(plan), plan.ranks, plan.blocks, plan.slots,
      plan.scratch_blocks > 0 ? fmt::format("{} scratch blocks, ", plan.scratch_blocks) : "",
      plan.in_place_safe ? "may run in place" : "must not run in place");
  for (std::size_t rank = 0; rank < plan.programs.size(); ++rank) {
    fmt::format_to(std::back_inserter(text), "rank {}\n", rank);
    for (std::size_t number = 0; number < plan.programs[rank].size(); ++number) {
      fmt::format_to(std::back_inserter(text), "  {:3}  {}\n", number,
                     to_text(plan.programs[rank][number]));
    }
  }
  return text;
}

std::string title(const Plan& plan) {
  return fmt::format("{}/{}", plan.name, name_of(plan.protocol));
}

}  // namespace gyre::plan
