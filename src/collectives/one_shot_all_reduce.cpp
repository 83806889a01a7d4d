// SPDX-License-Identifier: Apache-2.0
// One-shot: everybody gives everything to everybody, each combines all of it for itself.
//
// Source: the all-to-all broadcast followed by a local reduction, e.g. A. Grama, A. Gupta,
// G. Karypis, V. Kumar, "Introduction to Parallel Computing", 2nd edition, section 4.2.
//
// With n ranks and S bytes: one exchange, (n-1) S bytes sent and received by each rank, n S bytes
// read by its reduction. The least latency there is, at the price of n/2 times the bytes of the
// ring: for small S. All ranks combine in the order 0 .. n-1.
#include "collectives/all_reduce.h"
#include "collectives/steps.h"

namespace gyre::plan {

namespace {

constexpr int whole_tile = 0;  // one-shot does not cut a tile: its only block

Program through_slots(int rank, int ranks) {
  Program program;
  for (const int peer : build::peers_to_send(rank, ranks)) {
    program.push_back(
        build::combine({build::input(whole_tile)}, {build::peer_slot(peer, whole_tile)}));
  }
  build::with_messages(
      program, build::peers_to_receive(rank, ranks),
      build::complete(build::contributions(rank, ranks, whole_tile), {build::output(whole_tile)}));
  return program;
}

// Reads the peers' inputs where they lie. A rank may end (and its caller overwrite the input) only
// after all others have read it: each tells each.
Program out_of_peers_inputs(int rank, int ranks) {
  Program program = {build::complete(build::mapped_contributions(rank, ranks, whole_tile),
                                     {build::output(whole_tile)})};
  build::meet(program, rank, ranks);
  return program;
}

}  // namespace

Program one_shot_all_reduce(int rank, int ranks, Protocol protocol) {
  return protocol == Protocol::direct ? out_of_peers_inputs(rank, ranks)
                                      : through_slots(rank, ranks);
}

}  // namespace gyre::plan
