// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "engine/executor.h"

namespace gyre::engine {
namespace {

bool is_contribution(const plan::Slice& slice) {
  return slice.place == plan::Place::input || slice.place == plan::Place::peer_input;
}

std::int32_t block_of(const plan::Step& step) {
  return step.destinations.empty() ? 0 : step.destinations.front().block;
}

}  // namespace

CompiledProgram::CompiledProgram(const plan::Program& program, plan::Protocol protocol)
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
                  .block = block_of(step)};
    slices_.insert(slices_.end(), step.destinations.begin(), step.destinations.end());
    compiled.sources_at = static_cast<std::uint32_t>(slices_.size());
    slices_.insert(slices_.end(), step.sources.begin(), step.sources.end());
    for (std::size_t i = 0; i < step.sources.size(); ++i) {
      compiled.contributions |=
          i < 64 && is_contribution(step.sources[i]) ? std::uint64_t{1} << i : 0;
    }
    steps_.push_back(compiled);
  }
  exchange_ = find_exchange();
}

std::optional<CompiledProgram::Exchange> CompiledProgram::find_exchange() const {
  if (protocol_ != plan::Protocol::flag_in_line) {
    return std::nullopt;
  }
  Exchange exchange;
  for (const Step& step : steps_) {
    if (step.kind == plan::StepKind::wait) {
      exchange.senders.push_back(step.peer);
    } else if (step.kind == plan::StepKind::combine) {
      const plan::Slice& to = destinations(step).front();
      const bool sends = to.place == plan::Place::peer_slot;
      if (exchange.combine != nullptr || (sends && !exchange.senders.empty())) {
        return std::nullopt;  // a second exchange begins
      }
      if (sends) {
        exchange.receivers.push_back(to.peer);
      } else {
        exchange.combine = &step;
      }
    }
  }
  return exchange.combine != nullptr ? std::optional(std::move(exchange)) : std::nullopt;
}

}  // namespace gyre::engine
