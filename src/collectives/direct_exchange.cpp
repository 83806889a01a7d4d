// SPDX-License-Identifier: Apache-2.0
// AllGather, ReduceScatter and AllToAll in mapped buffers. One exchange of signals, at the end: a rank
// may use its input again when all have read it.
#include "collectives/direct.h"
#include "collectives/steps.h"

namespace gyre::plan {

Program direct_all_gather(int rank, int ranks) {
  Program program = {build::combine({build::input(rank)}, {build::output(rank)})};
  for (const int peer : build::peers_to_receive(rank, ranks)) {
    program.push_back(build::combine({build::peer_input(peer, peer)}, {build::output(peer)}));
  }
  build::meet(program, rank, ranks);
  return program;
}

Program direct_reduce_scatter(int rank, int ranks) {
  Program program = {
      build::complete(build::mapped_contributions(rank, ranks, rank), {build::output(rank)})};
  build::meet(program, rank, ranks);
  return program;
}

Program direct_all_to_all(int rank, int ranks) {
  Program program = {build::combine({build::input(rank)}, {build::output(rank)})};
  for (const int peer : build::peers_to_receive(rank, ranks)) {
    program.push_back(build::combine({build::peer_input(peer, rank)}, {build::output(peer)}));
  }
  build::meet(program, rank, ranks);
  return program;
}

}  // namespace gyre::plan
