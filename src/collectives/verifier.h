// SPDX-License-Identifier: Apache-2.0
// Proves a plan right by running it on symbols, before it may touch data.
#pragma once

#include "base/status.h"
#include "collectives/plan.h"

namespace gyre::plan {

struct VerifyOptions {
  int tiles = 2;  // consecutive runs of the program; 2 show what a run leaves to the next
  int slots = 0;  // of each FIFO; 0: as many as the plan says that it needs
};

// Checks, in this order, and answers with the first fault, naming rank, step and reason:
//   structure   peers, blocks and places exist and fit the protocol; one current message per peer
//   scratch     within what the plan declares; read only after it was written in the same tile
//   progress    no interleaving deadlocks with that many slots, or more
//   races       direct plans: conflicting accesses are ordered by signals; none outlasts its buffer
//   leftovers   every message is waited for and released, every signal awaited
//   values      every output block holds each contribution that the collective asks for, once,
//               is completed once, and reductions are the same expression on all ranks
//   in place    in_place_safe says whether input and output may be one buffer
// docs/plans.md says why one execution decides for all.
[[nodiscard]] Status verify(const Plan& plan, const VerifyOptions& options = {});

// The same checks, and then whether the plan has the canonical order: each block of a result is one
// combination of all contributions, in the order of ranks 0, 1, ..., n-1. Two plans that have it give
// the same bits, however they cut and move the data: the same operands meet in the same order and are
// rounded in the same places. Plans that do not reduce have it: they move bytes.
[[nodiscard]] Result<bool> has_canonical_order(const Plan& plan, const VerifyOptions& options = {});

}  // namespace gyre::plan
