// SPDX-License-Identifier: Apache-2.0
#include "collectives/rotation.h"

#include <deque>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "collectives/goal.h"
#include "collectives/layout.h"
#include "collectives/plan_error.h"
#include "collectives/rotated_values.h"
#include "collectives/structure.h"
#include "collectives/text.h"

namespace gyre::plan {

namespace {

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

// `first`, of rank 0, as rank `by` would do it.
bool is_rotated(const Slice& slice, const Slice& first, int by, int ranks) {
  return slice.place == first.place && slice.scratch == first.scratch &&
         slice.block == (first.block + by) % ranks &&
         slice.peer == (first.peer < 0 ? first.peer : (first.peer + by) % ranks);
}

bool are_rotated(const std::vector<Slice>& slices, const std::vector<Slice>& first, int by,
                 int ranks) {
  bool same = slices.size() == first.size();
  for (std::size_t i = 0; same && i < slices.size(); ++i) {
    same = is_rotated(slices[i], first[i], by, ranks);
  }
  return same;
}

bool is_rotated(const Step& step, const Step& first, int by, int ranks) {
  return step.kind == first.kind && step.completes == first.completes &&
         step.peer == (first.peer < 0 ? first.peer : (first.peer + by) % ranks) &&
         are_rotated(step.destinations, first.destinations, by, ranks) &&
         are_rotated(step.sources, first.sources, by, ranks);
}

// All ranks in lock step, of which rank 0 stands for all. What it puts into the FIFO to the rank `way`
// behind it, the rank `way` before it has put into the FIFO to it, rotated.
class LockStep {
 public:
  LockStep(const Plan& plan, const Goal& goal, int tiles, int slots)
      : plan_(plan), goal_(goal), values_(plan.ranks, tiles), slots_(at(slots)) {
    fifos_.resize(at(plan.ranks));
  }

  Status run(int tiles) {
    for (tile_ = 0; tile_ < tiles; ++tile_) {
      outputs_.assign(at(plan_.blocks), {});
      scratch_.assign(at(plan_.scratch_blocks), {});
      for (step_ = 0; step_ < static_cast<int>(plan_.programs[0].size()); ++step_) {
        GYRE_TRY(perform(plan_.programs[0][at(step_)]));
      }
      GYRE_TRY(check_results());
    }
    for (const Fifo& fifo : fifos_) {
      if (!fifo.messages.empty()) return fail_plan(plan_, "Messages are left at the end.");
    }
    return check_in_place();
  }

 private:
  struct Message {
    RotatedValue value;
    int block = 0;
  };
  struct Fifo {                    // to the rank that is as far behind as its number says
    std::deque<Message> messages;  // not yet released
    bool current = false;          // the first one
  };

  Fifo& from(int peer) { return fifos_[at((plan_.ranks - peer) % plan_.ranks)]; }
  Unexpected fail_here(std::string_view what) const { return fail_step(plan_, 0, step_, what); }

  Status perform(const Step& step) {
    switch (step.kind) {
      case StepKind::combine:
        return combine(step);
      case StepKind::wait:
        return wait(from(step.peer));
      case StepKind::release:
        return release(from(step.peer));
      default:
        return fail_here("Signals belong to direct plans.");
    }
  }

  Status wait(Fifo& fifo) {
    if (fifo.current) return fail_here("An earlier message of this peer is still current.");
    if (fifo.messages.empty()) return fail_here("It deadlocks: no rank can do this step.");
    fifo.current = true;
    return {};
  }

  Status release(Fifo& fifo) {
    if (!fifo.current) return fail_here("No message of this peer is current.");
    fifo.current = false;
    fifo.messages.pop_front();
    return {};
  }

  Status combine(const Step& step) {
    for (const Slice& slice : step.destinations) {
      if (slice.place == Place::peer_slot && fifos_[at(slice.peer)].messages.size() >= slots_) {
        return fail_here("It deadlocks: no rank has a free slot for this step.");
      }
    }
    Result<RotatedValue> value = combined(step);
    if (!value) return Unexpected(std::move(value).error());
    if (step.completes) GYRE_TRY(complete(*value));
    for (const Slice& slice : step.destinations) write(slice, *value);
    return {};
  }

  Result<RotatedValue> combined(const Step& step) {
    std::vector<RotatedValue> operands;
    for (const Slice& slice : step.sources) {
      Result<RotatedValue> value = read(slice);
      if (!value) return value;
      if (step.sources.size() > 1 && values_.is_completed(*value)) {
        return fail_here("A complete value is combined with something.");
      }
      if (!operands.empty() && (values_.block_of(*value) != values_.block_of(operands[0]) ||
                                values_.tile_of(*value) != values_.tile_of(operands[0]))) {
        return fail_here("Its sources hold different blocks, or blocks of different tiles.");
      }
      operands.push_back(*value);
    }
    return values_.combination(operands);
  }

  Status complete(RotatedValue& value) {
    if (!goal_.reduces || values_.is_completed(value)) {
      return fail_here("There is nothing to complete, or it was completed before.");
    }
    const Wanted all{values_.block_of(value), 0, plan_.ranks};
    const std::string fault = values_.compare(value, values_.tile_of(value), all);
    if (!fault.empty()) return fail_here(fmt::format("It completes a value, but {}.", fault));
    value = values_.completion(value);
    return {};
  }

  Result<RotatedValue> read(const Slice& slice) {
    if (slice.place == Place::slot) return read_slot(slice);
    if (slice.place == Place::input) {
      const RotatedValue contributed = values_.contribution(tile_, 0, slice.block);
      const RotatedValue written = outputs_[at(slice.block)];
      if (written.is_defined() && (goal_.reduces || written != contributed)) {
        read_after_write_ = true;
      }
      return contributed;
    }
    const Message held = slice.place == Place::scratch
                             ? scratch_[at(slice.scratch)]
                             : Message{outputs_[at(slice.block)], slice.block};
    if (!held.value.is_defined() || held.block != slice.block) {
      return fail_here(fmt::format("{} was not written in this tile.", to_text(slice)));
    }
    return held.value;
  }

  Result<RotatedValue> read_slot(const Slice& slice) {
    const Fifo& fifo = from(slice.peer);
    if (!fifo.current) return fail_here(fmt::format("{} is not current.", to_text(slice)));
    const Message& sent = fifo.messages.front();
    if ((sent.block + slice.peer) % plan_.ranks != slice.block) {
      return fail_here(fmt::format("{} carries another block.", to_text(slice)));
    }
    return values_.rotated(sent.value, slice.peer);
  }

  void write(const Slice& slice, RotatedValue value) {
    if (slice.place == Place::peer_slot) {
      fifos_[at(slice.peer)].messages.push_back({value, slice.block});
    } else if (slice.place == Place::scratch) {
      scratch_[at(slice.scratch)] = {value, slice.block};
    } else {
      outputs_[at(slice.block)] = value;
    }
  }

  // Rank r has in its output block b what rank 0 has in block b - r, rotated by r. So all ranks have the
  // same in a block if rank 0's blocks are rotations of each other.
  Status check_results() const {
    for (int block = 0; block < plan_.blocks; ++block) {
      const std::optional<Wanted> wanted = goal_.wanted(0, block);
      if (!wanted) continue;
      const RotatedValue value = outputs_[at(block)];
      std::string fault = values_.compare(value, tile_, *wanted);
      if (fault.empty() && goal_.reduces && !values_.is_completed(value)) {
        fault = "no step completes it";
      }
      const bool everywhere = plan_.collective == Collective::all_reduce;
      if (fault.empty() && everywhere && value != values_.rotated(outputs_[0], block)) {
        fault = "it is combined in another order on another rank";
      }
      if (!fault.empty()) {
        return fail_plan(
            plan_, fmt::format("Output block {} of rank 0 in tile {}: {}.", block, tile_, fault));
      }
    }
    return {};
  }

  Status check_in_place() const {
    if (read_after_write_ != plan_.in_place_safe) return {};
    return fail_plan(plan_, "in_place_safe does not say whether it may run in place.");
  }

  const Plan& plan_;
  const Goal& goal_;
  RotatedValues values_;
  const std::size_t slots_;
  std::vector<Fifo> fifos_;            // by how far the receiver is behind the sender
  std::vector<RotatedValue> outputs_;  // of the tile
  std::vector<Message> scratch_;
  int tile_ = 0, step_ = 0;
  bool read_after_write_ =
      false;  // an input block whose output block was written; see symbolic_run
};

}  // namespace

Status check_rotation(const Plan& plan, const ProgramOf& program_of) {
  if (plan.blocks != plan.ranks) {
    return fail_plan(plan, fmt::format("It has {} blocks, so shifting ranks and blocks together "
                                       "has no meaning.",
                                       plan.blocks));
  }
  const Program first = program_of(0);
  for (int rank = 1; rank < plan.ranks; ++rank) {
    const Program program = program_of(rank);
    bool same = program.size() == first.size();
    for (std::size_t step = 0; same && step < first.size(); ++step) {
      same = is_rotated(program[step], first[step], rank, plan.ranks);
    }
    if (!same) {
      return fail_plan(plan,
                       fmt::format("The program of rank {} is not that of rank 0, shifted.", rank));
    }
  }
  return {};
}

Status verify_by_rotation(const Plan& plan, const ProgramOf& program_of,
                          const VerifyOptions& options) {
  const Result<Goal> goal = goal_of(plan);
  if (!goal) return Unexpected(goal.error());
  if (has_root(plan.collective) || plan.protocol == Protocol::direct) {
    return fail_plan(plan, "Only plans with slots and without a root are alike on all ranks.");
  }
  GYRE_TRY(check_rotation(plan, program_of));
  Plan of_rank_0 = plan;
  of_rank_0.programs.assign(at(plan.ranks), {});
  of_rank_0.programs[0] = program_of(0);
  GYRE_TRY(check_structure(of_rank_0, *goal));
  LockStep run(of_rank_0, *goal, options.tiles, options.slots == 0 ? plan.slots : options.slots);
  return run.run(options.tiles);
}

}  // namespace gyre::plan
