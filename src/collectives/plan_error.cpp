// SPDX-License-Identifier: Apache-2.0
#include "collectives/plan_error.h"

#include <fmt/format.h>

#include "collectives/text.h"

namespace gyre::plan {

std::string locate(const Plan& plan, int rank, int step) {
  return fmt::format(
      "rank {}, step {} ({})", rank, step,
      to_text(plan.programs[static_cast<std::size_t>(rank)][static_cast<std::size_t>(step)]));
}

Unexpected fail_plan(const Plan& plan, std::string_view what) {
  return fail(Code::invalid_argument,
              fmt::format("The plan {} for {} ranks is wrong: {}", title(plan), plan.ranks, what));
}

Unexpected fail_step(const Plan& plan, int rank, int step, std::string_view what) {
  return fail(Code::invalid_argument,
              fmt::format("The plan {} for {} ranks is wrong at {}: {}", title(plan), plan.ranks,
                          locate(plan, rank, step), what));
}

}  // namespace gyre::plan
