// SPDX-License-Identifier: Apache-2.0
#include "collectives/double_tree.h"

#include <bit>

namespace gyre::plan {

namespace {

// The first tree over positions 1 .. n, in order: the height of a position is the number of its
// lowest bit, so odd positions are leaves and even ones are inner nodes.
int lowest_bit(int position) {
  return position & -position;
}

int root_position(int positions) {
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(positions)));
}

int parent_position(int position, int positions) {
  if (position == root_position(positions)) return TreeNode::none;
  const int without = position - lowest_bit(position);
  const int parent = without | (2 * lowest_bit(position));
  // Where the tree is cut off, the nearest ancestor that there is.
  return parent <= positions ? parent : without;
}

int before_position(int position) {
  const int half = lowest_bit(position) / 2;
  return half > 0 ? position - half : TreeNode::none;
}

int after_position(int position, int positions) {
  for (int half = lowest_bit(position) / 2; half > 0; half /= 2) {
    if (position + half <= positions) return position + half;
  }
  return TreeNode::none;
}

// The second tree is the first one seen from the other end, where the number of members is even, and
// shifted by one where it is odd. Both swap odd positions and even ones.
class Placement {
 public:
  Placement(int tree, int members) : members_(members), second_(tree == 1) {}

  [[nodiscard]] bool mirrored() const { return second_ && members_ % 2 == 0; }
  [[nodiscard]] int position_of(int member) const {
    if (!second_) return member + 1;
    return mirrored() ? members_ - member : (member + 1) % members_ + 1;
  }
  [[nodiscard]] int member_at(int position) const {
    if (position == TreeNode::none) return TreeNode::none;
    if (!second_) return position - 1;
    return mirrored() ? members_ - position : (position - 2 + members_) % members_;
  }

 private:
  int members_;
  bool second_;
};

}  // namespace

TreeNode node_of(int tree, int member, int members) {
  const Placement placement(tree, members);
  const int position = placement.position_of(member);
  const int before = placement.member_at(before_position(position));
  const int after = placement.member_at(after_position(position, members));
  return {.parent = placement.member_at(parent_position(position, members)),
          .before = placement.mirrored() ? after : before,
          .after = placement.mirrored() ? before : after};
}

int root_of(int tree, int members) {
  return Placement(tree, members).member_at(root_position(members));
}

}  // namespace gyre::plan
