// SPDX-License-Identifier: Apache-2.0
#include "collectives/double_tree.h"

#include <algorithm>
#include <bit>
#include <vector>

#include <gtest/gtest.h>

namespace gyre::plan {
namespace {

std::vector<int> children_of(const TreeNode& node) {
  std::vector<int> children;
  for (const int child : {node.before, node.after}) {
    if (child != TreeNode::none) children.push_back(child);
  }
  return children;
}

// The members of a subtree, from left to right.
void walk(int tree, int member, int members, std::vector<int>& in_order) {
  const TreeNode node = node_of(tree, member, members);
  if (node.before != TreeNode::none) walk(tree, node.before, members, in_order);
  in_order.push_back(member);
  if (node.after != TreeNode::none) walk(tree, node.after, members, in_order);
}

int depth_of(int tree, int member, int members) {
  int depth = 0;
  for (; node_of(tree, member, members).parent != TreeNode::none; ++depth) {
    member = node_of(tree, member, members).parent;
  }
  return depth;
}

TEST(DoubleTree, BothAreTreesOfAllMembers) {
  for (int members = 1; members <= 300; ++members) {
    for (const int tree : {0, 1}) {
      std::vector<int> in_order;
      walk(tree, root_of(tree, members), members, in_order);
      ASSERT_EQ(in_order.size(), static_cast<std::size_t>(members));
      // In the order of members, or shifted by one.
      const auto smallest = std::min_element(in_order.begin(), in_order.end());
      std::rotate(in_order.begin(), smallest, in_order.end());
      for (int i = 0; i < members; ++i) ASSERT_EQ(in_order[static_cast<std::size_t>(i)], i);
      for (int member = 0; member < members; ++member) {
        for (const int child : children_of(node_of(tree, member, members))) {
          ASSERT_EQ(node_of(tree, child, members).parent, member);
        }
      }
    }
  }
}

TEST(DoubleTree, NobodyIsAnInnerNodeTwice) {
  for (int members = 1; members <= 300; ++members) {
    for (int member = 0; member < members; ++member) {
      const bool inner_in_first = !children_of(node_of(0, member, members)).empty();
      const bool inner_in_second = !children_of(node_of(1, member, members)).empty();
      ASSERT_FALSE(inner_in_first && inner_in_second) << member << " of " << members;
    }
  }
}

TEST(DoubleTree, AreAsLowAsBinaryTreesCanBe) {
  for (const int members : {1, 2, 3, 4, 7, 8, 9, 100, 127, 128, 129, 4096}) {
    const int most = std::bit_width(static_cast<unsigned>(members)) - 1;
    for (const int tree : {0, 1}) {
      for (int member = 0; member < members; ++member) {
        ASSERT_LE(depth_of(tree, member, members), most) << member << " of " << members;
      }
    }
  }
}

TEST(DoubleTree, OfSixMembers) {
  EXPECT_EQ(root_of(0, 6), 3);
  EXPECT_EQ(node_of(0, 3, 6), (TreeNode{.parent = -1, .before = 1, .after = 5}));
  EXPECT_EQ(node_of(0, 5, 6), (TreeNode{.parent = 3, .before = 4, .after = -1}));
  EXPECT_EQ(root_of(1, 6), 2);
  EXPECT_EQ(node_of(1, 2, 6), (TreeNode{.parent = -1, .before = 0, .after = 4}));
  EXPECT_EQ(node_of(1, 0, 6), (TreeNode{.parent = 2, .before = -1, .after = 1}));
}

}  // namespace
}  // namespace gyre::plan
