// SPDX-License-Identifier: Apache-2.0
// The bandwidth-optimal ring: a reduce-scatter followed by an all-gather round the same ring.
//
// Source: P. Patarasuk and X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations", Journal of Parallel and Distributed Computing 69(2), 2009, section 4.
//
// With n ranks and S bytes: 2(n-1) messages of S/n bytes from each rank to its successor, which is
// 2(n-1)/n S bytes sent and as many received, the least that any algorithm can do. Latency grows
// with n. Block b is combined in the order of ranks b, b+1, ..., b+n-1 (modulo n).
//
// Two slots suffice. Let m be the fewest puts done by any rank, and r a rank that has done m. Put m
// of r sends on message m-1 of its predecessor, who has done at least m puts: it is there. It needs
// the slot of message m-2, which the successor held during its put m-1 and has since released,
// for it has done at least m puts too. So r can go on.
#include "collectives/all_reduce.h"
#include "collectives/steps.h"

namespace gyre::plan {

namespace {

// Each block starts at the rank of its number and gathers one contribution a hop; the last hop
// completes it at rank block-1, which starts the second trip with the same step.
void reduce_scatter_around(Program& program, int rank, int ranks) {
  const int next = (rank + 1) % ranks;
  const int previous = (rank + ranks - 1) % ranks;
  program.push_back(build::combine({build::input(rank)}, {build::peer_slot(next, rank)}));
  for (int hop = 1; hop < ranks; ++hop) {
    const int block = (rank + ranks - hop) % ranks;
    const build::Slices sources = {build::slot(previous, block), build::input(block)};
    build::with_message(
        program, previous,
        hop < ranks - 1
            ? build::combine(sources, {build::peer_slot(next, block)})
            : build::complete(sources, {build::output(block), build::peer_slot(next, block)}));
  }
}

// Complete blocks go round once more; the last receiver does not send on.
void all_gather_around(Program& program, int rank, int ranks) {
  const int next = (rank + 1) % ranks;
  const int previous = (rank + ranks - 1) % ranks;
  for (int hop = 0; hop < ranks - 1; ++hop) {
    const int block = (rank + ranks - hop) % ranks;
    build::Slices destinations = {build::output(block)};
    if (hop < ranks - 2) destinations.push_back(build::peer_slot(next, block));
    build::take(program, previous, block, std::move(destinations));
  }
}

}  // namespace

Program ring_all_reduce(int rank, int ranks) {
  if (ranks == 1) return {build::complete({build::input(0)}, {build::output(0)})};
  Program program;
  reduce_scatter_around(program, rank, ranks);
  all_gather_around(program, rank, ranks);
  return program;
}

}  // namespace gyre::plan
