// SPDX-License-Identifier: Apache-2.0
// Broadcast down a chain: each rank hands on what it got while it keeps it.
//
// Source: the pipelined linear broadcast of J. Pjesivac-Grbovic, T. Angskun, G. Bosilca, G. Fagg,
// E. Gabriel, J. Dongarra, "Performance analysis of MPI collective operations", Cluster Computing
// 10(2), 2007, section 3.
//
// With n ranks and S bytes in t tiles: n-1+t-1 hops of S/t bytes one after the other, S bytes sent
// by each rank but the last. For long messages, whose tiles fill the chain.
#include "collectives/steps.h"
#include "collectives/trees.h"

namespace gyre::plan {

Program chain_broadcast(int rank, int ranks, int root) {
  constexpr int whole_tile = 0;
  const int place = (rank + ranks - root) % ranks;
  const bool is_last = place == ranks - 1;
  build::Slices destinations = {build::output(whole_tile)};
  if (!is_last) destinations.push_back(build::peer_slot((rank + 1) % ranks, whole_tile));
  if (rank == root) return {build::combine({build::input(whole_tile)}, std::move(destinations))};
  const int previous = (rank + ranks - 1) % ranks;
  Program program;
  build::take(program, previous, whole_tile, std::move(destinations));
  return program;
}

}  // namespace gyre::plan
