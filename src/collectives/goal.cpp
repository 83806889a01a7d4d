// SPDX-License-Identifier: Apache-2.0
#include "collectives/goal.h"

#include <fmt/format.h>

#include "collectives/algorithm.h"
#include "collectives/layout.h"

namespace gyre::plan {

namespace {

using Has = std::function<bool(int rank, int block)>;
using Wants = std::function<std::optional<Wanted>(int rank, int block)>;

const Has everywhere = [](int, int) { return true; };
const Has own_block = [](int rank, int block) { return rank == block; };

Has only_at(int root) {
  return [root](int rank, int) { return rank == root; };
}

// What output blocks hold, where there are any.
Wants wants_of(const Plan& plan) {
  const int ranks = plan.ranks;
  const int root = plan.root;
  switch (plan.collective) {
    case Collective::all_reduce:
    case Collective::reduce:
    case Collective::reduce_scatter:
      return [ranks](int, int block) { return Wanted{block, 0, ranks}; };
    case Collective::broadcast:
    case Collective::scatter:
      return [root](int, int block) { return Wanted{block, root, 1}; };
    case Collective::all_gather:
    case Collective::gather:
      return [](int, int block) { return Wanted{block, block, 1}; };
    case Collective::all_to_all:
      return [](int rank, int block) { return Wanted{rank, block, 1}; };
    default:
      return {};
  }
}

Has inputs_of(const Plan& plan) {
  switch (plan.collective) {
    case Collective::broadcast:
    case Collective::scatter:
      return only_at(plan.root);
    case Collective::all_gather:
    case Collective::gather:
      return own_block;
    default:
      return everywhere;
  }
}

Has outputs_of(const Plan& plan) {
  switch (plan.collective) {
    case Collective::reduce:
    case Collective::gather:
      return only_at(plan.root);
    case Collective::reduce_scatter:
    case Collective::scatter:
      return own_block;
    default:
      return everywhere;
  }
}

}  // namespace

Result<Goal> goal_of(const Plan& plan) {
  const Wants wants = wants_of(plan);
  if (!wants) {
    return fail(Code::not_supported,
                fmt::format("Plans of {} cannot be verified yet: the verifier does not know what "
                            "its outputs must hold.",
                            name_of(plan.collective)));
  }
  if (has_root(plan.collective) && (plan.root < 0 || plan.root >= plan.ranks)) {
    return fail(Code::invalid_argument,
                fmt::format("A plan of {} needs a root; its root is {} and ranks are 0 to {}.",
                            name_of(plan.collective), plan.root, plan.ranks - 1));
  }
  if (layout_of(plan.collective).sectioned && plan.blocks != plan.ranks) {
    return fail(
        Code::invalid_argument,
        fmt::format("A plan of {} has a block for each rank; it has {} blocks and {} ranks.",
                    name_of(plan.collective), plan.blocks, plan.ranks));
  }
  const Has outputs = outputs_of(plan);
  return Goal{.wanted = [wants, outputs](int rank, int block) -> std::optional<Wanted> {
                return outputs(rank, block) ? wants(rank, block) : std::nullopt;
              },
              .has_input = inputs_of(plan),
              .has_output = outputs,
              .reduces = reduces(plan.collective),
              .same_blocks = plan.collective != Collective::all_to_all};
}

}  // namespace gyre::plan
