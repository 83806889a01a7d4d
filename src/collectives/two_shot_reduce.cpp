// SPDX-License-Identifier: Apache-2.0
// Reduce with the work shared out: rank j combines block j for all, and gives it to the root.
//
// Source: the reduce-scatter followed by a gather of R. Rabenseifner, "Optimization of collective
// reduction operations", ICCS 2004, section 2, each half in one exchange.
//
// With n ranks and S bytes: two steps; (n-1)/n S bytes sent by each rank and 1/n S to the root, which
// receives 2 (n-1)/n S where the flat tree's root receives (n-1) S and combines all of it. All blocks
// are combined in the order of ranks 0 .. n-1.
#include "collectives/steps.h"
#include "collectives/two_shot.h"

namespace gyre::plan {

Program two_shot_reduce(int rank, int ranks, int root) {
  Program program;
  const std::vector<int> senders = build::peers_to_receive(rank, ranks);
  for (const int peer : build::peers_to_send(rank, ranks)) {
    program.push_back(build::combine({build::input(peer)}, {build::peer_slot(peer, peer)}));
  }
  const Slice destination = rank == root ? build::output(rank) : build::peer_slot(root, rank);
  build::with_messages(program, senders,
                       build::complete(build::contributions(rank, ranks, rank), {destination}));
  if (rank != root) return program;
  for (const int peer : senders) build::take(program, peer, peer, {build::output(peer)});
  return program;
}

}  // namespace gyre::plan
