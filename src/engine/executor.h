// SPDX-License-Identifier: Apache-2.0
// Runs one rank's program of a plan over connections: channel by channel, each as far as it gets,
// until every tile is done. It never blocks by itself (the waiter it is given does), starts no
// thread and allocates nothing once it is made.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collectives/geometry.h"
#include "collectives/plan.h"
#include "engine/combiner.h"
#include "engine/waiter.h"
#include "transport/connection.h"

namespace gyre::engine {

// A program laid out for running: steps in one array, their slices in another.
class CompiledProgram {
 public:
  struct Step {
    plan::StepKind kind;
    bool completes;
    std::int32_t peer;
    std::uint32_t destinations_at, destination_count;
    std::uint32_t sources_at, source_count;
    std::uint64_t contributions;  // bit i: source i is a rank's own input
    std::int32_t block;           // that all slices of a combine carry
  };

  CompiledProgram(const plan::Program& program, plan::Protocol protocol);
  CompiledProgram(CompiledProgram&&) = default;  // what points into it stays where it is
  CompiledProgram& operator=(CompiledProgram&&) = default;
  ~CompiledProgram() = default;

  [[nodiscard]] plan::Protocol protocol() const { return protocol_; }
  [[nodiscard]] std::span<const Step> steps() const { return steps_; }
  [[nodiscard]] std::span<const plan::Slice> destinations(const Step& step) const {
    return {slices_.data() + step.destinations_at, step.destination_count};
  }
  [[nodiscard]] std::span<const plan::Slice> sources(const Step& step) const {
    return {slices_.data() + step.sources_at, step.source_count};
  }
  // A program of one exchange: the input goes to peers in line, their messages are awaited, and all
  // is combined into the output in one step.
  struct Exchange {
    std::vector<std::int32_t> receivers, senders;
    const Step* combine = nullptr;
  };
  [[nodiscard]] const std::optional<Exchange>& exchange() const { return exchange_; }

 private:
  [[nodiscard]] std::optional<Exchange> find_exchange() const;

  plan::Protocol protocol_;
  std::vector<Step> steps_;
  std::vector<plan::Slice> slices_;
  std::optional<Exchange> exchange_;
};

// One call: where its bytes are.
struct Operands {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::span<std::byte* const> peer_inputs = {};  // by rank; direct plans only
  std::span<std::byte* const> peer_outputs = {};
  std::uint32_t tag = 0;         // signature of the call, in every message
  int first_channel = 0;         // of those that the geometry's channels are
  bool stream_results = false;   // they are too large to be worth caching
  bool stream_messages = false;  // slots are written past the caches
};

enum class Outcome : std::uint8_t { done, aborted, timed_out, mismatch };

// How an operation ends whose waiter said anything but poll_again.
[[nodiscard]] constexpr Outcome outcome_of(Waiter::Verdict verdict) {
  return verdict == Waiter::Verdict::aborted ? Outcome::aborted : Outcome::timed_out;
}

class Executor {
 public:
  // `connections` by rank, null for this rank itself; all outlive the executor.
  Executor(std::span<transport::Connection* const> connections, const transport::Shape& shape);

  // After mismatch, blamed() is the peer whose message belonged to another call; after timed_out
  // and aborted, the peer that was waited for (or -1).
  [[nodiscard]] Outcome run(const CompiledProgram& program, const plan::Geometry& geometry,
                            Combiner& combiner, const Operands& operands, Waiter& waiter);
  [[nodiscard]] int blamed() const { return blamed_; }

 private:
  enum class Advance : std::uint8_t { blocked, moved, mismatch };
  struct Channel {
    std::uint64_t turn = 0, turns = 0;
    std::size_t step = 0;
  };
  struct Run;  // what one call of run() refers to

  Outcome run_exchange(Run& run, Waiter& waiter);
  Outcome take_inline(Run& run, int peer, std::size_t bytes, Waiter& waiter);
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

  const std::byte* scaled_input(Run& run, plan::ElementRange range);
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
  std::vector<std::byte> inline_messages_;  // by peer, and one for what is sent
  int blamed_ = -1;
};

}  // namespace gyre::engine
