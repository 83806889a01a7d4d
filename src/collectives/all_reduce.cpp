// SPDX-License-Identifier: Apache-2.0
#include "collectives/all_reduce.h"

#include "collectives/hierarchical.h"

namespace gyre::plan {

bool supports(Algorithm algorithm, Protocol protocol) {
  switch (algorithm) {
    case Algorithm::ring:
      return protocol != Protocol::direct;
    case Algorithm::one_shot:
    case Algorithm::two_shot:
      return true;
    case Algorithm::tree:
    case Algorithm::doubling:
    case Algorithm::halving:
    case Algorithm::hierarchical:
      return protocol == Protocol::staged;
    default:
      return false;
  }
}

bool keeps_order(Algorithm algorithm) {
  return algorithm == Algorithm::one_shot || algorithm == Algorithm::two_shot ||
         algorithm == Algorithm::doubling;
}

namespace {

int blocks_of(Algorithm algorithm, int ranks) {
  switch (algorithm) {
    case Algorithm::one_shot:
    case Algorithm::doubling:
      return 1;
    case Algorithm::tree:
      return tree_all_reduce_blocks;
    case Algorithm::halving:
      return halving_all_reduce_blocks(ranks);
    default:
      return ranks;
  }
}

// A ring, and a rank of two-shot that has the sum before its peers have sent, put a message behind one
// that is not released yet.
int slots_of(Algorithm algorithm) {
  return algorithm == Algorithm::ring || algorithm == Algorithm::two_shot ? 2 : 1;
}

Recipe by_levels(int ranks, const Hierarchy& hierarchy) {
  return {.collective = Collective::all_reduce,
          .algorithm = Algorithm::hierarchical,
          .protocol = Protocol::staged,
          .ranks = ranks,
          .hierarchy = hierarchy};
}

}  // namespace

Plan describe_all_reduce(Algorithm algorithm, Protocol protocol, int ranks,
                         const Hierarchy& hierarchy) {
  if (algorithm == Algorithm::hierarchical) {
    return describe_hierarchical(by_levels(ranks, hierarchy));
  }
  Plan plan;
  plan.name = name_of(algorithm);
  plan.collective = Collective::all_reduce;
  plan.protocol = protocol;
  plan.ranks = ranks;
  plan.blocks = blocks_of(algorithm, ranks);
  plan.slots = slots_of(algorithm);
  // Direct one-shot: peers read a rank's input while that rank writes its output.
  plan.in_place_safe =
      ranks == 1 || algorithm != Algorithm::one_shot || protocol != Protocol::direct;
  return plan;
}

Program all_reduce_program(Algorithm algorithm, Protocol protocol, int rank, int ranks,
                           const Hierarchy& hierarchy) {
  switch (algorithm) {
    case Algorithm::ring:
      return ring_all_reduce(rank, ranks);
    case Algorithm::one_shot:
      return one_shot_all_reduce(rank, ranks, protocol);
    case Algorithm::two_shot:
      return two_shot_all_reduce(rank, ranks, protocol);
    case Algorithm::tree:
      return tree_all_reduce(rank, ranks);
    case Algorithm::doubling:
      return doubling_all_reduce(rank, ranks);
    case Algorithm::halving:
      return halving_all_reduce(rank, ranks);
    case Algorithm::hierarchical:
      return hierarchical_program(by_levels(ranks, hierarchy), rank);
    default:
      break;  // supports() says no
  }
  return {};
}

Plan make_all_reduce(Algorithm algorithm, Protocol protocol, int ranks,
                     const Hierarchy& hierarchy) {
  Plan plan = describe_all_reduce(algorithm, protocol, ranks, hierarchy);
  plan.programs.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    plan.programs.push_back(all_reduce_program(algorithm, protocol, rank, ranks, hierarchy));
  }
  return plan;
}

}  // namespace gyre::plan
