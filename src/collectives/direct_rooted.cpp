// SPDX-License-Identifier: Apache-2.0
// Collectives with a root in mapped buffers. The other ranks do the work, all at once, and tell the
// root when they are done with its buffer.
#include "collectives/direct.h"
#include "collectives/steps.h"

namespace gyre::plan {

namespace {

// The root's part is `own`, another rank's is `theirs`; then the root waits for all.
Program around_root(int rank, int ranks, int root, const Step& own, const Step& theirs) {
  if (rank != root) return {theirs, build::signal(root)};
  Program program = {own};
  for (const int peer : build::peers_to_receive(rank, ranks)) {
    program.push_back(build::await(peer));
  }
  return program;
}

}  // namespace

Program direct_broadcast(int rank, int ranks, int root) {
  return around_root(rank, ranks, root, build::combine({build::input(0)}, {build::output(0)}),
                     build::combine({build::peer_input(root, 0)}, {build::output(0)}));
}

Program direct_scatter(int rank, int ranks, int root) {
  return around_root(rank, ranks, root, build::combine({build::input(root)}, {build::output(root)}),
                     build::combine({build::peer_input(root, rank)}, {build::output(rank)}));
}

Program direct_gather(int rank, int ranks, int root) {
  return around_root(rank, ranks, root, build::combine({build::input(root)}, {build::output(root)}),
                     build::combine({build::input(rank)}, {build::peer_output(root, rank)}));
}

// Rank j reduces block j of all inputs, right into the root's output. Only rank j touches block j of
// anybody's buffers, and it writes the bytes that it read: in place is safe.
Program direct_reduce(int rank, int ranks, int root) {
  Program program = {
      build::complete(build::mapped_contributions(rank, ranks, rank),
                      {rank == root ? build::output(rank) : build::peer_output(root, rank)})};
  build::meet(program, rank, ranks);
  return program;
}

}  // namespace gyre::plan
