// SPDX-License-Identifier: Apache-2.0
// One step between a root and everybody else: Broadcast, Scatter, Gather, Reduce.
//
// The flat tree: the root does all the work, n-1 messages, and nobody waits for a second hop. With n
// ranks and messages of S bytes the root sends (or receives) (n-1) S bytes. For few ranks, and for
// Scatter and Gather, whose root moves as many bytes in any algorithm.
#include "collectives/one_shot.h"
#include "collectives/steps.h"

namespace gyre::plan {

namespace {

// One message from the root, into the output.
Program take_from(int root, int block) {
  Program program;
  build::take(program, root, block, {build::output(block)});
  return program;
}

}  // namespace

// The root reads its input once, whatever the number of receivers.
Program one_shot_broadcast(int rank, int ranks, int root) {
  constexpr int whole_tile = 0;
  if (rank != root) return take_from(root, whole_tile);
  build::Slices destinations;
  for (const int peer : build::peers_to_send(root, ranks)) {
    destinations.push_back(build::peer_slot(peer, whole_tile));
  }
  destinations.push_back(build::output(whole_tile));
  return {build::combine({build::input(whole_tile)}, std::move(destinations))};
}

Program one_shot_scatter(int rank, int ranks, int root) {
  if (rank != root) return take_from(root, rank);
  Program program;
  for (const int peer : build::peers_to_send(root, ranks)) {
    program.push_back(build::combine({build::input(peer)}, {build::peer_slot(peer, peer)}));
  }
  program.push_back(build::combine({build::input(root)}, {build::output(root)}));
  return program;
}

Program one_shot_gather(int rank, int ranks, int root) {
  if (rank != root) {
    return {build::combine({build::input(rank)}, {build::peer_slot(root, rank)})};
  }
  Program program = {build::combine({build::input(root)}, {build::output(root)})};
  for (const int peer : build::peers_to_receive(root, ranks)) {
    build::take(program, peer, peer, {build::output(peer)});
  }
  return program;
}

// Contributions are combined in the order of ranks 0 .. n-1.
Program one_shot_reduce(int rank, int ranks, int root) {
  constexpr int whole_tile = 0;
  if (rank != root) {
    return {build::combine({build::input(whole_tile)}, {build::peer_slot(root, whole_tile)})};
  }
  Program program;
  build::with_messages(
      program, build::peers_to_receive(root, ranks),
      build::complete(build::contributions(root, ranks, whole_tile), {build::output(whole_tile)}));
  return program;
}

}  // namespace gyre::plan
