// SPDX-License-Identifier: Apache-2.0
// A collective compiled to data: for each rank a short straight-line program over blocks.
//
// Vocabulary.
//   tile     the part of the operation that one run of the program covers. The executor cuts the
//            elements into tiles, deals them to channels in turn, and each channel runs the program
//            once a tile, in order.
//   block    one of Plan::blocks equal parts of a tile (the last ones may be shorter, or empty). Where
//            a buffer has a section for each rank (layout.h), block b is the tile's part of section b.
//   channel  an independent copy of the program with FIFOs of its own. Several channels keep
//            several tiles in flight; they share no slot, no counter and no element.
//   message  what one put delivers: at most one block, into the next slot of a FIFO. There is one
//            FIFO per (channel, sender, receiver). It has Plan::slots slots. A put waits until a
//            slot is free; the receiver frees it with release.
//   scratch  memory of a rank for values on their way: Plan::scratch_blocks blocks for each channel, each
//            large enough for any block of a tile. What it holds ends with the tile.
//   current  wait(p) makes the oldest unreleased message from p the current one, named
//            {Place::slot, p}; release(p) frees it. At most one message per peer is current.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gyre::plan {

enum class Collective : std::uint8_t {
  all_reduce,
  reduce,
  reduce_scatter,
  all_gather,
  broadcast,
  gather,
  scatter,
  all_to_all,
  all_to_all_v,
  barrier,
  send_recv,
  all_gather_v,
  reduce_scatter_v,
};

// How messages travel. The program is the same for flag_in_line and staged.
enum class Protocol : std::uint8_t {
  flag_in_line,  // small messages: bytes and their flag share cache lines
  staged,        // blocks through cache-resident slots
  direct,        // peers' inputs and outputs are mapped: no slots, only signals
};

enum class Place : std::uint8_t {
  input,        // this rank's contribution, block `block`; read only
  output,       // this rank's result, block `block`
  slot,         // the current message from `peer`
  peer_slot,    // the next free slot of the FIFO to `peer`; writing it is the put
  peer_input,   // direct: block `block` of the input of `peer`; read only
  peer_output,  // direct: block `block` of the output of `peer`
  scratch,  // this rank's scratch block `scratch`, which holds block `block`; not in direct plans
};

struct Slice {
  Place place = Place::input;
  std::int32_t block = 0;  // block of the tile; for slot, peer_slot and scratch: the one it carries
  std::int32_t peer = -1;  // for slot, peer_slot, peer_input, peer_output
  std::int32_t scratch = -1;  // for scratch: which of the rank's scratch blocks
  friend bool operator==(const Slice&, const Slice&) = default;
};

enum class StepKind : std::uint8_t {
  combine,  // destinations[*] = sources[0] op sources[1] op ...; one source: a copy.
            // A destination peer_slot makes it a put: waits for a free slot, writes, then signals.
  wait,     // until a message from `peer` is there; it becomes the current one
  release,  // frees the current message of `peer`
  signal,   // direct: tells `peer` that all earlier steps of this rank are done
  await,    // direct: until `peer` has signalled once more
};

struct Step {
  StepKind kind = StepKind::combine;
  std::int32_t peer = -1;           // wait, release, signal, await
  std::vector<Slice> destinations;  // combine
  std::vector<Slice> sources;       // combine, in the order of combination
  // combine: the value is complete, so an integer average is divided now.
  bool completes = false;
  friend bool operator==(const Step&, const Step&) = default;
};

using Program = std::vector<Step>;

struct Plan {
  std::string name;  // "ring", "oneshot", "twoshot"
  Collective collective = Collective::all_reduce;
  Protocol protocol = Protocol::staged;
  std::int32_t ranks = 1;
  std::int32_t root = -1;  // of collectives that have one
  std::int32_t blocks = 1;
  std::int32_t slots = 2;  // of each FIFO that the plan needs in order not to deadlock, at least
  std::int32_t scratch_blocks = 0;  // of each rank and channel
  bool in_place_safe = true;        // may run with input == output
  std::vector<Program> programs;    // by rank
};

// "ring/staged": what the user sees.
[[nodiscard]] std::string title(const Plan& plan);

}  // namespace gyre::plan
