// SPDX-License-Identifier: Apache-2.0
// AllGather and AllToAll in ceil(log2 n) rounds for any number of ranks. In round k a rank sends to
// the one 2^k before it (AllGather) or behind it (AllToAll).
//
// Source: J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, "Efficient algorithms for all-to-all
// communications in multiport message-passing systems", IEEE Transactions on Parallel and Distributed
// Systems 8(11), 1997.
//
// With n ranks and sections of S bytes: AllGather sends (n-1) S bytes from each rank, the least there is;
// AllToAll about n/2 log2 n S, as each section travels a hop for each bit of its distance, but to log2 n
// peers instead of n-1. For short messages. Blocks have addresses, so the rotations of the
// original, before and after, are not needed.
#include "collectives/log_sections.h"
#include "collectives/steps.h"

namespace gyre::plan {

namespace {

// One rank of AllToAll. A section is known by its distance, from where it starts to where it goes: all
// that a rank holds at one time differ in it. A section that waits for a later round lies in the
// scratch block of its distance.
class BruckAllToAll {
 public:
  BruckAllToAll(int rank, int ranks) : rank_(rank), ranks_(ranks) {
    for (int distance = 0; distance < ranks; ++distance) {
      held_.push_back(build::input((rank + distance) % ranks));
    }
  }

  Program build() {
    program_.push_back(build::combine({build::input(rank_)}, {build::output(rank_)}));
    for (int hop = 1; hop < ranks_; hop *= 2) {
      for (int distance = hop; distance < ranks_; ++distance) {
        if ((distance & hop) != 0) exchange(distance, hop);
      }
    }
    return std::move(program_);
  }

 private:
  static Slice in_scratch(int distance, int section) {
    return build::scratch(distance - 1, section);
  }
  // Where a section that has gone the way of `gone` to this rank comes from, and goes to.
  [[nodiscard]] int origin(int gone) const { return (rank_ - gone + ranks_) % ranks_; }
  [[nodiscard]] int target(int gone, int distance) const {
    return (origin(gone) + distance) % ranks_;
  }

  void exchange(int distance, int hop) {
    const int to = (rank_ + hop) % ranks_;
    const int from = (rank_ - hop + ranks_) % ranks_;
    const int sent = target(distance & (hop - 1), distance);
    program_.push_back(build::combine({held_[at(distance)]}, {build::peer_slot(to, sent)}));
    const int gone = distance & (2 * hop - 1);
    const int section = target(gone, distance);
    const bool arrived = gone == distance;
    held_[at(distance)] = in_scratch(distance, section);
    if (arrived) save_input(origin(distance), ranks_ - distance);
    build::take(program_, from, section,
                {arrived ? build::output(origin(distance)) : held_[at(distance)]});
  }

  // In place, the section that arrives overwrites the one that goes to where it comes from, which may
  // not have been sent yet.
  void save_input(int section, int distance) {
    Slice& held = held_[at(distance)];
    if (held.place != Place::input) return;
    program_.push_back(build::combine({held}, {in_scratch(distance, section)}));
    held = in_scratch(distance, section);
  }

  static std::size_t at(int distance) { return static_cast<std::size_t>(distance); }

  const int rank_, ranks_;
  std::vector<Slice> held_;  // by distance
  Program program_;
};

}  // namespace

Program bruck_all_gather(int rank, int ranks) {
  Program program = {build::combine({build::input(rank)}, {build::output(rank)})};
  for (int hop = 1; hop < ranks; hop *= 2) {
    const int to = (rank - hop + ranks) % ranks;
    const int from = (rank + hop) % ranks;
    for (int i = 0; i < hop && hop + i < ranks; ++i) {
      const int sent = (rank + i) % ranks;
      const int received = (rank + hop + i) % ranks;
      program.push_back(build::combine({build::output(sent)}, {build::peer_slot(to, sent)}));
      build::take(program, from, received, {build::output(received)});
    }
  }
  return program;
}

Program bruck_all_to_all(int rank, int ranks) {
  return BruckAllToAll(rank, ranks).build();
}

int bruck_all_to_all_scratch(int ranks) {
  return ranks - 1;
}

}  // namespace gyre::plan
