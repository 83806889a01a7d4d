// SPDX-License-Identifier: Apache-2.0
// Plans that users brought, and which calls run them (docs/plan-files.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "collectives/direct.h"
#include "collectives/plan.h"
#include "net/bytes.h"
#include "transport/connection.h"

namespace gyre::core {

struct UserPlan {
  plan::Plan heading;     // without its programs; the name is "file:NAME"
  plan::Program program;  // of this rank
  plan::Reach reach;      // of a direct one
};

class PlanBook {
 public:
  // The plan for calls of this kind, or null. Where several fit, the first of the list.
  [[nodiscard]] const UserPlan* find(plan::Collective collective, int root, bool direct) const;
  [[nodiscard]] bool empty() const { return plans_.empty(); }

  void add(plan::Plan plan, int rank);

 private:
  std::vector<UserPlan> plans_;
};

// What rank 0 hands to all: the plans of `files` (paths, separated by colons) that are for so many
// ranks, each of them proved right and able to run over connections of this shape. Plans for other
// numbers of ranks are left out. The error names the file.
[[nodiscard]] Result<net::Bytes> gather_user_plans(std::string_view files, int ranks,
                                                   const transport::Shape& shape);
// At every rank: u32 count, that many plans as JSON, each a u32 length and its text.
[[nodiscard]] Result<PlanBook> parse_user_plans(net::ByteView bytes, int rank);

}  // namespace gyre::core
