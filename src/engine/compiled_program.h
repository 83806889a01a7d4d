// SPDX-License-Identifier: Apache-2.0
// One rank's program of a plan, ready to be run again and again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collectives/plan.h"

namespace gyre::engine {

// A program laid out for running: steps in one array, their slices in another.
class CompiledProgram {
 public:
  struct Step {
    plan::StepKind kind;
    bool completes;
    std::int32_t peer;
    std::uint32_t destinations_at, destination_count;
    std::uint32_t sources_at, source_count;
    std::uint64_t contributions;  // bit i: source i is a rank's own input
    std::int32_t block;           // of the geometry, that all slices of a combine carry
  };

  // `sectioned`: blocks are sections (collectives/layout.h), and the geometry cuts one of them.
  CompiledProgram(const plan::Program& program, plan::Protocol protocol, bool sectioned = false);
  CompiledProgram(CompiledProgram&&) = default;  // what points into it stays where it is
  CompiledProgram& operator=(CompiledProgram&&) = default;
  ~CompiledProgram() = default;

  [[nodiscard]] plan::Protocol protocol() const { return protocol_; }
  [[nodiscard]] std::span<const Step> steps() const { return steps_; }
  [[nodiscard]] std::span<const plan::Slice> destinations(const Step& step) const {
    return {slices_.data() + step.destinations_at, step.destination_count};
  }
  [[nodiscard]] std::span<const plan::Slice> sources(const Step& step) const {
    return {slices_.data() + step.sources_at, step.source_count};
  }
  // That its steps name: how many it needs for each channel.
  [[nodiscard]] std::size_t scratch_blocks() const { return scratch_blocks_; }
  // A program of one exchange: the input goes to peers, their messages are awaited, and all is
  // combined into the output in one step. Nothing that is sent depends on what came.
  struct Exchange {
    struct Sender {
      std::int32_t peer;
      std::uint32_t source;  // of the combining step
    };
    std::vector<std::int32_t> receivers;
    std::vector<Sender> senders;
    const Step* combine = nullptr;
    std::uint32_t own_source = 0;  // of the combining step
  };
  [[nodiscard]] const std::optional<Exchange>& exchange() const { return exchange_; }

 private:
  [[nodiscard]] std::optional<Exchange> find_exchange() const;
  bool add_to(Exchange& exchange, const Step& step) const;
  bool find_sources(Exchange& exchange) const;

  plan::Protocol protocol_;
  std::vector<Step> steps_;
  std::vector<plan::Slice> slices_;
  std::size_t scratch_blocks_ = 0;
  std::optional<Exchange> exchange_;
};

}  // namespace gyre::engine
