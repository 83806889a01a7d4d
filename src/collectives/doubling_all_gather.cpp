// SPDX-License-Identifier: Apache-2.0
// Recursive doubling AllGather: in round k ranks at distance 2^k exchange all the sections that they
// have.
//
// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations
// in MPICH", International Journal of High Performance Computing Applications 19(1), 2005.
//
// With n ranks, a power of two, and sections of S bytes: log2 n rounds, (n-1) S bytes sent and received by
// each rank, the least there is. Else two hops more (fold.h), in which a guest gives its section to its
// host and gets all the others: such a host sends up to twice as much.
#include <algorithm>

#include "collectives/fold.h"
#include "collectives/log_sections.h"
#include "collectives/steps.h"

namespace gyre::plan {

namespace {

// What `count` members of the core, from `first` on, have brought in.
std::vector<int> sections_of(const Fold& fold, int first, int count) {
  std::vector<int> sections;
  for (int number = first; number < first + count; ++number) {
    const int rank = fold.rank_of(number);
    sections.push_back(rank);
    if (fold.is_host(rank)) sections.push_back(Fold::guest_of(rank));
  }
  return sections;
}

// The sections that come to a core member from its partners, in order.
std::vector<int> order_of_arrival(const Fold& fold, int number) {
  std::vector<int> sections;
  for (int distance = 1; distance < fold.core(); distance *= 2) {
    const std::vector<int> more =
        sections_of(fold, (number & ~(distance - 1)) ^ distance, distance);
    sections.insert(sections.end(), more.begin(), more.end());
  }
  return sections;
}

Program guest_program(const Fold& fold, int rank) {
  const int host = Fold::host_of(rank);
  Program program = {
      build::combine({build::input(rank)}, {build::output(rank), build::peer_slot(host, rank)})};
  build::take(program, host, host, {build::output(host)});
  for (const int section : order_of_arrival(fold, fold.number_of(rank))) {
    build::take(program, host, section, {build::output(section)});
  }
  return program;
}

Program core_program(const Fold& fold, int rank) {
  const int number = fold.number_of(rank);
  Program program = {build::combine({build::input(rank)}, {build::output(rank)})};
  const auto pass_to_guest = [&](build::Slices& destinations, int section) {
    if (fold.is_host(rank)) {
      destinations.push_back(build::peer_slot(Fold::guest_of(rank), section));
    }
  };
  pass_to_guest(program.front().destinations, rank);
  if (fold.is_host(rank)) {
    const int guest = Fold::guest_of(rank);
    build::take(program, guest, guest, {build::output(guest)});
  }
  for (int distance = 1; distance < fold.core(); distance *= 2) {
    const int own = number & ~(distance - 1);
    const int peer = fold.rank_of(number ^ distance);
    const std::vector<int> sent = sections_of(fold, own, distance);
    const std::vector<int> received = sections_of(fold, own ^ distance, distance);
    for (std::size_t i = 0; i < std::max(sent.size(), received.size()); ++i) {
      if (i < sent.size()) {
        program.push_back(
            build::combine({build::output(sent[i])}, {build::peer_slot(peer, sent[i])}));
      }
      if (i < received.size()) {
        build::Slices destinations = {build::output(received[i])};
        pass_to_guest(destinations, received[i]);
        build::take(program, peer, received[i], std::move(destinations));
      }
    }
  }
  return program;
}

}  // namespace

Program doubling_all_gather(int rank, int ranks) {
  const Fold fold(ranks);
  return fold.is_guest(rank) ? guest_program(fold, rank) : core_program(fold, rank);
}

}  // namespace gyre::plan
