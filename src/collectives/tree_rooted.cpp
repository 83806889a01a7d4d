// SPDX-License-Identifier: Apache-2.0
// Broadcast and Reduce over a double binary tree of all ranks but the root, which is the parent of
// both trees' roots: one block of a tile goes through each.
//
// Source: P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for full bandwidth broadcast,
// reduction and scan", Parallel Computing 35(12), 2009.
//
// With n ranks and S bytes: floor(log2(n-1)) + 1 hops, S bytes sent (Reduce: received) at most by every
// rank, the root included, to four peers at most. Tiles follow one another: no rank waits for an answer.
// For long messages among many ranks, where a chain has too many hops.
#include "collectives/double_tree.h"
#include "collectives/steps.h"
#include "collectives/trees.h"

namespace gyre::plan {

namespace {

// Neighbours of ranks. The double tree's members are the ranks root + 1, root + 2, ...
class Members {
 public:
  Members(int ranks, int root) : ranks_(ranks), root_(root) {}

  // Of a rank that is not the root.
  [[nodiscard]] int parent(int tree, int rank) const {
    const int parent = node(tree, rank).parent;
    return parent == TreeNode::none ? root_ : rank_of(parent);
  }
  [[nodiscard]] std::vector<int> children(int tree, int rank) const {
    if (ranks_ == 1) return {};
    if (rank == root_) return {rank_of(root_of(tree, ranks_ - 1))};
    std::vector<int> children;
    for (const int child : {node(tree, rank).before, node(tree, rank).after}) {
      if (child != TreeNode::none) children.push_back(rank_of(child));
    }
    return children;
  }

 private:
  [[nodiscard]] TreeNode node(int tree, int rank) const {
    return node_of(tree, (rank - root_ - 1 + ranks_) % ranks_, ranks_ - 1);
  }
  [[nodiscard]] int rank_of(int member) const { return (root_ + 1 + member) % ranks_; }

  int ranks_, root_;
};

}  // namespace

Program tree_broadcast(int rank, int ranks, int root) {
  const Members members(ranks, root);
  Program program;
  for (int block = 0; block < tree_rooted_blocks; ++block) {
    build::Slices destinations;
    for (const int child : members.children(block, rank)) {
      destinations.push_back(build::peer_slot(child, block));
    }
    destinations.push_back(build::output(block));
    if (rank == root) {
      program.push_back(build::combine({build::input(block)}, std::move(destinations)));
      continue;
    }
    build::take(program, members.parent(block, rank), block, std::move(destinations));
  }
  return program;
}

Program tree_reduce(int rank, int ranks, int root) {
  const Members members(ranks, root);
  Program program;
  for (int block = 0; block < tree_rooted_blocks; ++block) {
    const std::vector<int> children = members.children(block, rank);
    build::Slices sources = {build::input(block)};
    for (const int child : children) sources.push_back(build::slot(child, block));
    build::with_messages(
        program, children,
        rank == root ? build::complete(std::move(sources), {build::output(block)})
                     : build::combine(std::move(sources),
                                      {build::peer_slot(members.parent(block, rank), block)}));
  }
  return program;
}

}  // namespace gyre::plan
