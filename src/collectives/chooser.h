// SPDX-License-Identifier: Apache-2.0
// Which algorithm, protocol, number of channels and slot size an AllReduce runs with.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.h"
#include "collectives/algorithm.h"

namespace gyre::plan {

// Everything here must be equal on all ranks of the communicator, so that all choose alike.
struct ChoiceInput {
  std::uint64_t bytes = 0;
  std::uint64_t element_bytes = 1;
  int ranks = 1;
  int local_cpus = 1;            // that the ranks of one host share
  bool direct_possible = false;  // every rank can map every other rank's input and output
  bool in_place = false;         // on any rank
  std::uint64_t l2_bytes = 0;    // of one core's L2 cache; 0: not known
  int slots = 2;                 // of each FIFO
  bool keeps_order = false;      // contributions combine in the order of ranks: no ring

  // Forced by the user; nothing or 0: chosen.
  std::optional<Algorithm> algorithm = {};  // GYRE_ALGO
  std::optional<Protocol> protocol = {};    // GYRE_PROTO
  std::uint64_t chunk_bytes = 0;            // GYRE_CHUNK
  int channels = 0;                         // GYRE_CHANNELS
};

struct Choice {
  Algorithm algorithm = Algorithm::one_shot;
  Protocol protocol = Protocol::staged;
  int channels = 1;
  std::uint64_t slot_bytes = 0;  // unbounded_slot for direct
  std::string_view reason;       // static text, one clause
};

// A pure function. Fails only for a forced combination that cannot run.
[[nodiscard]] Result<Choice> choose_all_reduce(const ChoiceInput& input);

// The limits of the choice, in one place to be tuned by measurement.
struct ChoiceLimits {
  // Up to here latency decides: one exchange, flags in line. Above, or if peers' buffers are
  // mapped, the bytes that one-shot sends (ranks - 1 times the message) cost more than they save.
  std::uint64_t inline_bytes = 4 * 1024;
  std::uint64_t exchange_inline_bytes = 1024;  // the same between two ranks
  // Staged, two ranks: whole inputs are exchanged (one-shot) up to here: as many bytes as two-shot
  // moves, with one hand-over instead of two, in one channel of small slots. Above, half of the
  // reduction for each rank pays.
  int pair_ranks = 2;
  std::uint64_t pair_exchange_bytes = 128 * 1024;
  std::uint64_t pair_exchange_slot = 16 * 1024;
  int pair_exchange_slots = 256;
  std::uint64_t pair_slot = 128 * 1024;
  int pair_slots = 8;
  int pair_channels = 2;
  // Staged: up to so many ranks the two exchanges of two-shot beat the 2 (n-1) hops of a ring.
  int two_shot_ranks = 8;
  // Payload of a slot: large enough to hide the hand-over (about 100 ns) behind the copy, small
  // enough that writer and reader meet in the cache.
  std::uint64_t largest_slot = 32 * 1024;
  std::uint64_t smallest_slot = 4 * 1024;
  // Tiles in flight. More when ranks share a CPU: each turn on it should find work.
  int channels = 2;
  int channels_oversubscribed = 4;
  std::uint64_t fallback_l2_bytes = 1024 * 1024;
};
inline constexpr ChoiceLimits choice_limits;

}  // namespace gyre::plan
