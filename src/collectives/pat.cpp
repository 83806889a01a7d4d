// SPDX-License-Identifier: Apache-2.0
// ReduceScatter and AllGather over n binomial trees at once, one for each section, each rank having
// every place once: logarithmic in hops and in peers and, unlike Bruck's or recursive halving, in the
// memory for what is on its way.
//
// Source: S. Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale",
// arXiv:2506.20252, 2025. The trees are those of J. Bruck et al. (bruck.cpp); what is taken from PAT is
// the order: each rank walks the places depth first, the farthest subtree first, so that it has partial
// results of one path only, log2 n of them. Messages are not joined as there: one carries one block.
//
// With n ranks and sections of S bytes: n-1 messages of S bytes from each rank, the least there is, over
// up to ceil(log2 n) hops, to ceil(log2 n) peers. For medium messages among very many ranks.
#include <algorithm>

#include "collectives/log_sections.h"
#include "collectives/steps.h"

namespace gyre::plan {

namespace {

int lowest_bit(int place) {
  return place & -place;
}

// From a place in the tree to its children, the farthest first. Place 0 is the root; the parent of a
// place is the one without its lowest bit.
std::vector<int> ways_to_children(int place, int ranks) {
  std::vector<int> ways;
  for (int way = 1; place + way < ranks && (place == 0 || way < lowest_bit(place)); way *= 2) {
    ways.push_back(way);
  }
  std::reverse(ways.begin(), ways.end());
  return ways;
}

class ReduceWalk {
 public:
  ReduceWalk(int rank, int ranks) : rank_(rank), ranks_(ranks) {}

  Program build() {
    visit(0, 0);
    return std::move(program_);
  }

 private:
  // The rank has this place in the tree of section rank + place. When it has been here it has sent the
  // part of its subtree to the parent.
  void visit(int place, int depth) {
    const int section = (rank_ + place) % ranks_;
    const Slice destination = place == 0
                                  ? build::output(section)
                                  : build::peer_slot((rank_ + lowest_bit(place)) % ranks_, section);
    const std::vector<int> ways = ways_to_children(place, ranks_);
    Slice value = build::input(section);
    for (const int way : ways) {
      visit(place + way, depth + 1);
      const int child = (rank_ - way + ranks_) % ranks_;
      const build::Slices sources = {value, build::slot(child, section)};
      const bool last = way == ways.back();
      value = build::scratch(depth, section);
      build::with_message(program_, child,
                          last && place == 0
                              ? build::complete(sources, {destination})
                              : build::combine(sources, {last ? destination : value}));
    }
    if (ways.empty()) program_.push_back(build::combine({value}, {destination}));
  }

  const int rank_, ranks_;
  Program program_;
};

class GatherWalk {
 public:
  GatherWalk(int rank, int ranks) : rank_(rank), ranks_(ranks) {}

  Program build() {
    visit(0);
    return std::move(program_);
  }

 private:
  // The rank has this place in the tree of section rank - place. A child's message is sent just before
  // all ranks go to the child's place.
  void visit(int place) {
    const int section = (rank_ - place + ranks_) % ranks_;
    const std::vector<int> ways = ways_to_children(place, ranks_);
    const auto message = [&](int way) { return build::peer_slot((rank_ + way) % ranks_, section); };
    build::Slices destinations = {build::output(section)};
    if (!ways.empty()) destinations.push_back(message(ways.front()));
    if (place == 0) {
      program_.push_back(build::combine({build::input(section)}, std::move(destinations)));
    } else {
      const int parent = (rank_ - lowest_bit(place) + ranks_) % ranks_;
      build::take(program_, parent, section, std::move(destinations));
    }
    for (const int way : ways) {
      if (way != ways.front()) {
        program_.push_back(build::combine({build::output(section)}, {message(way)}));
      }
      visit(place + way);
    }
  }

  const int rank_, ranks_;
  Program program_;
};

}  // namespace

Program pat_reduce_scatter(int rank, int ranks) {
  if (ranks == 1) return {build::complete({build::input(0)}, {build::output(0)})};
  return ReduceWalk(rank, ranks).build();
}

// One for each place on a path that has more than one child. The lowest such place at depth d, with d
// bits above the lowest two, has the children 1 and 2 places after it, if there are so many ranks.
int pat_reduce_scatter_scratch(int ranks) {
  int depth = 0;
  while (((1 << depth) - 1) * 4 + 2 < ranks) ++depth;
  return depth;
}

Program pat_all_gather(int rank, int ranks) {
  return GatherWalk(rank, ranks).build();
}

}  // namespace gyre::plan
