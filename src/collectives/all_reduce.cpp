// SPDX-License-Identifier: Apache-2.0
#include "collectives/all_reduce.h"

namespace gyre::plan {

bool supports(Algorithm algorithm, Protocol protocol) {
  switch (algorithm) {
    case Algorithm::ring:
      return protocol != Protocol::direct;
    case Algorithm::one_shot:
    case Algorithm::two_shot:
      return true;
    default:
      return false;
  }
}

Plan describe_all_reduce(Algorithm algorithm, Protocol protocol, int ranks) {
  Plan plan;
  plan.name = name_of(algorithm);
  plan.collective = Collective::all_reduce;
  plan.protocol = protocol;
  plan.ranks = ranks;
  plan.blocks = algorithm == Algorithm::one_shot ? 1 : ranks;
  // One-shot has one message per FIFO and tile and holds none while it sends. The others send on
  // while they hold the message that they send on.
  plan.slots = algorithm == Algorithm::one_shot ? 1 : 2;
  // Direct one-shot: peers read a rank's input while that rank writes its output.
  plan.in_place_safe =
      ranks == 1 || algorithm != Algorithm::one_shot || protocol != Protocol::direct;
  return plan;
}

Program all_reduce_program(Algorithm algorithm, Protocol protocol, int rank, int ranks) {
  switch (algorithm) {
    case Algorithm::ring:
      return ring_all_reduce(rank, ranks);
    case Algorithm::one_shot:
      return one_shot_all_reduce(rank, ranks, protocol);
    case Algorithm::two_shot:
      return two_shot_all_reduce(rank, ranks, protocol);
    default:
      break;  // supports() says no
  }
  return {};
}

Plan make_all_reduce(Algorithm algorithm, Protocol protocol, int ranks) {
  Plan plan = describe_all_reduce(algorithm, protocol, ranks);
  plan.programs.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    plan.programs.push_back(all_reduce_program(algorithm, protocol, rank, ranks));
  }
  return plan;
}

}  // namespace gyre::plan
