// SPDX-License-Identifier: Apache-2.0
// The programs of all ranks, as small as an estimate needs them: what a step sends and what it
// combines, by link. A ring of 1024 ranks has six million steps.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "collectives/estimate.h"
#include "collectives/plan.h"

namespace gyre::plan {

// From one rank to another; the FIFOs of its channels are in EstimateMachine.
struct EstimateLink {
  std::int32_t sender = 0;
  std::int32_t receiver = 0;
  LinkClass cost;
};

class EstimateScript {
 public:
  // What a step does, by number of link. For wait, release, signal, await: one link.
  struct Move {
    StepKind kind = StepKind::combine;
    std::uint16_t puts = 0;      // the first links: messages of the block are sent over them
    std::uint16_t combined = 0;  // the next: blocks that came over them are combined
    std::uint16_t moved = 0;     // the last: blocks are read or written in mapped memory
    std::int32_t block = 0;
    std::uint32_t links_at = 0;  // in the rank's list
  };

  EstimateScript(const Plan& plan, const NetworkModel& network);

  // Ranks in order.
  void add(const Program& program);

  [[nodiscard]] std::span<const Move> steps(int rank) const {
    return programs_[static_cast<std::size_t>(rank)].steps;
  }
  [[nodiscard]] std::span<const std::uint32_t> links_of(int rank, const Move& step,
                                                        std::size_t count) const {
    return {programs_[static_cast<std::size_t>(rank)].links.data() + step.links_at, count};
  }
  [[nodiscard]] const std::vector<EstimateLink>& links() const { return links_; }

 private:
  struct Packed {
    std::vector<Move> steps;
    std::vector<std::uint32_t> links;
  };

  std::uint32_t link(int sender, int receiver);
  void add_combine(Packed& packed, Move& step, const plan::Step& from, int rank);

  bool sectioned_;
  const NetworkModel& network_;
  std::vector<Packed> programs_;
  std::vector<EstimateLink> links_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  // by sender and receiver
};

}  // namespace gyre::plan
