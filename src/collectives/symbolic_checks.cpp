// SPDX-License-Identifier: Apache-2.0
// SymbolicRun: what is said about an execution that came to its end.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "collectives/plan_error.h"
#include "collectives/symbolic_run.h"

namespace gyre::plan {

namespace {

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

}  // namespace

const Step& SymbolicRun::step_of(int rank) const {
  return plan_.programs[at(rank)][at(positions_[at(rank)].step)];
}

std::size_t SymbolicRun::output_index(int rank, int tile, int block) const {
  return (at(rank) * at(tiles_) + at(tile)) * at(plan_.blocks) + at(block);
}

std::size_t SymbolicRun::scratch_index(int rank, const Slice& slice) const {
  return at(rank) * at(plan_.scratch_blocks) + at(slice.scratch);
}

// Always false: blocked.
bool SymbolicRun::block_on(int rank, int peer) {
  positions_[at(rank)].blocked_on = peer;
  return false;
}

void SymbolicRun::wake(int rank, int by) {
  if (positions_[at(rank)].blocked_on != by) return;
  positions_[at(rank)].blocked_on = -1;
  ready_.push_back(rank);
}

Unexpected SymbolicRun::fail_here(int rank, std::string_view what) const {
  const Position& position = positions_[at(rank)];
  const std::string in_tile = position.tile == 0 ? "" : fmt::format(" In tile {}.", position.tile);
  return fail_step(plan_, rank, position.step, fmt::format("{}{}", what, in_tile));
}

void SymbolicRun::note_in_place(int rank, std::string_view what) {
  if (!in_place_fault_.empty()) return;
  in_place_fault_ = fmt::format("{}: {}", locate(plan_, rank, positions_[at(rank)].step), what);
}

Unexpected SymbolicRun::deadlock() const {
  constexpr int most_named = 8;
  std::string blocked;
  int count = 0;
  for (int rank = 0; rank < plan_.ranks; ++rank) {
    const Position& position = positions_[at(rank)];
    if (position.tile == tiles_) continue;
    if (++count > most_named) continue;
    blocked += fmt::format("{}{} in tile {}, on peer {}", count == 1 ? "" : "; ",
                           locate(plan_, rank, position.step), position.tile, position.blocked_on);
  }
  if (count > most_named) blocked += fmt::format("; and {} more", count - most_named);
  return fail_plan(plan_, fmt::format("It deadlocks. Blocked for ever: {}.", blocked));
}

Status SymbolicRun::check_leftovers() const {
  for (std::size_t number = 0; number < fifos_.size(); ++number) {
    const auto [sender, receiver] = fifos_.ends_of(number);
    if (const auto left = fifos_[number].unreleased(); !left.empty()) {
      return fail_step(
          plan_, sender, left[0].step,
          fmt::format(
              "{} messages from rank {} to rank {} are left at the end, the first of which is "
              "sent here: not waited for, or not released.",
              left.size(), sender, receiver));
    }
    if (const auto left = fifos_[number].signals(); !left.empty()) {
      return fail_step(
          plan_, sender, left[0].step,
          fmt::format(
              "{} signals from rank {} to rank {} are left at the end, the first of which is "
              "given here: an await is missing.",
              left.size(), sender, receiver));
    }
  }
  return {};
}

Status SymbolicRun::check_ends() const {
  for (int owner = 0; is_direct() && owner < plan_.ranks; ++owner) {
    const auto access = remote_.open_at_end(owner, clocks_);
    if (!access) continue;
    return fail_step(plan_, access->rank, access->step,
                     fmt::format("It {} a buffer of rank {}, and nothing keeps that rank from "
                                 "ending before. It must await a signal sent after this step.",
                                 access->writes ? "writes" : "reads", owner));
  }
  return {};
}

Status SymbolicRun::check_results() const {
  // By (tile, block): the expression that the first rank has, when all must have the same.
  std::vector<ValueId> agreed(at(tiles_) * at(plan_.blocks), undefined_value);
  for (int rank = 0; rank < plan_.ranks; ++rank) {
    for (int block = 0; block < plan_.blocks; ++block) {
      const std::optional<Wanted> wanted = goal_.wanted(rank, block);
      for (int tile = 0; wanted && tile < tiles_; ++tile) {
        const std::string fault =
            check_result(outputs_[output_index(rank, tile, block)], tile, *wanted,
                         agreed[at(tile) * at(plan_.blocks) + at(wanted->block)]);
        if (fault.empty()) continue;
        return fail_plan(plan_, fmt::format("Output block {} of rank {} in tile {}: {}.{}", block,
                                            rank, tile, fault, last_writer(rank, block)));
      }
    }
  }
  return {};
}

// A sentence about the step that wrote an output block last; of several ranks' steps, the last rank's.
std::string SymbolicRun::last_writer(int owner, int block) const {
  std::string text;
  for (int rank = 0; rank < plan_.ranks; ++rank) {
    const Slice output =
        rank == owner ? Slice{Place::output, block, -1} : Slice{Place::peer_output, block, owner};
    const Program& program = plan_.programs[at(rank)];
    for (std::size_t step = 0; step < program.size(); ++step) {
      const auto& destinations = program[step].destinations;
      if (std::find(destinations.begin(), destinations.end(), output) == destinations.end())
        continue;
      text =
          fmt::format(" It was written last by {}.", locate(plan_, rank, static_cast<int>(step)));
    }
  }
  return text;
}

std::string SymbolicRun::check_result(ValueId value, int tile, const Wanted& wanted,
                                      ValueId& agreed) const {
  if (goal_.reduces && value != undefined_value && value == agreed) return {};
  std::string fault = values_.compare(value, tile, wanted);
  if (!fault.empty() || !goal_.reduces) return fault;
  if (!values_.is_completed(value)) return "no step completes it";
  if (agreed != undefined_value) {
    return "it is combined in another order than on an earlier rank, so that results would differ "
           "in their last bits";
  }
  agreed = value;
  return {};
}

// All ranks have the same results, so one rank that has a block tells for all.
bool SymbolicRun::has_canonical_results() const {
  for (int block = 0; block < plan_.blocks; ++block) {
    int rank = 0;
    while (rank < plan_.ranks && !goal_.wanted(rank, block)) ++rank;
    for (int tile = 0; rank < plan_.ranks && tile < tiles_; ++tile) {
      if (!values_.is_canonical(outputs_[output_index(rank, tile, block)])) return false;
    }
  }
  return true;
}

Status SymbolicRun::check_in_place() const {
  const bool safe = in_place_fault_.empty();
  if (safe == plan_.in_place_safe) return {};
  return fail_plan(plan_, safe ? "It says that it must not run in place, but nothing in it forbids "
                                 "that. Set in_place_safe."
                               : fmt::format("It says that it may run in place, where input and "
                                             "output are one buffer, but then {}.",
                                             in_place_fault_));
}

}  // namespace gyre::plan
