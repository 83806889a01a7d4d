// SPDX-License-Identifier: Apache-2.0
#include "collectives/estimate_script.h"

#include "collectives/layout.h"

namespace gyre::plan {

EstimateScript::EstimateScript(const Plan& plan, const NetworkModel& network)
    : sectioned_(layout_of(plan.collective).sectioned), network_(network) {
  programs_.reserve(static_cast<std::size_t>(plan.ranks));
}

std::uint32_t EstimateScript::link(int sender, int receiver) {
  const auto key = static_cast<std::uint64_t>(sender) << 32U | static_cast<std::uint32_t>(receiver);
  const auto [found, is_new] = numbers_.try_emplace(key, static_cast<std::uint32_t>(links_.size()));
  if (is_new) {
    const std::size_t cost = network_.class_of ? network_.class_of(sender, receiver) : 0;
    links_.push_back({sender, receiver, network_.classes.at(cost)});
  }
  return found->second;
}

void EstimateScript::add(const Program& program) {
  const int rank = static_cast<int>(programs_.size());
  Packed packed;
  packed.steps.reserve(program.size());
  for (const plan::Step& from : program) {
    Move step{.kind = from.kind, .links_at = static_cast<std::uint32_t>(packed.links.size())};
    switch (from.kind) {
      case StepKind::combine:
        add_combine(packed, step, from, rank);
        break;
      case StepKind::signal:
        packed.links.push_back(link(rank, from.peer));
        break;
      default:
        packed.links.push_back(link(from.peer, rank));
    }
    packed.steps.push_back(step);
  }
  packed.links.shrink_to_fit();
  programs_.push_back(std::move(packed));
}

void EstimateScript::add_combine(Packed& packed, Move& step, const plan::Step& from, int rank) {
  const auto add_links = [&](const std::vector<Slice>& slices, Place place, bool outgoing) {
    std::uint16_t count = 0;
    for (const Slice& slice : slices) {
      if (slice.place != place) continue;
      packed.links.push_back(outgoing ? link(rank, slice.peer) : link(slice.peer, rank));
      ++count;
    }
    return count;
  };
  step.puts = add_links(from.destinations, Place::peer_slot, true);
  if (from.sources.size() > 1) {
    step.combined = add_links(from.sources, Place::slot, false);
    step.combined = static_cast<std::uint16_t>(step.combined +
                                               add_links(from.sources, Place::peer_input, false));
  }
  step.moved = add_links(from.sources, Place::peer_input, false);
  step.moved = static_cast<std::uint16_t>(step.moved +
                                          add_links(from.destinations, Place::peer_output, true));
  step.block = sectioned_ || from.destinations.empty() ? 0 : from.destinations.front().block;
}

}  // namespace gyre::plan
