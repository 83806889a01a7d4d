// SPDX-License-Identifier: Apache-2.0
// Plans of any collective on data, against what the collective is by definition.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "collectives/layout.h"
#include "collectives/text.h"
#include "unit/collectives/interpreter.h"

namespace gyre::plan {

using RunValues = std::vector<std::int64_t>;

// What rank `rank` holds in its input: of block b where it has sections.
inline std::int64_t run_element(int rank, std::uint64_t block, std::uint64_t index) {
  return static_cast<std::int64_t>((static_cast<std::uint64_t>(rank) + 1) * 1'000'003 +
                                   block * 10'007 + index * 31);
}

inline RunValues run_input(const Plan& plan, std::uint64_t count, int rank) {
  const Layout layout = layout_of(plan.collective);
  const auto blocks =
      static_cast<std::uint64_t>(layout.sectioned && layout.input_sections ? plan.ranks : 1);
  RunValues values;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    for (std::uint64_t i = 0; i < count; ++i) values.push_back(run_element(rank, block, i));
  }
  return values;
}

// What contributions to a reduction are multiplied with.
inline std::int64_t run_scale(const Plan& plan) {
  return reduces(plan.collective) ? 3 : 1;
}

// Element i of output block `block` of `rank`, by the definition of the collective.
inline std::int64_t run_wanted(const Plan& plan, int rank, int block, std::uint64_t i) {
  const auto sum = [&](std::uint64_t of) {
    std::int64_t all = 0;
    for (int source = 0; source < plan.ranks; ++source) all += run_element(source, of, i);
    return all * run_scale(plan);
  };
  switch (plan.collective) {
    case Collective::reduce_scatter:
      return sum(static_cast<std::uint64_t>(rank));
    case Collective::all_gather:
    case Collective::gather:
      return run_element(block, 0, i);
    case Collective::broadcast:
      return run_element(plan.root, 0, i);
    case Collective::scatter:
      return run_element(plan.root, static_cast<std::uint64_t>(rank), i);
    case Collective::all_to_all:
      return run_element(block, static_cast<std::uint64_t>(rank), i);
    default:
      return sum(0);
  }
}

inline bool has_run_result(const Plan& plan, int rank) {
  const bool at_root =
      plan.collective == Collective::reduce || plan.collective == Collective::gather;
  return !at_root || rank == plan.root;
}

// What is wrong in the output of a rank, or nothing.
inline std::string fault_in_output(const Plan& plan, int rank, const RunValues& output,
                                   std::uint64_t count, bool in_place) {
  const Layout layout = layout_of(plan.collective);
  const bool all = layout.sectioned && layout.output_sections;
  for (int block = 0; block < (all ? plan.ranks : 1); ++block) {
    // In place the one section of ReduceScatter and Scatter lies among all.
    const bool among = layout.sectioned && (all || in_place);
    const int section = all ? block : rank;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t at = (among ? static_cast<std::uint64_t>(section) * count : 0) + i;
      if (output[at] != run_wanted(plan, rank, block, i)) {
        return fmt::format("rank {}, block {}, element {} is {}, not {}", rank, block, i,
                           output[at], run_wanted(plan, rank, block, i));
      }
    }
  }
  return {};
}

// Runs the plan with slots of `slot_bytes`, the steps of its ranks in an order drawn by `seed`.
inline std::string fault_on_data(const Plan& plan, std::uint64_t count, std::uint64_t slot_bytes,
                                 bool in_place, std::uint64_t seed) {
  const bool sectioned = layout_of(plan.collective).sectioned;
  const Geometry geometry(
      {.count = count,
       .element_bytes = sizeof(std::int64_t),
       .blocks = sectioned ? 1 : static_cast<std::uint64_t>(plan.blocks),
       .slot_bytes = plan.protocol == Protocol::direct ? unbounded_slot : slot_bytes,
       .channels = 1});
  std::vector<RunValues> inputs;
  for (int rank = 0; rank < plan.ranks; ++rank) inputs.push_back(run_input(plan, count, rank));
  Interpreter<std::int64_t> machine(plan, geometry, std::move(inputs), -77, in_place, count,
                                    run_scale(plan));
  if (!machine.run(seed)) return "it got stuck, or did what cannot be done";
  if (machine.anything_left()) return "messages or signals are left";
  for (int rank = 0; rank < plan.ranks; ++rank) {
    if (!has_run_result(plan, rank)) continue;
    std::string fault = fault_in_output(plan, rank, machine.output(static_cast<std::size_t>(rank)),
                                        count, in_place);
    if (!fault.empty()) return fault;
  }
  return {};
}

// Whether it does in two tiles what it is for, in place too if it says so, in several orders.
inline bool runs_right(const Plan& plan) {
  constexpr std::uint64_t slot_elements = 8;
  const bool sectioned = layout_of(plan.collective).sectioned;
  const std::uint64_t blocks = sectioned ? 1 : static_cast<std::uint64_t>(plan.blocks);
  const std::uint64_t count = 2 * blocks * slot_elements - 3;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const bool in_place = seed % 2 == 1 && plan.in_place_safe;
    if (!fault_on_data(plan, count, slot_elements * sizeof(std::int64_t), in_place, seed).empty()) {
      return false;
    }
  }
  return true;
}

}  // namespace gyre::plan
