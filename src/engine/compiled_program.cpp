// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

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
    most_sources_ = std::max(most_sources_, step.sources.size());
    most_destinations_ = std::max(most_destinations_, step.destinations.size());
    steps_.push_back(compiled);
  }
}

}  // namespace gyre::engine
