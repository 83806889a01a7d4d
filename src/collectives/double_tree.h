// SPDX-License-Identifier: Apache-2.0
// Two binary trees over the same members, in which nobody is an inner node twice.
//
// Source: P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for full bandwidth broadcast,
// reduction and scan", Parallel Computing 35(12), 2009.
//
// In one binary tree the inner nodes send twice what they receive and the leaves send nothing. With
// half of the data in each of two trees, whose inner nodes are the other's leaves, every member
// receives each byte once and sends it at most once, over at most floor(log2 n) hops.
#pragma once

namespace gyre::plan {

struct TreeNode {
  static constexpr int none = -1;
  int parent = none;
  // Children. Where the tree is in the order of its members (all but the second one of an odd number),
  // the subtree of `before` has members before this one and that of `after` those after it.
  int before = none;
  int after = none;
  friend bool operator==(const TreeNode&, const TreeNode&) = default;
};

// The place of `member` of 0 .. members - 1 in tree 0 or 1.
[[nodiscard]] TreeNode node_of(int tree, int member, int members);
[[nodiscard]] int root_of(int tree, int members);

}  // namespace gyre::plan
