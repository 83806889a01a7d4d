// SPDX-License-Identifier: Apache-2.0
#include "gyre_plan/measures.h"

#include <algorithm>
#include <set>

#include "collectives/chain.h"
#include "collectives/layout.h"

namespace gyre::tool {
namespace {

using plan::Place;
using plan::StepKind;

// Counts in blocks, of one rank.
struct RankCounts {
  std::int64_t messages = 0;
  std::int64_t sent = 0, read_from_peers = 0, combined = 0;
  std::set<int> peers;

  void count(const plan::Step& step) {
    if (step.peer >= 0) peers.insert(step.peer);
    messages += step.kind == StepKind::signal ? 1 : 0;
    for (const plan::Slice& slice : step.destinations) {
      const bool put = slice.place == Place::peer_slot;
      messages += put ? 1 : 0;
      sent += put || is_of_peer(slice) ? 1 : 0;
      note_peer(slice);
    }
    for (const plan::Slice& slice : step.sources) {
      read_from_peers += is_of_peer(slice) ? 1 : 0;
      note_peer(slice);
    }
    combined += step.sources.size() > 1 ? static_cast<std::int64_t>(step.sources.size()) : 0;
  }

  static bool is_of_peer(const plan::Slice& slice) {
    return slice.place == Place::peer_input || slice.place == Place::peer_output;
  }
  void note_peer(const plan::Slice& slice) {
    if (slice.peer >= 0) peers.insert(slice.peer);
  }
};

}  // namespace

Measures measure(const plan::Plan& plan) {
  Measures all;
  const double unit = plan::layout_of(plan.collective).sectioned ? 1.0 : 1.0 / plan.blocks;
  for (const plan::Program& program : plan.programs) {
    RankCounts rank;
    for (const plan::Step& step : program) rank.count(step);
    const auto steps = static_cast<std::int64_t>(program.size());
    all.steps = std::max(all.steps, steps);
    all.total_steps += steps;
    all.messages = std::max(all.messages, rank.messages);
    all.total_messages += rank.messages;
    all.sent = std::max(all.sent, static_cast<double>(rank.sent) * unit);
    all.total_sent += static_cast<double>(rank.sent) * unit;
    all.read_from_peers =
        std::max(all.read_from_peers, static_cast<double>(rank.read_from_peers) * unit);
    all.combined = std::max(all.combined, static_cast<double>(rank.combined) * unit);
    all.peers = std::max(all.peers, static_cast<int>(rank.peers.size()));
  }
  all.chain = plan::longest_chain(plan.programs);
  return all;
}

}  // namespace gyre::tool
