// SPDX-License-Identifier: Apache-2.0
// The reduction operations of one communicator: the built-in ones and those its user made.
#pragma once

#include <map>

#include "base/status.h"
#include "engine/combiner.h"
#include "gyre/gyre.h"

namespace gyre::core {

class Operations {
 public:
  explicit Operations(int ranks) : ranks_(ranks) {}

  gyreRedOp_t add_premulsum(const void* scalar, gyreDataType_t type);
  gyreRedOp_t add_user(const engine::UserFunction& function);
  Status remove(gyreRedOp_t op);

  // How `op` is computed on `type`; invalid_argument when there is no such pair.
  [[nodiscard]] Result<engine::Reduction> resolve(gyreRedOp_t op, gyreDataType_t type) const;
  // Whether every rank scales its contributions alike, so that one may scale another's.
  [[nodiscard]] static bool same_on_all_ranks(gyreRedOp_t op) { return op < gyreNumOps; }
  // The operation as the other ranks see it: users' ones have no common number.
  [[nodiscard]] static int common_number(gyreRedOp_t op) {
    return op < gyreNumOps ? static_cast<int>(op) : static_cast<int>(gyreNumOps);
  }

 private:
  struct Made {
    engine::Reduction reduction;
    bool any_type = false;  // users' functions are told the type
  };

  int ranks_;
  int next_ = gyreNumOps;
  std::map<int, Made> made_;
};

}  // namespace gyre::core
