// SPDX-License-Identifier: Apache-2.0
#include "collectives/structure.h"

#include <algorithm>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "collectives/algorithm.h"
#include "collectives/plan_error.h"
#include "collectives/text.h"

namespace gyre::plan {

namespace {

bool has_peer(Place place) {
  return place != Place::input && place != Place::output && place != Place::scratch;
}

bool is_direct(Place place) {
  return place == Place::peer_input || place == Place::peer_output;
}

bool may_be_source(Place place) {
  return place != Place::peer_slot;
}

bool may_be_destination(Place place) {
  return place == Place::output || place == Place::peer_slot || place == Place::peer_output ||
         place == Place::scratch;
}

// What the verifier keeps of a direct plan, a clock of all ranks for each of them and the accesses to
// each block, must fit in memory. Such a plan runs on one host.
constexpr int most_direct_ranks = 1024;
constexpr std::int64_t most_direct_blocks = std::int64_t{1} << 20;  // of all ranks together

std::string check_size(const Plan& plan) {
  const bool fits = plan.protocol != Protocol::direct ||
                    (plan.ranks <= most_direct_ranks &&
                     std::int64_t{plan.ranks} * plan.blocks <= most_direct_blocks);
  return fits ? ""
              : fmt::format(
                    "It has {} ranks and {} blocks; a direct plan has at most {} ranks, "
                    "and together {} blocks.",
                    plan.ranks, plan.blocks, most_direct_ranks, most_direct_blocks);
}

// Each check answers with what is wrong, or with an empty text.
class StepCheck {
 public:
  StepCheck(const Plan& plan, const Goal& goal, int rank) : plan_(plan), goal_(goal), rank_(rank) {}

  std::string check(const Step& step) const {
    return step.kind == StepKind::combine ? check_combine(step) : check_exchange(step);
  }

 private:
  std::string check_peer(int peer) const {
    if (peer < 0 || peer >= plan_.ranks) {
      return fmt::format("Peer {} does not exist; peers are 0 to {}.", peer, plan_.ranks - 1);
    }
    if (peer == rank_) return "A rank has no FIFO to itself; the peer must be another rank.";
    return {};
  }

  std::string check_exchange(const Step& step) const {
    if (!step.sources.empty() || !step.destinations.empty() || step.completes) {
      return "Only combine has sources and destinations and completes a value.";
    }
    const bool of_direct = step.kind == StepKind::signal || step.kind == StepKind::await;
    if (of_direct != (plan_.protocol == Protocol::direct)) {
      return of_direct ? "Signals belong to direct plans; this one sends messages."
                       : "A direct plan has no slots, so nothing to wait for or to release.";
    }
    return check_peer(step.peer);
  }

  std::string check_slice(const Slice& slice) const {
    if (slice.block < 0 || slice.block >= plan_.blocks) {
      return fmt::format("{}: there is no such block; blocks are 0 to {}.", to_text(slice),
                         plan_.blocks - 1);
    }
    if (!exists(slice)) {
      return fmt::format("{}: this buffer has no such block in {}.", to_text(slice),
                         name_of(plan_.collective));
    }
    if (std::string fault = check_scratch(slice); !fault.empty()) return fault;
    if (!has_peer(slice.place)) return {};
    if (is_direct(slice.place) != (plan_.protocol == Protocol::direct)) {
      return fmt::format("{}: {}", to_text(slice),
                         is_direct(slice.place)
                             ? "only a direct plan can reach into buffers of a peer."
                             : "a direct plan has no slots.");
    }
    return check_peer(slice.peer);
  }

  std::string check_scratch(const Slice& slice) const {
    if (slice.place != Place::scratch) {
      return slice.scratch == -1 ? "" : "Only scratch has the number of a scratch block.";
    }
    if (plan_.protocol == Protocol::direct) {
      return "A direct plan has no scratch: its blocks are as long as the buffers.";
    }
    if (slice.scratch >= 0 && slice.scratch < plan_.scratch_blocks) return {};
    return fmt::format("{}: there is no such scratch block; the plan has {}.", to_text(slice),
                       plan_.scratch_blocks);
  }

  bool exists(const Slice& slice) const {
    switch (slice.place) {
      case Place::input:
        return goal_.has_input(rank_, slice.block);
      case Place::output:
        return goal_.has_output(rank_, slice.block);
      case Place::peer_input:
        return goal_.has_input(slice.peer, slice.block);
      case Place::peer_output:
        return goal_.has_output(slice.peer, slice.block);
      default:
        return true;
    }
  }

  std::string check_combine(const Step& step) const {
    if (step.sources.empty() || step.destinations.empty()) {
      return "A combine needs at least one source and one destination.";
    }
    for (const Slice& slice : step.sources) {
      if (!may_be_source(slice.place)) {
        return fmt::format("{} can only be written.", to_text(slice));
      }
      if (std::string fault = check_slice(slice); !fault.empty()) return fault;
    }
    for (const Slice& slice : step.destinations) {
      if (!may_be_destination(slice.place)) {
        return fmt::format("{} must not be written.", to_text(slice));
      }
      if (std::string fault = check_slice(slice); !fault.empty()) return fault;
    }
    if (goal_.same_blocks && !within_one_block(step)) {
      return "All sources and destinations must name the same block: blocks differ in length.";
    }
    return check_overlap(step);
  }

  static bool within_one_block(const Step& step) {
    const auto same = [&](const Slice& slice) { return slice.block == step.sources[0].block; };
    return std::all_of(step.sources.begin(), step.sources.end(), same) &&
           std::all_of(step.destinations.begin(), step.destinations.end(), same);
  }

  static std::string check_overlap(const Step& step) {
    // One put per FIFO and step, and one value per scratch block, whatever block they carry.
    const auto key = [](const Slice& slice) {
      const bool carries = slice.place == Place::peer_slot || slice.place == Place::scratch;
      return std::tuple(slice.place, has_peer(slice.place) ? slice.peer : slice.scratch,
                        carries ? 0 : slice.block);
    };
    std::vector<Slice> sorted = step.destinations;
    std::sort(sorted.begin(), sorted.end(),
              [&](const Slice& a, const Slice& b) { return key(a) < key(b); });
    const auto twice =
        std::adjacent_find(sorted.begin(), sorted.end(),
                           [&](const Slice& a, const Slice& b) { return key(a) == key(b); });
    if (twice == sorted.end()) return {};
    return fmt::format("{} is written twice by one step.", to_text(*twice));
  }

  const Plan& plan_;
  const Goal& goal_;
  const int rank_;
};

}  // namespace

Status check_structure(const Plan& plan, const Goal& goal) {
  if (plan.ranks < 1 || plan.programs.size() != static_cast<std::size_t>(plan.ranks)) {
    return fail_plan(plan, fmt::format("It has {} programs; one for each rank is needed.",
                                       plan.programs.size()));
  }
  if (plan.blocks < 1 || plan.slots < 1 || plan.scratch_blocks < 0) {
    return fail_plan(plan, fmt::format("It has {} blocks, {} slots and {} scratch blocks; at least "
                                       "one, one and none are needed.",
                                       plan.blocks, plan.slots, plan.scratch_blocks));
  }
  if (const std::string fault = check_size(plan); !fault.empty()) return fail_plan(plan, fault);
  for (int rank = 0; rank < plan.ranks; ++rank) {
    const StepCheck checker(plan, goal, rank);
    const Program& program = plan.programs[static_cast<std::size_t>(rank)];
    for (std::size_t step = 0; step < program.size(); ++step) {
      const std::string fault = checker.check(program[step]);
      if (!fault.empty()) return fail_step(plan, rank, static_cast<int>(step), fault);
    }
  }
  return {};
}

}  // namespace gyre::plan
