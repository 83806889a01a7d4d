// SPDX-License-Identifier: Apache-2.0
#include "collectives/estimate_machine.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace gyre::plan {

using Move = EstimateScript::Move;

EstimateMachine::EstimateMachine(const EstimateScript& script, int ranks, const Geometry& geometry,
                                 std::uint64_t element_bytes, int channels, int slots)
    : script_(script),
      geometry_(geometry),
      element_bytes_(element_bytes),
      slots_(slots == 0 ? std::numeric_limits<std::uint64_t>::max()
                        : static_cast<std::uint64_t>(slots)),
      channel_count_(channels),
      ranks_(static_cast<std::size_t>(ranks)),
      channels_(ranks_.size() * static_cast<std::size_t>(channels)),
      fifos_(script.links().size() * static_cast<std::size_t>(channels)) {
  for (int rank = 0; rank < ranks; ++rank) {
    for (int channel = 0; channel < channels; ++channel) {
      const std::uint64_t turns = geometry.tiles_of(static_cast<std::uint64_t>(channel));
      channel_of(rank, channel).turns = script.steps(rank).empty() ? 0 : turns;
      ranks_[static_cast<std::size_t>(rank)].live_channels +=
          channel_of(rank, channel).turns > 0 ? 1 : 0;
    }
    push(0, What::wake, static_cast<std::uint32_t>(rank));
  }
}

void EstimateMachine::push(double at, What what, std::uint32_t subject, std::uint64_t bytes) {
  events_.push({at, order_++, bytes, subject, what});
}

Result<Estimate> EstimateMachine::run() {
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    now_ = event.at;
    handle(event);
  }
  Estimate result;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const Rank& state = ranks_[rank];
    if (state.live_channels > 0) {
      return fail(
          Code::invalid_argument,
          fmt::format("The plan gets stuck: rank {} waits for a message or a slot that never "
                      "comes. Verify the plan; it says which step is at fault.",
                      rank));
    }
    result.rank_seconds.push_back(state.done);
    if (state.done > result.seconds) {
      result.seconds = state.done;
      result.critical_rank = static_cast<int>(rank);
    }
    result.bytes += state.bytes;
    result.most_bytes = std::max(result.most_bytes, state.bytes);
  }
  result.messages = messages_;
  return result;
}

void EstimateMachine::handle(const Event& event) {
  if (event.what == What::wake) {
    wake(static_cast<int>(event.subject));
    return;
  }
  Fifo& fifo = fifos_[event.subject];
  const EstimateLink& link = link_of(event.subject);
  switch (event.what) {
    case What::head: {
      double& free = ranks_[static_cast<std::size_t>(link.receiver)].receive_port_free;
      free = std::max(free, now_) + static_cast<double>(event.bytes) * link.cost.per_byte;
      push(free, What::arrive, event.subject);
      break;
    }
    case What::arrive:
      ++fifo.arrived;
      wake(link.receiver);
      break;
    default:
      ++fifo.credits;
      wake(link.sender);
  }
}

// Channel by channel, each as far as it gets, until none can go on or the processor is busy.
void EstimateMachine::wake(int rank) {
  Rank& state = ranks_[static_cast<std::size_t>(rank)];
  if (now_ < state.busy_until) {
    return;  // it looks at everything again when it is done
  }
  if (state.computing) {
    state.computing = false;
    end_step(rank, state.channel);
  }
  int blocked = 0;
  while (blocked < channel_count_ && state.live_channels > 0) {
    blocked = advance(rank, state.channel) ? 0 : blocked + 1;
    if (state.computing) {
      return;
    }
    state.channel = (state.channel + 1) % channel_count_;
  }
}

// Whether the channel got any further.
bool EstimateMachine::advance(int rank, int channel) {
  Channel& state = channel_of(rank, channel);
  bool moved = false;
  const std::uint64_t turn = state.turn;
  while (state.turn == turn && state.turn < state.turns &&
         try_step(rank, channel, script_.steps(rank)[state.step])) {
    moved = true;
    if (ranks_[static_cast<std::size_t>(rank)].computing) {
      break;
    }
    end_step(rank, channel);
  }
  return moved;
}

// False while the step must wait. Otherwise it is begun; end_step() follows, at once or when the
// processor has done its part.
bool EstimateMachine::try_step(int rank, int channel, const Move& step) {
  if (step.kind == StepKind::combine) {
    return begin_combine(rank, channel, step);
  }
  const std::uint32_t link = script_.links_of(rank, step, 1).front();
  const std::uint32_t number = fifo_number(link, channel);
  Fifo& fifo = fifos_[number];
  switch (step.kind) {
    case StepKind::release:
      push(now_ + link_of(number).cost.latency, What::credit, number);
      return true;
    case StepKind::signal:
      return true;  // end_step() sends it
    default:
      if (fifo.taken == fifo.arrived) {
        return false;
      }
      ++fifo.taken;
      return true;
  }
}

bool EstimateMachine::begin_combine(int rank, int channel, const Move& step) {
  const auto has_slot = [&](std::uint32_t link) {
    const Fifo& fifo = fifos_[fifo_number(link, channel)];
    return fifo.sent - fifo.credits < slots_;
  };
  if (!std::ranges::all_of(script_.links_of(rank, step, step.puts), has_slot)) {
    return false;
  }
  const double cost = cost_of(rank, step, bytes_of(rank, channel, step));
  if (cost > 0) {
    Rank& state = ranks_[static_cast<std::size_t>(rank)];
    state.computing = true;
    state.busy_until = now_ + cost;
    push(state.busy_until, What::wake, static_cast<std::uint32_t>(rank));
  }
  return true;
}

double EstimateMachine::cost_of(int rank, const Move& step, std::uint64_t bytes) const {
  const auto all = script_.links_of(
      rank, step, static_cast<std::size_t>(step.puts) + step.combined + step.moved);
  const auto size = static_cast<double>(bytes);
  double cost = 0;
  for (const std::uint32_t link : all.first(step.puts)) {
    cost += script_.links()[link].cost.overhead;
  }
  for (const std::uint32_t link : all.subspan(step.puts, step.combined)) {
    cost += script_.links()[link].cost.reduce_per_byte * size;
  }
  for (const std::uint32_t link : all.last(step.moved)) {
    cost += script_.links()[link].cost.per_byte * size;
  }
  return cost;
}

// What the step has made is sent, and the channel goes on to its next step.
void EstimateMachine::end_step(int rank, int channel) {
  Channel& state = channel_of(rank, channel);
  const Move& step = script_.steps(rank)[state.step];
  if (step.kind == StepKind::combine) {
    const std::uint64_t bytes = bytes_of(rank, channel, step);
    for (const std::uint32_t link : script_.links_of(rank, step, step.puts)) {
      send(rank, channel, link, bytes);
    }
  } else if (step.kind == StepKind::signal) {
    send(rank, channel, script_.links_of(rank, step, 1).front(), 0);
  }
  if (++state.step < script_.steps(rank).size()) {
    return;
  }
  state.step = 0;
  if (++state.turn == state.turns) {
    Rank& of = ranks_[static_cast<std::size_t>(rank)];
    of.done = now_;
    --of.live_channels;
  }
}

void EstimateMachine::send(int rank, int channel, std::uint32_t link, std::uint64_t bytes) {
  Rank& state = ranks_[static_cast<std::size_t>(rank)];
  const std::uint32_t number = fifo_number(link, channel);
  const LinkClass& cost = script_.links()[link].cost;
  const double start = std::max(now_, state.send_port_free);
  state.send_port_free = start + static_cast<double>(bytes) * cost.per_byte;
  push(start + cost.latency, What::head, number, bytes);
  ++fifos_[number].sent;
  state.bytes += bytes;
  ++messages_;
}

std::uint64_t EstimateMachine::bytes_of(int rank, int channel, const Move& step) const {
  const std::uint64_t turn = channels_[channel_at(rank, channel)].turn;
  const std::uint64_t tile = geometry_.tile_of(static_cast<std::uint64_t>(channel), turn);
  return geometry_.block(tile, static_cast<std::uint64_t>(step.block)).length * element_bytes_;
}

}  // namespace gyre::plan
