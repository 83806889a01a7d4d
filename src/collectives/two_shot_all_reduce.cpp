// SPDX-License-Identifier: Apache-2.0
// Two-shot: rank j combines block j for all, then gives the result to all.
//
// Source: the reduce-scatter and all-gather of R. Thakur, R. Rabenseifner, W. Gropp, "Optimization
// of collective communication operations in MPICH", International Journal of High Performance
// Computing Applications 19(1), 2005, section 4, with each half done in one exchange among all
// ranks (possible where every pair is connected equally well) in place of log n.
//
// With n ranks and S bytes: two exchanges whatever n is, 2(n-1)/n S bytes sent and received by each
// rank, as few as the ring; but n-1 peers to talk to. Direct: one pass over S bytes, each element
// read once per rank and written once per rank, and a single exchange of signals. All blocks are
// combined in the order of ranks 0 .. n-1.
#include "collectives/all_reduce.h"
#include "collectives/steps.h"

namespace gyre::plan {

namespace {

Program through_slots(int rank, int ranks) {
  Program program;
  const std::vector<int> receivers = build::peers_to_send(rank, ranks);
  const std::vector<int> senders = build::peers_to_receive(rank, ranks);
  for (const int peer : receivers) {
    program.push_back(build::combine({build::input(peer)}, {build::peer_slot(peer, peer)}));
  }
  build::Slices destinations = {build::output(rank)};
  for (const int peer : receivers) destinations.push_back(build::peer_slot(peer, rank));
  build::with_messages(
      program, senders,
      build::complete(build::contributions(rank, ranks, rank), std::move(destinations)));
  for (const int peer : senders) build::take(program, peer, peer, {build::output(peer)});
  return program;
}

// Only rank j touches block j of anybody's buffers, and the bytes that it writes are exactly those
// that it read in the same step: so the outputs may be the inputs.
Program in_peers_buffers(int rank, int ranks) {
  build::Slices destinations = {build::output(rank)};
  for (const int peer : build::peers_to_send(rank, ranks)) {
    destinations.push_back(build::peer_output(peer, rank));
  }
  Program program = {
      build::complete(build::mapped_contributions(rank, ranks, rank), std::move(destinations))};
  build::meet(program, rank, ranks);
  return program;
}

}  // namespace

Program two_shot_all_reduce(int rank, int ranks, Protocol protocol) {
  return protocol == Protocol::direct ? in_peers_buffers(rank, ranks) : through_slots(rank, ranks);
}

}  // namespace gyre::plan
