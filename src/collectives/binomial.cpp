// SPDX-License-Identifier: Apache-2.0
// Broadcast and Reduce over a binomial tree: rank v, counted from the root, has the children
// v + 1, v + 2, v + 4, ... as long as they stay below v + (the lowest bit of v).
//
// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations
// in MPICH", International Journal of High Performance Computing Applications 19(1), 2005, section 3.
//
// With n ranks and S bytes: ceil(log2 n) hops of S bytes; the root sends (or receives) that many
// messages. For short messages among many ranks.
#include <algorithm>

#include "collectives/steps.h"
#include "collectives/trees.h"

namespace gyre::plan {

namespace {

constexpr int whole_tile = 0;

class Node {
 public:
  Node(int rank, int ranks, int root)
      : ranks_(ranks), root_(root), place_((rank + ranks - root) % ranks) {}

  [[nodiscard]] bool is_root() const { return place_ == 0; }
  [[nodiscard]] int parent() const { return rank_at(place_ - lowest_bit()); }
  // The nearest first: of the smallest subtree.
  [[nodiscard]] std::vector<int> children() const {
    std::vector<int> all;
    const int limit = is_root() ? ranks_ : std::min(ranks_, place_ + lowest_bit());
    for (int distance = 1; place_ + distance < limit; distance *= 2) {
      all.push_back(rank_at(place_ + distance));
    }
    return all;
  }

 private:
  [[nodiscard]] int lowest_bit() const { return place_ & -place_; }
  [[nodiscard]] int rank_at(int place) const { return (place + root_) % ranks_; }

  int ranks_, root_, place_;
};

}  // namespace

// The largest subtree gets its message first.
Program binomial_broadcast(int rank, int ranks, int root) {
  const Node node(rank, ranks, root);
  std::vector<int> children = node.children();
  std::reverse(children.begin(), children.end());
  build::Slices destinations;
  for (const int child : children) destinations.push_back(build::peer_slot(child, whole_tile));
  destinations.push_back(build::output(whole_tile));
  if (node.is_root()) {
    return {build::combine({build::input(whole_tile)}, std::move(destinations))};
  }
  Program program;
  build::take(program, node.parent(), whole_tile, std::move(destinations));
  return program;
}

// Subtrees are combined in the order of their ranks, counted from the root.
Program binomial_reduce(int rank, int ranks, int root) {
  const Node node(rank, ranks, root);
  const std::vector<int> children = node.children();
  build::Slices sources = {build::input(whole_tile)};
  for (const int child : children) sources.push_back(build::slot(child, whole_tile));
  Program program;
  build::with_messages(
      program, children,
      node.is_root()
          ? build::complete(std::move(sources), {build::output(whole_tile)})
          : build::combine(std::move(sources), {build::peer_slot(node.parent(), whole_tile)}));
  return program;
}

}  // namespace gyre::plan
