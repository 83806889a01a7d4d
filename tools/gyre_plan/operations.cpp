// SPDX-License-Identifier: Apache-2.0
#include "gyre_plan/operations.h"

#include <map>
#include <utility>

#include "collectives/layout.h"

namespace gyre::tool {
namespace {

using Numbers = std::vector<std::uint32_t>;

// One channel of one rank.
class ChannelUnroller {
 public:
  ChannelUnroller(const Unrolling& how, bool sectioned, int channel,
                  std::vector<Operation>& operations)
      : how_(how), sectioned_(sectioned), channel_(channel), operations_(operations) {}

  void add_tile(const plan::Program& program, std::uint64_t tile) {
    for (const plan::Step& step : program) {
      switch (step.kind) {
        case plan::StepKind::wait:
          add_receive(step.peer);
          break;
        case plan::StepKind::release:
          fifos_[step.peer].released_after.push_back(last_);
          break;
        default:
          add_combine(step, tile);
      }
    }
  }

 private:
  struct Fifo {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::vector<Numbers> released_after;
  };

  // How long the message is, is known where it is used.
  void add_receive(std::int32_t peer) {
    Fifo& fifo = fifos_[peer];
    const std::uint64_t number = fifo.received++;
    Operation receive{.kind = Operation::Kind::receive, .peer = peer, .tag = tag_of(number)};
    const auto slots = static_cast<std::uint64_t>(how_.slots);
    if (number >= slots) receive.after = fifo.released_after[number - slots];
    current_[peer] = add(std::move(receive));
    last_.push_back(current_[peer]);
  }

  void add_combine(const plan::Step& step, std::uint64_t tile) {
    const std::int32_t block = sectioned_ ? 0 : step.destinations.front().block;
    const std::uint64_t bytes =
        how_.geometry.block(tile, static_cast<std::uint64_t>(block)).length * how_.element_bytes;
    std::uint64_t combined = 0;
    for (const plan::Slice& slice : step.sources) {
      if (slice.place != plan::Place::slot) continue;
      operations_[current_[slice.peer]].bytes = bytes;
      combined += step.sources.size() > 1 ? bytes : 0;
    }
    // A computation also joins what it comes after, so that what follows needs to name only it.
    if (combined > 0 || last_.size() > 1) {
      last_ = {add({.kind = Operation::Kind::compute, .bytes = combined, .after = last_})};
    }
    for (const plan::Slice& slice : step.destinations) {
      if (slice.place != plan::Place::peer_slot) continue;
      add({.kind = Operation::Kind::send,
           .peer = slice.peer,
           .bytes = bytes,
           .tag = tag_of(fifos_[slice.peer].sent++),
           .after = last_});
    }
  }

  std::uint32_t add(Operation operation) {
    operations_.push_back(std::move(operation));
    return static_cast<std::uint32_t>(operations_.size() - 1);
  }

  [[nodiscard]] std::uint64_t tag_of(std::uint64_t number) const {
    return number * static_cast<std::uint64_t>(how_.channels) +
           static_cast<std::uint64_t>(channel_);
  }

  const Unrolling& how_;
  bool sectioned_;
  int channel_;
  std::vector<Operation>& operations_;
  std::map<std::int32_t, Fifo> fifos_;             // by peer, both directions
  std::map<std::int32_t, std::uint32_t> current_;  // the receive of the current message of a peer
  Numbers last_;                                   // what the next step of the program comes after
};

}  // namespace

Result<std::vector<Operation>> unroll(const plan::Plan& description, const plan::Program& program,
                                      const Unrolling& how) {
  if (description.protocol == plan::Protocol::direct) {
    return fail(Code::not_supported,
                "A direct plan reads and writes its peers' memory and sends no messages: neither "
                "GOAL nor Chakra can say that. Export the staged plan.");
  }
  const bool sectioned = plan::layout_of(description.collective).sectioned;
  std::vector<Operation> operations;
  for (int channel = 0; channel < how.channels; ++channel) {
    ChannelUnroller unroller(how, sectioned, channel, operations);
    const auto number = static_cast<std::uint64_t>(channel);
    for (std::uint64_t turn = 0; turn < how.geometry.tiles_of(number); ++turn) {
      unroller.add_tile(program, how.geometry.tile_of(number, turn));
    }
  }
  return operations;
}

}  // namespace gyre::tool
