// SPDX-License-Identifier: Apache-2.0
#include "collectives/cost_model.h"

#include <algorithm>
#include <vector>

#include "collectives/chain.h"
#include "collectives/layout.h"

namespace gyre::plan {

namespace {

// Calls of more bytes than this leave a second-level cache.
constexpr std::uint64_t cached_bytes = std::uint64_t{512} * 1024;
// A message is written, read, and written where it belongs.
constexpr double touches_of_a_message = 3;

void count(const Program& program, PlanFigures& figures) {
  std::int64_t messages = 0;
  std::int64_t touched = 0;
  for (const Step& step : program) {
    messages += step.kind == StepKind::signal ? 1 : 0;
    touched += static_cast<std::int64_t>(step.sources.size() + step.destinations.size());
    for (const Slice& slice : step.destinations) messages += slice.place == Place::peer_slot;
  }
  figures.messages = std::max(figures.messages, messages);
  figures.touched = std::max(figures.touched, touched);
}

}  // namespace

PlanFigures figures_of(const Plan& description,
                       const std::function<Program(int rank)>& program_of) {
  PlanFigures figures;
  figures.blocks = layout_of(description.collective).sectioned ? 1 : description.blocks;
  std::vector<Program> programs;
  for (int rank = 0; rank < description.ranks; ++rank) {
    programs.push_back(program_of(rank));
    count(programs.back(), figures);
  }
  figures.chain = longest_chain(programs);
  return figures;
}

PlanFigures figures_of(const Recipe& recipe) {
  return figures_of(describe(recipe), [&](int rank) { return program_of(recipe, rank); });
}

double predict(const PlanFigures& figures, const LinkCosts& costs, const CostQuestion& question) {
  const auto bytes = static_cast<double>(question.bytes);
  const double tile =
      static_cast<double>(question.slot_bytes) * static_cast<double>(figures.blocks);
  const double tiles = std::max(1.0, bytes / tile);
  const double block = bytes / tiles / static_cast<double>(figures.blocks);
  const double per_byte = question.bytes <= cached_bytes ? costs.per_byte : costs.per_byte_large;
  const double shared =
      std::max(1.0, static_cast<double>(question.ranks) / static_cast<double>(question.local_cpus));
  const double busy = shared * (static_cast<double>(figures.messages) * costs.message +
                                static_cast<double>(figures.touched) * block * per_byte);
  const double hop = costs.exchange + costs.message + touches_of_a_message * block * per_byte;
  return std::max(static_cast<double>(figures.chain) * hop, busy + costs.exchange) +
         (tiles - 1) * busy;
}

double solve_cost(double LinkCosts::*cost, LinkCosts costs, const PlanFigures& figures,
                  const CostQuestion& question, double seconds, double most) {
  double low = 0;
  double high = most;
  for (int halving = 0; halving < 60; ++halving) {
    costs.*cost = (low + high) / 2;
    (predict(figures, costs, question) < seconds ? low : high) = costs.*cost;
  }
  return (low + high) / 2;
}

}  // namespace gyre::plan
