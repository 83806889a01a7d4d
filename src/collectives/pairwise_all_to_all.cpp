// SPDX-License-Identifier: Apache-2.0
// AllToAll in rounds, in each of which every rank exchanges with one other: in round k, r with k - r
// modulo n.
//
// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations
// in MPICH", International Journal of High Performance Computing Applications 19(1), 2005.
// (pairwise exchange). Their partners are r xor k, for powers of two only; the sum of partners being the
// same gives pairs for every n (the rounds of a round-robin tournament), and each rank's turn with
// itself is the copy of its own section.
//
// With n ranks and sections of S bytes: n rounds, (n-1) S bytes sent by each rank, the least there is. Each
// receives from one rank at a time, which one-shot leaves to chance: for long messages among many ranks.
//
// A rank sends to its next partner before it waits for the present one. Nothing is overwritten that is
// still to be sent, in place either: what comes from a rank lies where the section for it was.
#include "collectives/log_sections.h"
#include "collectives/steps.h"

namespace gyre::plan {

Program pairwise_all_to_all(int rank, int ranks) {
  Program program;
  const auto partner = [&](int round) { return (round - rank + ranks) % ranks; };
  for (int round = 0; round <= ranks; ++round) {
    if (const int peer = partner(round); round < ranks && peer != rank) {
      program.push_back(build::combine({build::input(peer)}, {build::peer_slot(peer, peer)}));
    }
    if (round == 0) continue;
    const int peer = partner(round - 1);
    if (peer == rank) {
      program.push_back(build::combine({build::input(rank)}, {build::output(rank)}));
      continue;
    }
    build::take(program, peer, rank, {build::output(peer)});
  }
  return program;
}

}  // namespace gyre::plan
