// SPDX-License-Identifier: Apache-2.0
#include "collectives/chain.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <vector>

namespace gyre::plan {

namespace {

// Sender, receiver, and whether these are signals.
using Fifo = std::tuple<int, int, bool>;

// Runs all programs, counting the messages behind each other.
class ChainCount {
 public:
  explicit ChainCount(std::span<const Program> programs)
      : programs_(programs), ranks_(programs.size()) {
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
      if (ranks_[rank].step < programs_[rank].size()) return -1;
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
    const Program& program = programs_[static_cast<std::size_t>(number)];
    while (rank.step < program.size() && perform(number, rank, program[rank.step])) ++rank.step;
  }

  // False when the rank must wait; it is woken by the sender.
  bool perform(int number, Rank& rank, const Step& step) {
    const bool is_signal = step.kind == StepKind::signal || step.kind == StepKind::await;
    if (step.kind == StepKind::wait || step.kind == StepKind::await) {
      std::deque<int>& fifo = fifos_[{step.peer, number, is_signal}];
      if (fifo.empty()) return false;
      rank.chain = std::max(rank.chain, fifo.front());
      fifo.pop_front();
      return true;
    }
    if (step.kind == StepKind::signal) send(number, step.peer, rank.chain + 1, true);
    for (const Slice& slice : step.destinations) {
      if (slice.place == Place::peer_slot) send(number, slice.peer, rank.chain + 1, false);
    }
    return true;
  }

  void send(int from, int to, int chain, bool is_signal) {
    fifos_[{from, to, is_signal}].push_back(chain);
    ready_.push_back(to);
  }

  std::span<const Program> programs_;
  std::vector<Rank> ranks_;
  std::deque<int> ready_;
  std::map<Fifo, std::deque<int>> fifos_;
};

}  // namespace

int longest_chain(std::span<const Program> programs) {
  return ChainCount(programs).count();
}

}  // namespace gyre::plan
