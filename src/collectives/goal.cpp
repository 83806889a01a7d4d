// SPDX-License-Identifier: Apache-2.0
#include "collectives/goal.h"

#include <fmt/format.h>

#include "collectives/algorithm.h"

namespace gyre::plan {

Result<Goal> goal_of(const Plan& plan) {
  if (plan.collective == Collective::all_reduce) {
    const int ranks = plan.ranks;
    return Goal{.wanted =
                    [ranks](int, int block) {
                      return Wanted{block, 0, ranks};
                    },
                .reduces = true,
                .same_blocks = true};
  }
  return fail(Code::not_supported,
              fmt::format("Plans of {} cannot be verified yet: the verifier does not know what "
                          "its outputs must hold.",
                          name_of(plan.collective)));
}

}  // namespace gyre::plan
