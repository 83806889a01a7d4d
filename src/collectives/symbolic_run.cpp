// SPDX-License-Identifier: Apache-2.0
#include "collectives/symbolic_run.h"

#include <utility>

#include <fmt/format.h>

#include "collectives/plan_error.h"
#include "collectives/text.h"

namespace gyre::plan {

namespace {

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

bool copies_to_itself(const Step& step) {
  return step.sources.size() == 1 && step.destinations.size() == 1 &&
         step.sources[0].place == Place::input && step.destinations[0].place == Place::output &&
         step.sources[0].block == step.destinations[0].block;
}

std::size_t history_size(const Plan& plan, int tiles, std::size_t buffers) {
  if (plan.protocol != Protocol::direct) return 0;
  return at(plan.ranks) * at(plan.blocks) * at(tiles) * buffers;
}

}  // namespace

SymbolicRun::SymbolicRun(const Plan& plan, const Goal& goal, int tiles, int slots)
    : plan_(plan),
      goal_(goal),
      tiles_(tiles),
      values_(plan.ranks, plan.blocks, tiles),
      fifos_(slots),
      outputs_(at(plan.ranks) * at(plan.blocks) * at(tiles), undefined_value),
      scratch_(at(plan.ranks) * at(plan.scratch_blocks)),
      positions_(at(plan.ranks)),
      clocks_(is_direct() ? plan.ranks : 0),
      apart_(history_size(plan, tiles, 2)),
      as_one_(history_size(plan, tiles, 1)),
      remote_(is_direct() ? plan.ranks : 0) {
  for (int rank = 0; rank < plan.ranks; ++rank) ready_.push_back(rank);
}

Status SymbolicRun::run() {
  while (!ready_.empty()) {
    const int rank = ready_.front();
    ready_.pop_front();
    GYRE_TRY(advance(rank));
  }
  for (const Position& position : positions_) {
    if (position.tile < tiles_) return deadlock();
  }
  return {};
}

// As far as the rank gets.
Status SymbolicRun::advance(int rank) {
  Position& position = positions_[at(rank)];
  const int steps = static_cast<int>(plan_.programs[at(rank)].size());
  if (steps == 0) position.tile = tiles_;
  while (position.tile < tiles_) {
    const Progress done = perform(rank, step_of(rank));
    if (!done) return Unexpected(done.error());
    if (!*done) return {};
    if (++position.step == steps) {
      position.step = 0;
      ++position.tile;
    }
  }
  return {};
}

SymbolicRun::Progress SymbolicRun::perform(int rank, const Step& step) {
  switch (step.kind) {
    case StepKind::combine:
      return combine(rank, step);
    case StepKind::wait:
      return wait(rank, step.peer);
    case StepKind::release:
      return release(rank, step.peer);
    case StepKind::await:
      return await(rank, step.peer);
    case StepKind::signal:
      signal(rank, step.peer);
      return true;
  }
  return fail_here(rank, "There is no such kind of step.");
}

SymbolicRun::Progress SymbolicRun::wait(int rank, int peer) {
  SymbolicFifo& fifo = fifos_.between(peer, rank);
  if (fifo.has_current()) {
    return fail_here(rank, "An earlier message of this peer is still current. Release it first.");
  }
  if (!fifo.has_message()) return block_on(rank, peer);
  fifo.take();
  return true;
}

SymbolicRun::Progress SymbolicRun::release(int rank, int peer) {
  SymbolicFifo& fifo = fifos_.between(peer, rank);
  if (!fifo.has_current()) {
    return fail_here(rank, "No message of this peer is current, so there is none to release.");
  }
  fifo.release();
  wake(peer, rank);
  return true;
}

void SymbolicRun::signal(int rank, int peer) {
  fifos_.between(rank, peer).signal({clocks_.snapshot(rank), positions_[at(rank)].step});
  wake(peer, rank);
}

SymbolicRun::Progress SymbolicRun::await(int rank, int peer) {
  SymbolicFifo& fifo = fifos_.between(peer, rank);
  if (!fifo.has_signal()) return block_on(rank, peer);
  clocks_.join(rank, *fifo.take_signal().clock);
  return true;
}

SymbolicRun::Progress SymbolicRun::combine(int rank, const Step& step) {
  if (blocked_on_slots(rank, step)) return false;
  if (is_direct()) clocks_.tick(rank);
  Result<ValueId> value = combined(rank, step);
  if (!value) return Unexpected(std::move(value).error());
  if (step.completes) GYRE_TRY(complete(rank, *value));
  for (const Slice& slice : step.destinations) GYRE_TRY(write(rank, slice, *value));
  return true;
}

bool SymbolicRun::blocked_on_slots(int rank, const Step& step) {
  for (const Slice& slice : step.destinations) {
    if (slice.place != Place::peer_slot) continue;
    if (fifos_.between(rank, slice.peer).has_free_slot()) continue;
    block_on(rank, slice.peer);
    return true;
  }
  return false;
}

Result<ValueId> SymbolicRun::combined(int rank, const Step& step) {
  operands_.clear();
  for (const Slice& slice : step.sources) {
    Result<ValueId> value = read(rank, slice);
    if (!value) return value;
    if (step.sources.size() > 1 && values_.is_completed(*value)) {
      return fail_here(rank, fmt::format("{} is complete already, and something is combined with "
                                         "it.",
                                         to_text(slice)));
    }
    if (!operands_.empty() && !values_.same_block(operands_[0], *value)) {
      return fail_here(rank, fmt::format("{} holds another block, or one of another tile, than {}.",
                                         to_text(slice), to_text(step.sources[0])));
    }
    operands_.push_back(*value);
  }
  return values_.combination(operands_);
}

// All contributions must be there, and `completes` must not have been said before.
Status SymbolicRun::complete(int rank, ValueId& value) {
  if (!goal_.reduces) return fail_here(rank, "This collective has no value to complete.");
  if (values_.is_completed(value)) return fail_here(rank, "The value was completed before.");
  const std::string fault = values_.why_incomplete(value);
  if (!fault.empty()) {
    return fail_here(rank, fmt::format("It completes a value that is not complete: {}.", fault));
  }
  value = values_.completion(value);
  return {};
}

Result<ValueId> SymbolicRun::read(int rank, const Slice& slice) {
  if (slice.place == Place::slot) return read_slot(rank, slice);
  if (slice.place == Place::scratch) return read_scratch(rank, slice);
  const bool remote = slice.place == Place::peer_input || slice.place == Place::peer_output;
  const bool output = slice.place == Place::output || slice.place == Place::peer_output;
  const int owner = remote ? slice.peer : rank;
  const int tile = positions_[at(rank)].tile;
  if (is_direct()) GYRE_TRY(record(rank, {owner, slice.block, output}, false));
  const ValueId written = outputs_[output_index(owner, tile, slice.block)];
  if (!output) {
    const ValueId contributed = values_.contribution(tile, owner, slice.block);
    // Where values are reduced, what a rank contributes may be scaled on its way to the output.
    if (written != undefined_value && (goal_.reduces || written != contributed)) {
      note_in_place(rank, "the output was written before");
    }
    return contributed;
  }
  if (written == undefined_value) {
    return fail_here(rank, fmt::format("{} is read before it was written.", to_text(slice)));
  }
  return written;
}

Result<ValueId> SymbolicRun::read_slot(int rank, const Slice& slice) {
  const SymbolicFifo& fifo = fifos_.between(slice.peer, rank);
  if (!fifo.has_current()) {
    return fail_here(
        rank, fmt::format("No message of peer {} is current. Wait for it first.", slice.peer));
  }
  if (fifo.current().block != slice.block) {
    return fail_here(rank, fmt::format("The current message of peer {} carries block {}, not {}.",
                                       slice.peer, fifo.current().block, slice.block));
  }
  return fifo.current().value;
}

Result<ValueId> SymbolicRun::read_scratch(int rank, const Slice& slice) const {
  const Scratch& held = scratch_[scratch_index(rank, slice)];
  if (held.value == undefined_value || held.tile != positions_[at(rank)].tile) {
    return fail_here(rank,
                     fmt::format("{} is read before it was written in this tile.", to_text(slice)));
  }
  if (held.block != slice.block) {
    return fail_here(rank, fmt::format("Scratch block {} holds block {}, not {}.", slice.scratch,
                                       held.block, slice.block));
  }
  return held.value;
}

Status SymbolicRun::write(int rank, const Slice& slice, ValueId value) {
  if (slice.place == Place::peer_slot) {
    fifos_.between(rank, slice.peer).put({value, slice.block, positions_[at(rank)].step});
    wake(slice.peer, rank);
    return {};
  }
  if (slice.place == Place::scratch) {
    scratch_[scratch_index(rank, slice)] = {value, slice.block, positions_[at(rank)].tile};
    return {};
  }
  const int owner = slice.place == Place::peer_output ? slice.peer : rank;
  if (is_direct()) GYRE_TRY(record(rank, {owner, slice.block, true}, true));
  outputs_[output_index(owner, positions_[at(rank)].tile, slice.block)] = value;
  return {};
}

Status SymbolicRun::record(int rank, const Buffer& buffer, bool writes) {
  const Position& position = positions_[at(rank)];
  const Access access{rank, position.step, clocks_.now(rank), writes};
  const std::size_t index = output_index(buffer.owner, position.tile, buffer.block);
  const auto describe = [&](const Access& other) {
    return fmt::format(
        "Block {} of the buffers of rank {} is {} here and {} by {}, and no signal "
        "orders the two",
        buffer.block, buffer.owner, writes ? "written" : "read", other.writes ? "written" : "read",
        locate(plan_, other.rank, other.step));
  };
  if (const auto race = apart_.add(2 * index + (buffer.output ? 1 : 0), access, clocks_)) {
    return fail_here(rank, describe(*race) + ". Await a signal of that rank first.");
  }
  // Where input and output are one buffer, what is copied from the one to the other stays as it is,
  // unless it is scaled.
  if (goal_.reduces || !copies_to_itself(step_of(rank))) {
    if (const auto race = as_one_.add(index, access, clocks_)) note_in_place(rank, describe(*race));
  }
  if (buffer.owner != rank) remote_.add(buffer.owner, access);
  return {};
}

}  // namespace gyre::plan
