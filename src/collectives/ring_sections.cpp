// SPDX-License-Identifier: Apache-2.0
// The two halves of the ring AllReduce as collectives of their own: AllGather and ReduceScatter.
//
// Source: P. Patarasuk and X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations", Journal of Parallel and Distributed Computing 69(2), 2009, section 4.
//
// With n ranks and sections of S bytes: n-1 messages of S bytes from each rank to its successor, the
// least there is, over two links a rank. Latency grows with n. Two slots suffice, as in
// ring_all_reduce.cpp.
#include "collectives/ring.h"
#include "collectives/steps.h"

namespace gyre::plan {

// Each section goes round from its owner; the last receiver does not send on.
Program ring_all_gather(int rank, int ranks) {
  Program program = {build::combine({build::input(rank)}, {build::output(rank)})};
  if (ranks == 1) return program;
  const int next = (rank + 1) % ranks;
  const int previous = (rank + ranks - 1) % ranks;
  program.front().destinations.push_back(build::peer_slot(next, rank));
  for (int hop = 1; hop < ranks; ++hop) {
    const int section = (rank + ranks - hop) % ranks;
    build::Slices destinations = {build::output(section)};
    if (hop < ranks - 1) destinations.push_back(build::peer_slot(next, section));
    build::take(program, previous, section, std::move(destinations));
  }
  return program;
}

// Section b starts at rank b + 1 and ends, complete, at rank b: combined in the order b+1, ..., b.
Program ring_reduce_scatter(int rank, int ranks) {
  if (ranks == 1) return {build::complete({build::input(0)}, {build::output(0)})};
  const int next = (rank + 1) % ranks;
  const int previous = (rank + ranks - 1) % ranks;
  Program program = {build::combine({build::input(previous)}, {build::peer_slot(next, previous)})};
  for (int hop = 2; hop <= ranks; ++hop) {
    const int section = (rank + ranks - hop) % ranks;
    const build::Slices sources = {build::slot(previous, section), build::input(section)};
    build::with_message(program, previous,
                        hop < ranks ? build::combine(sources, {build::peer_slot(next, section)})
                                    : build::complete(sources, {build::output(section)}));
  }
  return program;
}

}  // namespace gyre::plan
