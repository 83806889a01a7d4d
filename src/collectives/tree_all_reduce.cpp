// SPDX-License-Identifier: Apache-2.0
// AllReduce over a double binary tree: blocks with even numbers go up and down one tree, the others
// the other.
//
// Source: P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for full bandwidth broadcast,
// reduction and scan", Parallel Computing 35(12), 2009.
//
// With n ranks and S bytes: 2 floor(log2 n) hops; up to 2 S bytes sent and received by each rank, to
// four peers at most, whatever n is. Each block is combined by subtrees, in the order of the tree's
// members.
//
// A tile has four blocks for each tree, which follow one another through it: a rank sends up
// `ahead` more blocks before it takes the first one from above. All ranks do the ups and the downs of
// all blocks in the same order, and so does a root, though it could send down at once: two ranks may be
// neighbours in both trees, and their messages share a FIFO.
#include "collectives/all_reduce.h"
#include "collectives/double_tree.h"
#include "collectives/steps.h"

namespace gyre::plan {

namespace {

constexpr int ahead = 6;

class TreeProgram {
 public:
  TreeProgram(int rank, int ranks) : nodes_{node_of(0, rank, ranks), node_of(1, rank, ranks)} {}

  Program build() {
    for (int turn = 0; turn < tree_all_reduce_blocks + ahead; ++turn) {
      if (turn < tree_all_reduce_blocks) reduce_up(turn);
      if (turn >= ahead) send_down(turn - ahead);
    }
    return std::move(program_);
  }

 private:
  [[nodiscard]] const TreeNode& node_for(int block) const { return nodes_[block % 2]; }

  static std::vector<int> children_of(const TreeNode& node) {
    std::vector<int> children;
    for (const int child : {node.before, node.after}) {
      if (child != TreeNode::none) children.push_back(child);
    }
    return children;
  }

  void reduce_up(int block) {
    const TreeNode& node = node_for(block);
    build::Slices sources;
    if (node.before != TreeNode::none) sources.push_back(build::slot(node.before, block));
    sources.push_back(build::input(block));
    if (node.after != TreeNode::none) sources.push_back(build::slot(node.after, block));
    build::with_messages(
        program_, children_of(node),
        node.parent == TreeNode::none
            ? build::complete(std::move(sources), {build::output(block)})
            : build::combine(std::move(sources), {build::peer_slot(node.parent, block)}));
  }

  void send_down(int block) {
    const TreeNode& node = node_for(block);
    const bool is_root = node.parent == TreeNode::none;
    build::Slices destinations;
    if (!is_root) destinations.push_back(build::output(block));
    for (const int child : children_of(node)) {
      destinations.push_back(build::peer_slot(child, block));
    }
    if (is_root) {
      program_.push_back(build::combine({build::output(block)}, std::move(destinations)));
      return;
    }
    build::take(program_, node.parent, block, std::move(destinations));
  }

  TreeNode nodes_[2];
  Program program_;
};

}  // namespace

Program tree_all_reduce(int rank, int ranks) {
  if (ranks > 1) return TreeProgram(rank, ranks).build();
  Program program;
  for (int block = 0; block < tree_all_reduce_blocks; ++block) {
    program.push_back(build::complete({build::input(block)}, {build::output(block)}));
  }
  return program;
}

}  // namespace gyre::plan
