// SPDX-License-Identifier: Apache-2.0
// Recursive halving and doubling: a reduce-scatter whose rounds exchange a half, a quarter, ... of the
// buffer with ranks ever nearer, then an all-gather that takes the same way back.
//
// Source: R. Rabenseifner, "Optimization of collective reduction operations", ICCS 2004.
//
// With n ranks, a power of two, and S bytes: 2 log2 n rounds, 2 (n-1)/n S bytes sent and received by
// each rank, as few as a ring. Else a guest (fold.h) hands its whole buffer to its host before, and gets the
// result after: a host sends and receives S bytes more. For medium and long messages among many ranks.
//
// A round exchanges its blocks one by one: each put is followed by the wait for the partner's, so that a
// FIFO never holds more than a message that was not taken and one that is being put.
#include "collectives/all_reduce.h"
#include "collectives/fold.h"
#include "collectives/steps.h"

namespace gyre::plan {

namespace {

// The order in which the all-gather completes the blocks of a member of the core.
std::vector<int> order_of_results(int number, int core) {
  std::vector<int> blocks = {number};
  for (int distance = 1; distance < core; distance *= 2) {
    const int first = (number & ~(distance - 1)) ^ distance;
    for (int i = 0; i < distance; ++i) blocks.push_back(first + i);
  }
  return blocks;
}

class HalvingProgram {
 public:
  HalvingProgram(const Fold& fold, int rank)
      : fold_(fold), rank_(rank), number_(fold.number_of(rank)) {}

  Program of_guest() {
    const int host = Fold::host_of(rank_);
    for (int block = 0; block < fold_.core(); ++block) {
      program_.push_back(build::combine({build::input(block)}, {build::peer_slot(host, block)}));
    }
    for (const int block : order_of_results(number_, fold_.core())) {
      build::take(program_, host, block, {build::output(block)});
    }
    return std::move(program_);
  }

  Program of_core() {
    if (fold_.is_host(rank_)) combine_with_guest();
    reduce_scatter();
    all_gather();
    return std::move(program_);
  }

 private:
  void combine_with_guest() {
    const int guest = Fold::guest_of(rank_);
    for (int block = 0; block < fold_.core(); ++block) {
      build::with_message(
          program_, guest,
          build::combine({build::input(block), build::slot(guest, block)}, {build::output(block)}));
    }
  }

  // Each round keeps the half that has the block of this rank's number.
  void reduce_scatter() {
    bool in_input = !fold_.is_host(rank_);  // what this rank has is its input still
    for (int half = fold_.core() / 2; half > 0; half /= 2) {
      const int kept = number_ & ~(half - 1);
      const int peer = fold_.rank_of(number_ ^ half);
      for (int i = 0; i < half; ++i) {
        const int sent = (kept ^ half) + i;
        program_.push_back(build::combine({in_input ? build::input(sent) : build::output(sent)},
                                          {build::peer_slot(peer, sent)}));
        combine_kept(peer, kept + i, in_input, half == 1);
      }
      in_input = false;
    }
  }

  void combine_kept(int peer, int block, bool in_input, bool last) {
    const Slice own = in_input ? build::input(block) : build::output(block);
    const Slice theirs = build::slot(peer, block);
    build::Slices sources = peer < rank_ ? build::Slices{theirs, own} : build::Slices{own, theirs};
    build::Slices destinations = {build::output(block)};
    if (last) add_guest(destinations, block);
    build::with_message(program_, peer,
                        last ? build::complete(std::move(sources), std::move(destinations))
                             : build::combine(std::move(sources), std::move(destinations)));
  }

  void all_gather() {
    for (int distance = 1; distance < fold_.core(); distance *= 2) {
      const int own = number_ & ~(distance - 1);
      const int peer = fold_.rank_of(number_ ^ distance);
      for (int i = 0; i < distance; ++i) {
        program_.push_back(
            build::combine({build::output(own + i)}, {build::peer_slot(peer, own + i)}));
        const int block = (own ^ distance) + i;
        build::Slices destinations = {build::output(block)};
        add_guest(destinations, block);
        build::take(program_, peer, block, std::move(destinations));
      }
    }
  }

  void add_guest(build::Slices& destinations, int block) const {
    if (fold_.is_host(rank_)) {
      destinations.push_back(build::peer_slot(Fold::guest_of(rank_), block));
    }
  }

  const Fold& fold_;
  const int rank_;
  const int number_;
  Program program_;
};

}  // namespace

int halving_all_reduce_blocks(int ranks) {
  return Fold(ranks).core();
}

Program halving_all_reduce(int rank, int ranks) {
  if (ranks == 1) return {build::complete({build::input(0)}, {build::output(0)})};
  const Fold fold(ranks);
  HalvingProgram program(fold, rank);
  return fold.is_guest(rank) ? program.of_guest() : program.of_core();
}

}  // namespace gyre::plan
