// SPDX-License-Identifier: Apache-2.0
// One exchange among all ranks, for the collectives whose ranks all do the same: AllGather,
// ReduceScatter, AllToAll.
//
// Source: the personalised and non-personalised all-to-all of A. Grama, A. Gupta, G. Karypis,
// V. Kumar, "Introduction to Parallel Computing", 2nd edition, sections 4.2 and 4.5, with all
// partners served in one round, as a network in which every pair is connected allows. The order of
// partners is staggered (rank + 1, rank + 2, ...), so that no receiver is everybody's first.
//
// With n ranks and sections of S bytes: one step, (n-1) S bytes sent and received by each rank,
// which is the least for all three of them.
#include "collectives/one_shot.h"
#include "collectives/steps.h"

namespace gyre::plan {

Program one_shot_all_gather(int rank, int ranks) {
  Program program;
  for (const int peer : build::peers_to_send(rank, ranks)) {
    program.push_back(build::combine({build::input(rank)}, {build::peer_slot(peer, rank)}));
  }
  program.push_back(build::combine({build::input(rank)}, {build::output(rank)}));
  for (const int peer : build::peers_to_receive(rank, ranks)) {
    build::take(program, peer, peer, {build::output(peer)});
  }
  return program;
}

// Contributions are combined in the order of ranks 0 .. n-1.
Program one_shot_reduce_scatter(int rank, int ranks) {
  Program program;
  for (const int peer : build::peers_to_send(rank, ranks)) {
    program.push_back(build::combine({build::input(peer)}, {build::peer_slot(peer, peer)}));
  }
  build::with_messages(
      program, build::peers_to_receive(rank, ranks),
      build::complete(build::contributions(rank, ranks, rank), {build::output(rank)}));
  return program;
}

Program one_shot_all_to_all(int rank, int ranks) {
  Program program;
  for (const int peer : build::peers_to_send(rank, ranks)) {
    program.push_back(build::combine({build::input(peer)}, {build::peer_slot(peer, peer)}));
  }
  program.push_back(build::combine({build::input(rank)}, {build::output(rank)}));
  for (const int peer : build::peers_to_receive(rank, ranks)) {
    build::take(program, peer, rank, {build::output(peer)});
  }
  return program;
}

}  // namespace gyre::plan
