// SPDX-License-Identifier: Apache-2.0
// Runs one rank's program of a plan over connections: channel by channel, each as far as it gets,
// until every tile is done. It never blocks by itself (the waiter it is given does), starts no
// thread and allocates nothing once it is made.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/geometry.h"
#include "collectives/plan.h"
#include "engine/combiner.h"
#include "engine/compiled_program.h"
#include "engine/waiter.h"
#include "transport/connection.h"

namespace gyre::engine {

// One call: where its bytes are.
struct Operands {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::span<std::byte* const> peer_inputs = {};  // by rank; direct plans only
  std::span<std::byte* const> peer_outputs = {};
  // Bytes from one section to the next, where a buffer has sections; else 0.
  std::uint64_t input_stride = 0, output_stride = 0;
  std::uint32_t tag = 0;         // signature of the call, in every message
  int first_channel = 0;         // of those that the geometry's channels are
  bool stream_results = false;   // they are too large to be worth caching
  bool stream_messages = false;  // slots are written past the caches
};

enum class Outcome : std::uint8_t { done, aborted, timed_out, mismatch };

// How an operation ends whose waiter said anything but poll_again.
[[nodiscard]] constexpr Outcome outcome_of(Waiter::Verdict verdict) {
  if (verdict == Waiter::Verdict::mismatch) {
    return Outcome::mismatch;
  }
  return verdict == Waiter::Verdict::aborted ? Outcome::aborted : Outcome::timed_out;
}

// How far a look at everything that could go on has got.
enum class Advance : std::uint8_t { blocked, moved, mismatch };

// Looks again and again, by advance_all(), and waits in between, until nothing is left().
template <typename Left, typename AdvanceAll>
[[nodiscard]] Outcome advance_until_done(Waiter& waiter, Left&& left, AdvanceAll&& advance_all) {
  while (left()) {
    const Advance result = advance_all();
    if (result == Advance::mismatch) {
      return Outcome::mismatch;
    }
    if (result == Advance::moved) {
      waiter.progressed();
      continue;
    }
    const Waiter::Verdict verdict = waiter.pause();
    if (verdict != Waiter::Verdict::poll_again) [[unlikely]] {
      return outcome_of(verdict);
    }
  }
  return Outcome::done;
}

class Executor {
 public:
  // `connections` by rank, null for this rank itself; all outlive the executor.
  Executor(std::span<transport::Connection* const> connections, const transport::Shape& shape);

  // Before a program with scratch runs for the first time: run() then allocates nothing. Answers how
  // many cache lines a scratch block has.
  std::size_t reserve_scratch(const CompiledProgram& program, const plan::Geometry& geometry,
                              std::size_t element_bytes);

  // After mismatch, blamed() is the peer whose message belonged to another call; after timed_out
  // and aborted, the peer that was waited for (or -1).
  [[nodiscard]] Outcome run(const CompiledProgram& program, const plan::Geometry& geometry,
                            Combiner& combiner, const Operands& operands, Waiter& waiter);
  [[nodiscard]] int blamed() const { return blamed_; }

 private:
  struct Channel {
    std::uint64_t turn = 0, turns = 0;
    std::size_t step = 0;
  };
  // What one call of run() refers to.
  struct Run {
    const CompiledProgram& program;
    const plan::Geometry& geometry;
    Combiner& combiner;
    const Operands& operands;
    int live_channels;
    std::size_t scratch_lines;  // of one scratch block
  };
  struct alignas(64) CacheLine {
    std::array<std::byte, 64> bytes;
  };

  Outcome run_one_tile(Run& run, Waiter& waiter);
  Outcome run_channels(Run& run, Waiter& waiter);
  // executor_exchange.cpp
  Outcome run_inline_exchange(Run& run, Waiter& waiter);
  Outcome run_staged_exchange(Run& run, Waiter& waiter);
  Outcome take_inline(Run& run, CompiledProgram::Exchange::Sender sender, std::size_t bytes,
                      Waiter& waiter);
  Outcome take_slot(Run& run, CompiledProgram::Exchange::Sender sender, Waiter& waiter);
  Outcome send_ahead(Run& run, std::uint64_t due, std::uint64_t& sent, Waiter& waiter);
  bool find_free_slots(const CompiledProgram::Exchange& exchange, int channel);
  void send_input(Run& run, std::uint64_t tile);
  const std::byte* scaled_input(Run& run, std::int32_t block, plan::ElementRange range);

  Advance advance_all(Run& run, int first, int end);
  Advance advance(Run& run, int channel);
  Advance do_step(Run& run, int channel, const CompiledProgram::Step& step);
  Advance do_wait(Run& run, int channel, const CompiledProgram::Step& step);
  Advance do_combine(Run& run, int channel, const CompiledProgram::Step& step);
  Advance put_in_line(Run& run, const CompiledProgram::Step& step, plan::ElementRange range);
  void gather_sources(Run& run, int channel, const CompiledProgram::Step& step,
                      std::uint64_t offset_bytes);
  bool gather_destinations(Run& run, int channel, const CompiledProgram::Step& step,
                           std::uint64_t offset_bytes);

  [[nodiscard]] std::byte* scratch(const Run& run, int channel, const plan::Slice& slice);
  [[nodiscard]] std::byte* inline_message(int peer) {
    return inline_messages_.data() + static_cast<std::size_t>(peer) * inline_stride_;
  }
  [[nodiscard]] std::uint64_t tile_of(const Run& run, int channel) const;
  [[nodiscard]] std::size_t message_at(int channel, int peer) const {
    return static_cast<std::size_t>(channel) * connections_.size() + static_cast<std::size_t>(peer);
  }

  std::vector<transport::Connection*> connections_;
  std::size_t inline_stride_;
  std::vector<Channel> channels_;
  std::vector<const std::byte*> current_;  // message by (channel, peer)
  std::vector<const std::byte*> sources_;
  std::vector<std::byte*> destinations_;
  std::vector<CacheLine> scratch_;          // by (channel of the call, scratch block)
  std::vector<std::byte> inline_messages_;  // by peer, and one for what is sent
  int blamed_ = -1;
};

}  // namespace gyre::engine
