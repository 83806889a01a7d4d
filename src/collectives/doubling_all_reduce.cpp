// SPDX-License-Identifier: Apache-2.0
// Recursive doubling: in round k ranks at distance 2^k exchange all that they have and combine it.
//
// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations
// in MPICH", International Journal of High Performance Computing Applications 19(1), 2005.
//
// With n ranks and S bytes: log2 n rounds, each sends and combines S bytes; two hops more where n is no
// power of two (fold.h). For short messages among many ranks. Both partners combine the part of the
// lower ranks with that of the higher ones, so contributions keep the order of ranks.
#include "collectives/all_reduce.h"
#include "collectives/fold.h"
#include "collectives/steps.h"

namespace gyre::plan {

namespace {

constexpr int whole_tile = 0;

Program guest_program(int host) {
  Program program = {
      build::combine({build::input(whole_tile)}, {build::peer_slot(host, whole_tile)})};
  build::take(program, host, whole_tile, {build::output(whole_tile)});
  return program;
}

// What a rank has is its input until it has combined something, then its output. It is sent on in the
// step that makes it.
Program core_program(const Fold& fold, int rank) {
  const int number = fold.number_of(rank);
  const auto partner = [&](int distance) { return fold.rank_of(number ^ distance); };
  Slice value = build::input(whole_tile);
  Program program;
  if (fold.is_host(rank)) {
    const int guest = Fold::guest_of(rank);
    build::with_message(
        program, guest,
        build::combine({value, build::slot(guest, whole_tile)},
                       {build::output(whole_tile), build::peer_slot(partner(1), whole_tile)}));
    value = build::output(whole_tile);
  } else {
    program.push_back(build::combine({value}, {build::peer_slot(partner(1), whole_tile)}));
  }
  for (int distance = 1; distance < fold.core(); distance *= 2) {
    const int peer = partner(distance);
    const bool last = 2 * distance == fold.core();
    const Slice theirs = build::slot(peer, whole_tile);
    build::Slices sources =
        peer < rank ? build::Slices{theirs, value} : build::Slices{value, theirs};
    build::Slices destinations = {build::output(whole_tile)};
    if (!last) {
      destinations.push_back(build::peer_slot(partner(2 * distance), whole_tile));
    } else if (fold.is_host(rank)) {
      destinations.push_back(build::peer_slot(Fold::guest_of(rank), whole_tile));
    }
    build::with_message(program, peer,
                        last ? build::complete(std::move(sources), std::move(destinations))
                             : build::combine(std::move(sources), std::move(destinations)));
    value = build::output(whole_tile);
  }
  return program;
}

}  // namespace

Program doubling_all_reduce(int rank, int ranks) {
  if (ranks == 1) {
    return {build::complete({build::input(whole_tile)}, {build::output(whole_tile)})};
  }
  const Fold fold(ranks);
  return fold.is_guest(rank) ? guest_program(Fold::host_of(rank)) : core_program(fold, rank);
}

}  // namespace gyre::plan
