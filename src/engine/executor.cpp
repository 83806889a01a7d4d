// SPDX-License-Identifier: Apache-2.0
#include "engine/executor.h"

#include <algorithm>

namespace gyre::engine {

using plan::Place;
using plan::Protocol;
using plan::StepKind;
using transport::Arrival;

namespace {

// Scratch is read again at once.
bool streams(Place place, const Operands& operands) {
  if (place == Place::scratch) {
    return false;
  }
  return place == Place::peer_slot ? operands.stream_messages : operands.stream_results;
}

// Bit by bit, for each destination.
StoreHint hint_for(std::span<const plan::Slice> destinations, const Operands& operands) {
  if (!operands.stream_results && !operands.stream_messages) {
    return StoreHint::cached;
  }
  StoreHint hint;
  for (std::size_t i = 0; i < destinations.size() && i < 64; ++i) {
    hint.streamed |= streams(destinations[i].place, operands) ? std::uint64_t{1} << i : 0;
  }
  return hint;
}

// From the start of a buffer to the section that a slice is in.
std::uint64_t section(const plan::Slice& slice, std::uint64_t stride) {
  return static_cast<std::uint64_t>(slice.block) * stride;
}

// Of one scratch block: as many as the longest block of a tile, which is the first one, needs.
std::size_t scratch_lines(const CompiledProgram& program, const plan::Geometry& geometry,
                          std::size_t element_bytes) {
  if (program.scratch_blocks() == 0 || geometry.tiles() == 0) {
    return 0;
  }
  return (geometry.block(0, 0).length * element_bytes + 63) / 64;
}

}  // namespace

Executor::Executor(std::span<transport::Connection* const> connections,
                   const transport::Shape& shape)
    : connections_(connections.begin(), connections.end()),
      inline_stride_((shape.inline_bytes + 127) / 64 * 64),
      channels_(static_cast<std::size_t>(shape.all_channels())),
      current_(channels_.size() * connections_.size()),
      sources_(connections_.size() + 1),
      destinations_(connections_.size() + 1),
      inline_messages_((connections_.size() + 1) * inline_stride_) {}

std::size_t Executor::reserve_scratch(const CompiledProgram& program,
                                      const plan::Geometry& geometry, std::size_t element_bytes) {
  const std::size_t lines = scratch_lines(program, geometry, element_bytes);
  const std::size_t needed = lines * program.scratch_blocks() * channels_.size();
  if (needed > scratch_.size()) {
    scratch_.resize(needed);
  }
  return lines;
}

Outcome Executor::run(const CompiledProgram& program, const plan::Geometry& geometry,
                      Combiner& combiner, const Operands& operands, Waiter& waiter) {
  Run run{program,  geometry, combiner,
          operands, 0,        reserve_scratch(program, geometry, combiner.element_bytes())};
  if (program.exchange()) {
    if (program.protocol() == Protocol::staged && geometry.tiles_of(0) == geometry.tiles()) {
      return run_staged_exchange(run, waiter);
    }
    if (program.protocol() == Protocol::flag_in_line && geometry.tiles() == 1) {
      return run_inline_exchange(run, waiter);
    }
  }
  return geometry.tiles() == 1 ? run_one_tile(run, waiter) : run_channels(run, waiter);
}

// A short message is there before the book-keeping of several channels would be done.
Outcome Executor::run_one_tile(Run& run, Waiter& waiter) {
  const int channel = run.operands.first_channel;
  channels_[static_cast<std::size_t>(channel)].turn = 0;
  for (const CompiledProgram::Step& step : run.program.steps()) {
    Advance result = do_step(run, channel, step);
    while (result == Advance::blocked) {
      const Waiter::Verdict verdict = waiter.pause();
      if (verdict != Waiter::Verdict::poll_again) [[unlikely]] {
        return outcome_of(verdict);
      }
      result = do_step(run, channel, step);
    }
    if (result == Advance::mismatch) [[unlikely]] {
      return Outcome::mismatch;
    }
    waiter.progressed();
  }
  return Outcome::done;
}

Outcome Executor::run_channels(Run& run, Waiter& waiter) {
  const plan::Geometry& geometry = run.geometry;
  const int first = run.operands.first_channel;
  for (int channel = first; channel < static_cast<int>(channels_.size()); ++channel) {
    const std::uint64_t turns = geometry.tiles_of(static_cast<std::uint64_t>(channel - first));
    channels_[static_cast<std::size_t>(channel)] = {.turn = 0, .turns = turns, .step = 0};
    run.live_channels += turns > 0 ? 1 : 0;
  }
  const int end = first + run.live_channels;  // the first channels have the tiles
  return advance_until_done(
      waiter, [&] { return run.live_channels > 0; }, [&] { return advance_all(run, first, end); });
}

Advance Executor::advance_all(Run& run, int first, int end) {
  Advance all = Advance::blocked;
  for (int channel = first; channel < end; ++channel) {
    const Advance one = advance(run, channel);
    if (one == Advance::mismatch) {
      return one;
    }
    all = one == Advance::moved ? one : all;
  }
  return all;
}

// Runs a channel to the end of its tile or to the first step that must wait.
Advance Executor::advance(Run& run, int channel) {
  Channel& state = channels_[static_cast<std::size_t>(channel)];
  if (state.turn == state.turns) {
    return Advance::blocked;
  }
  const auto steps = run.program.steps();
  const std::size_t first = state.step;
  while (state.step < steps.size()) {
    const Advance result = do_step(run, channel, steps[state.step]);
    if (result != Advance::moved) {
      return result == Advance::blocked && state.step > first ? Advance::moved : result;
    }
    ++state.step;
  }
  state.step = 0;
  run.live_channels -= ++state.turn == state.turns ? 1 : 0;
  return Advance::moved;
}

Advance Executor::do_step(Run& run, int channel, const CompiledProgram::Step& step) {
  switch (step.kind) {
    case StepKind::combine:
      return do_combine(run, channel, step);
    case StepKind::wait:
      return do_wait(run, channel, step);
    case StepKind::release:
      if (run.program.protocol() == Protocol::staged) {
        connections_[static_cast<std::size_t>(step.peer)]->release(channel);
      }
      return Advance::moved;
    case StepKind::signal:
      connections_[static_cast<std::size_t>(step.peer)]->signal();
      return Advance::moved;
    case StepKind::await:
      blamed_ = step.peer;
      return connections_[static_cast<std::size_t>(step.peer)]->signalled() ? Advance::moved
                                                                            : Advance::blocked;
  }
  return Advance::blocked;
}

std::uint64_t Executor::tile_of(const Run& run, int channel) const {
  return run.geometry.tile_of(static_cast<std::uint64_t>(channel - run.operands.first_channel),
                              channels_[static_cast<std::size_t>(channel)].turn);
}

Advance Executor::do_wait(Run& run, int channel, const CompiledProgram::Step& step) {
  transport::Connection& connection = *connections_[static_cast<std::size_t>(step.peer)];
  const std::uint32_t tag = run.operands.tag;
  Arrival arrival;
  if (run.program.protocol() == Protocol::flag_in_line) {
    std::byte* into = inline_message(step.peer);
    // The one block of the tile.
    const std::size_t bytes =
        run.geometry.tile(tile_of(run, channel)).length * run.combiner.element_bytes();
    arrival = connection.poll_inline({into, bytes}, tag, &current_[message_at(channel, step.peer)]);
  } else {
    arrival = connection.arrived(channel, tag, &current_[message_at(channel, step.peer)]);
  }
  if (arrival == Arrival::ready) {
    return Advance::moved;
  }
  blamed_ = step.peer;
  return arrival == Arrival::mismatch ? Advance::mismatch : Advance::blocked;
}

Advance Executor::do_combine(Run& run, int channel, const CompiledProgram::Step& step) {
  const std::uint64_t tile = tile_of(run, channel);
  const plan::ElementRange range = run.geometry.block(tile, static_cast<std::uint64_t>(step.block));
  const auto destinations = run.program.destinations(step);
  if (run.program.protocol() == Protocol::flag_in_line &&
      destinations.front().place == Place::peer_slot) {
    return put_in_line(run, step, range);
  }
  const std::uint64_t offset = range.offset * run.combiner.element_bytes();
  if (!gather_destinations(run, channel, step, offset)) {
    return Advance::blocked;
  }
  gather_sources(run, channel, step, offset);
  // In place, what goes to itself stays: peers may be reading it.
  const bool to_itself = step.source_count == 1 && destinations.size() == 1 &&
                         sources_[0] == destinations_[0] && !run.combiner.scales();
  if (range.length > 0 && !to_itself) {
    run.combiner.combine({destinations_.data(), destinations.size()},
                         {sources_.data(), step.source_count}, step.contributions, range.length,
                         hint_for(destinations, run.operands), step.completes);
  }
  for (const plan::Slice& slice : destinations) {
    if (slice.place == Place::peer_slot) {
      connections_[static_cast<std::size_t>(slice.peer)]->put(
          channel, range.length * run.combiner.element_bytes(), run.operands.tag);
    }
  }
  return Advance::moved;
}

// A small message goes from where it is straight into the peer's lines.
Advance Executor::put_in_line(Run& run, const CompiledProgram::Step& step,
                              plan::ElementRange range) {
  const auto peer = static_cast<std::size_t>(run.program.destinations(step).front().peer);
  connections_[peer]->put_inline({scaled_input(run, run.program.sources(step).front().block, range),
                                  range.length * run.combiner.element_bytes()},
                                 run.operands.tag);
  return Advance::moved;
}

std::byte* Executor::scratch(const Run& run, int channel, const plan::Slice& slice) {
  const std::size_t number = static_cast<std::size_t>(channel) * run.program.scratch_blocks() +
                             static_cast<std::size_t>(slice.scratch);
  return scratch_[number * run.scratch_lines].bytes.data();
}

// False while a slot that is to be filled is not free; nothing is lost by asking again.
bool Executor::gather_destinations(Run& run, int channel, const CompiledProgram::Step& step,
                                   std::uint64_t offset) {
  std::size_t i = 0;
  for (const plan::Slice& slice : run.program.destinations(step)) {
    std::byte* to = nullptr;
    switch (slice.place) {
      case Place::output:
        to = run.operands.output + offset + section(slice, run.operands.output_stride);
        break;
      case Place::peer_output:
        to = run.operands.peer_outputs[static_cast<std::size_t>(slice.peer)] + offset +
             section(slice, run.operands.output_stride);
        break;
      case Place::scratch:
        to = scratch(run, channel, slice);
        break;
      default:
        to = connections_[static_cast<std::size_t>(slice.peer)]->slot_to_fill(channel);
        if (to == nullptr) {
          blamed_ = slice.peer;
          return false;
        }
    }
    destinations_[i++] = to;
  }
  return true;
}

void Executor::gather_sources(Run& run, int channel, const CompiledProgram::Step& step,
                              std::uint64_t offset) {
  std::size_t i = 0;
  for (const plan::Slice& slice : run.program.sources(step)) {
    switch (slice.place) {
      case Place::input:
        sources_[i++] = run.operands.input + offset + section(slice, run.operands.input_stride);
        break;
      case Place::output:
        sources_[i++] = run.operands.output + offset + section(slice, run.operands.output_stride);
        break;
      case Place::peer_input:
        sources_[i++] = run.operands.peer_inputs[static_cast<std::size_t>(slice.peer)] + offset +
                        section(slice, run.operands.input_stride);
        break;
      case Place::peer_output:
        sources_[i++] = run.operands.peer_outputs[static_cast<std::size_t>(slice.peer)] + offset +
                        section(slice, run.operands.output_stride);
        break;
      case Place::scratch:
        sources_[i++] = scratch(run, channel, slice);
        break;
      default:
        sources_[i++] = current_[message_at(channel, slice.peer)];
    }
  }
}

}  // namespace gyre::engine
