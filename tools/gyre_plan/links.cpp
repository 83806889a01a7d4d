// SPDX-License-Identifier: Apache-2.0
#include "gyre_plan/links.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

namespace gyre::tool {
namespace {

// Sender, receiver, and whether these are signals.
using Fifo = std::tuple<int, int, bool>;

struct Ends {
  std::vector<Link> sent;  // `to` is not known yet
  std::vector<StepAt> awaited;
};

void add_step(std::map<Fifo, Ends>& fifos, const StepAt& at, const plan::Step& step) {
  using plan::StepKind;
  switch (step.kind) {
    case StepKind::combine:
      for (const plan::Slice& slice : step.destinations) {
        if (slice.place != plan::Place::peer_slot) continue;
        fifos[{at.rank, slice.peer, false}].sent.push_back({at, {}, slice.block, false});
      }
      break;
    case StepKind::signal:
      fifos[{at.rank, step.peer, true}].sent.push_back({at, {}, 0, true});
      break;
    case StepKind::wait:
      fifos[{step.peer, at.rank, false}].awaited.push_back(at);
      break;
    case StepKind::await:
      fifos[{step.peer, at.rank, true}].awaited.push_back(at);
      break;
    case StepKind::release:
      break;
  }
}

// Runs all programs, counting the messages behind each other.
class ChainCount {
 public:
  explicit ChainCount(const plan::Plan& plan) : plan_(plan), ranks_(plan.programs.size()) {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      ready_.push_back(static_cast<int>(rank));
  }

  int count() {
    while (!ready_.empty()) {
      const int rank = ready_.front();
      ready_.pop_front();
      advance(rank);
    }
    int most = 0;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (ranks_[rank].step < plan_.programs[rank].size()) return -1;
      most = std::max(most, ranks_[rank].chain);
    }
    return most;
  }

 private:
  struct Rank {
    std::size_t step = 0;
    int chain = 0;
  };

  void advance(int number) {
    Rank& rank = ranks_[static_cast<std::size_t>(number)];
    const plan::Program& program = plan_.programs[static_cast<std::size_t>(number)];
    while (rank.step < program.size() && perform(number, rank, program[rank.step])) ++rank.step;
  }

  // False when the rank must wait; it is woken by the sender.
  bool perform(int number, Rank& rank, const plan::Step& step) {
    const bool is_signal =
        step.kind == plan::StepKind::signal || step.kind == plan::StepKind::await;
    if (step.kind == plan::StepKind::wait || step.kind == plan::StepKind::await) {
      std::deque<int>& fifo = fifos_[{step.peer, number, is_signal}];
      if (fifo.empty()) return false;
      rank.chain = std::max(rank.chain, fifo.front());
      fifo.pop_front();
      return true;
    }
    if (step.kind == plan::StepKind::signal) send(number, step.peer, rank.chain + 1, true);
    for (const plan::Slice& slice : step.destinations) {
      if (slice.place == plan::Place::peer_slot) send(number, slice.peer, rank.chain + 1, false);
    }
    return true;
  }

  void send(int from, int to, int chain, bool is_signal) {
    fifos_[{from, to, is_signal}].push_back(chain);
    ready_.push_back(to);
  }

  const plan::Plan& plan_;
  std::vector<Rank> ranks_;
  std::deque<int> ready_;
  std::map<Fifo, std::deque<int>> fifos_;
};

}  // namespace

std::vector<Link> links_of(const plan::Plan& plan) {
  std::map<Fifo, Ends> fifos;
  for (std::size_t rank = 0; rank < plan.programs.size(); ++rank) {
    const plan::Program& program = plan.programs[rank];
    for (std::size_t step = 0; step < program.size(); ++step) {
      add_step(fifos, {static_cast<int>(rank), static_cast<int>(step)}, program[step]);
    }
  }
  std::vector<Link> links;
  for (auto& [fifo, ends] : fifos) {
    const std::size_t met = std::min(ends.sent.size(), ends.awaited.size());
    for (std::size_t i = 0; i < met; ++i) {
      links.push_back(ends.sent[i]);
      links.back().to = ends.awaited[i];
    }
  }
  return links;
}

int longest_chain(const plan::Plan& plan) {
  return ChainCount(plan).count();
}

}  // namespace gyre::tool
