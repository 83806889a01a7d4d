// SPDX-License-Identifier: Apache-2.0
#include "gyre_plan/links.h"

#include <algorithm>
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

}  // namespace gyre::tool
