// SPDX-License-Identifier: Apache-2.0
// Which algorithm, protocol, number of channels and slot size a collective runs with.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.h"
#include "collectives/algorithm.h"
#include "collectives/catalog.h"
#include "collectives/cost_model.h"
#include "collectives/hierarchy.h"

namespace gyre::plan {

// Everything here must be equal on all ranks of the communicator, so that all choose alike.
struct ChoiceInput {
  std::uint64_t bytes = 0;  // of the buffer, or of one section
  std::uint64_t element_bytes = 1;
  int ranks = 1;
  int local_cpus = 1;            // that the ranks of one host share
  bool direct_possible = false;  // every rank can map every other rank's input and output
  bool in_place = false;         // on any rank
  bool keeps_order = false;      // contributions combine in the order of ranks
  bool reproducible = false;     // GYRE_REPRODUCIBLE: in the canonical order (verifier.h)

  // Forced by the user; nothing or 0: chosen.
  std::optional<Algorithm> algorithm = {};  // GYRE_ALGO
  std::optional<Protocol> protocol = {};    // GYRE_PROTO
  std::uint64_t chunk_bytes = 0;            // GYRE_CHUNK
  int channels = 0;                         // GYRE_CHANNELS
  Hierarchy hierarchy = {};                 // for the hierarchical ones
  std::optional<LinkCosts> costs = {};      // measured; nothing: rules alone decide
};

struct Choice {
  Algorithm algorithm = Algorithm::one_shot;
  Protocol protocol = Protocol::staged;
  int channels = 1;
  std::uint64_t slot_bytes = 0;  // unbounded_slot for direct
  std::string_view reason;       // static text, one clause
};

// Whether to look for mapped buffers at all. `bytes` as in ChoiceInput.
[[nodiscard]] bool direct_pays(Collective collective, int ranks, std::uint64_t bytes);

// What is said where an algorithm is forced that GYRE_REPRODUCIBLE does not admit.
[[nodiscard]] Unexpected refuse_order(Collective collective, Algorithm algorithm);

// A pure function. Fails only for a forced combination that cannot run.
[[nodiscard]] Result<Choice> choose_all_reduce(const ChoiceInput& input);
// The same for any collective (chooser_sections.cpp).
[[nodiscard]] Result<Choice> choose_by_rules(Collective collective, const ChoiceInput& input);
// By rules, unless the costs say that something else is clearly faster.
[[nodiscard]] Result<Choice> choose(Collective collective, const ChoiceInput& input);
// What a choice builds, for root 0: plans for other roots take as long.
[[nodiscard]] Recipe recipe_of(Collective collective, const Choice& choice,
                               const ChoiceInput& input);
// How a plan that the user brought runs (chooser_sizes.cpp).
[[nodiscard]] Choice choose_sizes(const Plan& plan, const ChoiceInput& input);

// The limits of the choice and the sizes of slots, in one place to be tuned by measurement.
struct ChoiceLimits {
  // The executor tells a step's contributions from partial results in a mask of 64 bits: programs that
  // name every rank in one step end there.
  int most_sources = 64;
  // Up to here latency decides: one exchange, flags in line.
  std::uint64_t inline_bytes = 1024;
  // Mapped buffers: from here on the two rounds of signals between more than two ranks pay.
  std::uint64_t direct_bytes = 4 * 1024;
  // Staged: whole inputs are exchanged (one-shot) as long as a rank sends no more than this. Between
  // two ranks that is as many bytes as two-shot moves, with one hand-over instead of two; above,
  // half of the reduction for each rank pays.
  std::uint64_t pair_exchange_bytes = 128 * 1024;
  std::uint64_t exchange_sent_bytes = 48 * 1024;
  // Staged: the two exchanges of two-shot beat the 2 (n-1) hops of a ring up to so many ranks at any
  // size, and up to more at smaller ones.
  int two_shot_ranks = 8;
  int two_shot_most_ranks = 16;
  std::uint64_t two_shot_bytes = 512 * 1024;
  // Slots rotate through more memory than a second-level cache holds: when a line is written it is no
  // longer in the reader's cache, from where it would have to be fetched first.
  std::uint64_t slot = 128 * 1024;
  int slots = 8;
  std::uint64_t exchange_slot = 32 * 1024;  // of the one channel for exchanges
  int exchange_slots = 32;
  int pair_exchange_slots = 128;
  // Broadcast and Reduce: short messages, and ranks that a root serves by itself.
  std::uint64_t rooted_small_bytes = 16 * 1024;
  int flat_ranks = 8;
  // Tiles in flight. Where ranks share a CPU, what is in flight waits for its turn on it anyway.
  int channels = 2;
  int channels_oversubscribed = 1;
};
inline constexpr ChoiceLimits choice_limits;

}  // namespace gyre::plan
