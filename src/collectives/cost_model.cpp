// SPDX-License-Identifier: Apache-2.0
#include "collectives/cost_model.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "collectives/layout.h"

namespace gyre::plan {

namespace {

// Calls of more bytes than this leave a second-level cache.
constexpr std::uint64_t cached_bytes = std::uint64_t{512} * 1024;
// A message is written, read, and written where it belongs.
constexpr double touches_of_a_message = 3;

// Runs all programs for one tile, with the number of messages on the longest way to each step.
class Chain {
 public:
  explicit Chain(std::vector<Program> programs)
      : programs_(std::move(programs)), step_(programs_.size()), level_(programs_.size()) {}

  // Every rank as far as it gets, until nobody moves.
  int longest() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < programs_.size(); ++rank) moved = advance(rank) || moved;
    }
    return *std::max_element(level_.begin(), level_.end());
  }

 private:
  bool advance(std::size_t rank) {
    const std::size_t before = step_[rank];
    while (step_[rank] < programs_[rank].size() && perform(rank, programs_[rank][step_[rank]])) {
      ++step_[rank];
    }
    return step_[rank] > before;
  }

  bool perform(std::size_t rank, const Step& step) {
    const int own = static_cast<int>(rank);
    switch (step.kind) {
      case StepKind::wait:
      case StepKind::await: {
        std::deque<int>& messages = sent_[{step.peer, own}];
        if (messages.empty()) return false;
        level_[rank] = std::max(level_[rank], messages.front());
        messages.pop_front();
        return true;
      }
      case StepKind::signal:
        sent_[{own, step.peer}].push_back(level_[rank] + 1);
        return true;
      case StepKind::combine:
        for (const Slice& slice : step.destinations) {
          if (slice.place == Place::peer_slot) {
            sent_[{own, slice.peer}].push_back(level_[rank] + 1);
          }
        }
        return true;
      case StepKind::release:
        return true;
    }
    return true;
  }

  std::vector<Program> programs_;
  std::vector<std::size_t> step_;
  std::vector<int> level_;
  std::map<std::pair<int, int>, std::deque<int>> sent_;  // by (sender, receiver)
};

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
  figures.chain = Chain(std::move(programs)).longest();
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
