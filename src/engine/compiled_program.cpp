// SPDX-License-Identifier: Apache-2.0
#include "engine/compiled_program.h"

#include <algorithm>
#include <utility>

namespace gyre::engine {
namespace {

bool is_contribution(const plan::Slice& slice) {
  return slice.place == plan::Place::input || slice.place == plan::Place::peer_input;
}

bool is_whole_input(const plan::Slice& slice) {
  return slice.place == plan::Place::input && slice.block == 0;
}

std::int32_t block_of(const plan::Step& step) {
  return step.destinations.empty() ? 0 : step.destinations.front().block;
}

}  // namespace

CompiledProgram::CompiledProgram(const plan::Program& program, plan::Protocol protocol,
                                 bool sectioned)
    : protocol_(protocol) {
  for (const plan::Step& step : program) {
    Step compiled{.kind = step.kind,
                  .completes = step.completes,
                  .peer = step.peer,
                  .destinations_at = static_cast<std::uint32_t>(slices_.size()),
                  .destination_count = static_cast<std::uint32_t>(step.destinations.size()),
                  .sources_at = 0,
                  .source_count = static_cast<std::uint32_t>(step.sources.size()),
                  .contributions = 0,
                  .block = sectioned ? 0 : block_of(step)};
    slices_.insert(slices_.end(), step.destinations.begin(), step.destinations.end());
    compiled.sources_at = static_cast<std::uint32_t>(slices_.size());
    slices_.insert(slices_.end(), step.sources.begin(), step.sources.end());
    for (std::size_t i = 0; i < step.sources.size(); ++i) {
      compiled.contributions |=
          i < 64 && is_contribution(step.sources[i]) ? std::uint64_t{1} << i : 0;
    }
    steps_.push_back(compiled);
  }
  for (const plan::Slice& slice : slices_) {
    scratch_blocks_ = std::max(scratch_blocks_, static_cast<std::size_t>(slice.scratch + 1));
  }
  exchange_ = find_exchange();
}

std::optional<CompiledProgram::Exchange> CompiledProgram::find_exchange() const {
  Exchange exchange;
  const bool fits =
      protocol_ != plan::Protocol::direct &&
      std::ranges::all_of(steps_, [&](const Step& step) { return add_to(exchange, step); }) &&
      exchange.combine != nullptr && exchange.receivers.size() == exchange.senders.size() &&
      find_sources(exchange);
  return fits ? std::optional(std::move(exchange)) : std::nullopt;
}

// Sends come first, then waits, then what combines it all; false for anything else.
bool CompiledProgram::add_to(Exchange& exchange, const Step& step) const {
  if (step.kind == plan::StepKind::release) {
    return true;
  }
  if (exchange.combine != nullptr) {
    return false;
  }
  if (step.kind == plan::StepKind::wait) {
    exchange.senders.push_back({step.peer, 0});
    return true;
  }
  if (step.kind != plan::StepKind::combine || step.destination_count != 1) {
    return false;
  }
  const plan::Slice& destination = destinations(step).front();
  if (destination.place != plan::Place::peer_slot) {
    exchange.combine = &step;
    return destination.place == plan::Place::output;
  }
  // One message each: slots are looked for at all receivers before any of them is filled.
  if (std::ranges::find(exchange.receivers, destination.peer) != exchange.receivers.end()) {
    return false;
  }
  exchange.receivers.push_back(destination.peer);
  // Everybody gets the one input.
  return exchange.senders.empty() && sources(step).size() == 1 && is_whole_input(sources(step)[0]);
}

// Which source of the combining step each message is; false if they are not its sources, one each,
// beside the rank's own input.
bool CompiledProgram::find_sources(Exchange& exchange) const {
  const auto all = sources(*exchange.combine);
  const auto position_of = [&](auto&& wanted) {
    return static_cast<std::uint32_t>(std::ranges::find_if(all, wanted) - all.begin());
  };
  exchange.own_source = position_of(is_whole_input);
  bool found = exchange.own_source < all.size() && all.size() == exchange.senders.size() + 1;
  for (Exchange::Sender& sender : exchange.senders) {
    sender.source = position_of([&](const plan::Slice& slice) {
      return slice.place == plan::Place::slot && slice.peer == sender.peer;
    });
    found = found && sender.source < all.size();
  }
  return found;
}

}  // namespace gyre::engine
