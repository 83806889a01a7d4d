// SPDX-License-Identifier: Apache-2.0
// AllGather, ReduceScatter and AllToAll in mapped buffers. One exchange of signals, at the end: a rank
// may use its input again when all have read it.
#include "collectives/direct.h"
#include "collectives/steps.h"

namespace gyre::plan {

namespace {

void meet(Program& program, int rank, int ranks) {
  for (const int peer : build::peers_to_send(rank, ranks)) program.push_back(build::signal(peer));
  for (const int peer : build::peers_to_receive(rank, ranks)) {
    program.push_back(build::await(peer));
  }
}

// Block `block` of the input of `owner`, as `rank` reaches it.
Slice input_of(int owner, int block, int rank) {
  return owner == rank ? build::input(block) : build::peer_input(owner, block);
}

}  // namespace

Program direct_all_gather(int rank, int ranks) {
  Program program;
  program.push_back(build::combine({build::input(rank)}, {build::output(rank)}));
  for (const int peer : build::peers_to_receive(rank, ranks)) {
    program.push_back(build::combine({build::peer_input(peer, peer)}, {build::output(peer)}));
  }
  meet(program, rank, ranks);
  return program;
}

Program direct_reduce_scatter(int rank, int ranks) {
  build::Slices sources;
  for (int source = 0; source < ranks; ++source) sources.push_back(input_of(source, rank, rank));
  Program program;
  program.push_back(build::complete(std::move(sources), {build::output(rank)}));
  meet(program, rank, ranks);
  return program;
}

Program direct_all_to_all(int rank, int ranks) {
  Program program;
  program.push_back(build::combine({build::input(rank)}, {build::output(rank)}));
  for (const int peer : build::peers_to_receive(rank, ranks)) {
    program.push_back(build::combine({build::peer_input(peer, rank)}, {build::output(peer)}));
  }
  meet(program, rank, ranks);
  return program;
}

}  // namespace gyre::plan
