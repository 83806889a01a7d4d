// SPDX-License-Identifier: Apache-2.0
// Programs of one exchange, which is what two ranks run: the same steps as Executor::advance() would
// do, in a loop without interpretation. Since nothing that is sent depends on what came, inputs go
// out as far ahead as there are slots.
#include "engine/executor.h"

namespace gyre::engine {

using transport::Arrival;

// A message of a few bytes is there before the book-keeping of channels and tiles would be done.
Outcome Executor::run_inline_exchange(Run& run, Waiter& waiter) {
  const CompiledProgram::Exchange& exchange = *run.program.exchange();
  const CompiledProgram::Step& step = *exchange.combine;
  const plan::ElementRange all = run.geometry.tile(0);
  const std::size_t bytes = all.length * run.combiner.element_bytes();
  const std::byte* message = scaled_input(run, 0, all);
  for (const std::int32_t peer : exchange.receivers) {
    connections_[static_cast<std::size_t>(peer)]->put_inline({message, bytes}, run.operands.tag);
  }
  for (const CompiledProgram::Exchange::Sender sender : exchange.senders) {
    const Outcome outcome = take_inline(run, sender, bytes, waiter);
    if (outcome != Outcome::done) [[unlikely]] {
      return outcome;
    }
  }
  sources_[exchange.own_source] = run.operands.input;
  std::byte* const to = run.operands.output;
  run.combiner.combine({&to, 1}, {sources_.data(), step.source_count}, step.contributions,
                       all.length, StoreHint::cached, step.completes);
  return Outcome::done;
}

// Waits for the small message of a peer.
Outcome Executor::take_inline(Run& run, CompiledProgram::Exchange::Sender sender, std::size_t bytes,
                              Waiter& waiter) {
  transport::Connection& connection = *connections_[static_cast<std::size_t>(sender.peer)];
  const std::span<std::byte> space(inline_message(sender.peer), bytes);
  const std::byte** const message = &sources_[sender.source];
  blamed_ = sender.peer;
  Arrival arrival = connection.poll_inline(space, run.operands.tag, message);
  while (arrival == Arrival::pending) {
    const Waiter::Verdict verdict = waiter.pause();
    if (verdict != Waiter::Verdict::poll_again) [[unlikely]] {
      return outcome_of(verdict);
    }
    arrival = connection.poll_inline(space, run.operands.tag, message);
  }
  if (arrival == Arrival::mismatch) [[unlikely]] {
    return Outcome::mismatch;
  }
  waiter.progressed();
  return Outcome::done;
}

// What this rank contributes, as peers get it.
const std::byte* Executor::scaled_input(Run& run, std::int32_t block, plan::ElementRange range) {
  const std::byte* message = run.operands.input + range.offset * run.combiner.element_bytes() +
                             static_cast<std::uint64_t>(block) * run.operands.input_stride;
  if (!run.combiner.scales()) {
    return message;
  }
  std::byte* scaled = inline_message(static_cast<int>(connections_.size()));
  run.combiner.combine({&scaled, 1}, {&message, 1}, 1, range.length, StoreHint::cached, false);
  return scaled;
}

Outcome Executor::run_staged_exchange(Run& run, Waiter& waiter) {
  const CompiledProgram::Exchange& exchange = *run.program.exchange();
  const CompiledProgram::Step& step = *exchange.combine;
  const Operands& operands = run.operands;
  const std::uint64_t tiles = run.geometry.tiles();
  const StoreHint hint{.streamed = operands.stream_results ? std::uint64_t{1} : 0};
  std::uint64_t sent = 0;
  for (std::uint64_t tile = 0; tile < tiles; ++tile) {
    Outcome outcome = send_ahead(run, tile, sent, waiter);
    for (auto sender = exchange.senders.begin();
         sender != exchange.senders.end() && outcome == Outcome::done; ++sender) {
      outcome = take_slot(run, *sender, waiter);
    }
    if (outcome != Outcome::done) [[unlikely]] {
      return outcome;
    }
    const plan::ElementRange range = run.geometry.tile(tile);
    const std::uint64_t offset = range.offset * run.combiner.element_bytes();
    sources_[exchange.own_source] = operands.input + offset;
    std::byte* const to = operands.output + offset;
    run.combiner.combine({&to, 1}, {sources_.data(), step.source_count}, step.contributions,
                         range.length, hint, step.completes);
    for (const CompiledProgram::Exchange::Sender sender : exchange.senders) {
      connections_[static_cast<std::size_t>(sender.peer)]->release(operands.first_channel);
    }
  }
  return Outcome::done;
}

// Sends as many inputs as find free slots; waits only for the one of tile `due`.
Outcome Executor::send_ahead(Run& run, std::uint64_t due, std::uint64_t& sent, Waiter& waiter) {
  while (sent < run.geometry.tiles()) {
    if (find_free_slots(*run.program.exchange(), run.operands.first_channel)) {
      send_input(run, sent++);
      continue;
    }
    if (sent > due) {
      return Outcome::done;
    }
    const Waiter::Verdict verdict = waiter.pause();
    if (verdict != Waiter::Verdict::poll_again) [[unlikely]] {
      return outcome_of(verdict);
    }
  }
  return Outcome::done;
}

// One at every receiver, or none: then nothing is lost by asking again.
bool Executor::find_free_slots(const CompiledProgram::Exchange& exchange, int channel) {
  std::size_t i = 0;
  for (const std::int32_t peer : exchange.receivers) {
    std::byte* const slot = connections_[static_cast<std::size_t>(peer)]->slot_to_fill(channel);
    if (slot == nullptr) {
      blamed_ = peer;
      return false;
    }
    destinations_[i++] = slot;
  }
  return true;
}

// To the slots that find_free_slots found.
void Executor::send_input(Run& run, std::uint64_t tile) {
  const plan::ElementRange range = run.geometry.tile(tile);
  const std::size_t element = run.combiner.element_bytes();
  const std::byte* const from = run.operands.input + range.offset * element;
  const auto& receivers = run.program.exchange()->receivers;
  const StoreHint hint = run.operands.stream_messages ? StoreHint::streaming : StoreHint::cached;
  run.combiner.combine({destinations_.data(), receivers.size()}, {&from, 1}, 1, range.length, hint,
                       false);
  for (const std::int32_t peer : receivers) {
    connections_[static_cast<std::size_t>(peer)]->put(run.operands.first_channel,
                                                      range.length * element, run.operands.tag);
  }
}

// Waits for the next slot of a peer.
Outcome Executor::take_slot(Run& run, CompiledProgram::Exchange::Sender sender, Waiter& waiter) {
  transport::Connection& connection = *connections_[static_cast<std::size_t>(sender.peer)];
  const int channel = run.operands.first_channel;
  const std::byte** const message = &sources_[sender.source];
  blamed_ = sender.peer;
  Arrival arrival = connection.arrived(channel, run.operands.tag, message);
  while (arrival == Arrival::pending) {
    const Waiter::Verdict verdict = waiter.pause();
    if (verdict != Waiter::Verdict::poll_again) [[unlikely]] {
      return outcome_of(verdict);
    }
    arrival = connection.arrived(channel, run.operands.tag, message);
  }
  if (arrival == Arrival::mismatch) [[unlikely]] {
    return Outcome::mismatch;
  }
  waiter.progressed();
  return Outcome::done;
}

}  // namespace gyre::engine
