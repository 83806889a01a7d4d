// SPDX-License-Identifier: Apache-2.0
// AllReduce, AllGather, ReduceScatter and Broadcast by levels, for ranks that are nearer to some than to
// others: sockets, hosts, a cluster. Each phase is another algorithm's program among the members of one
// level, with ranks, blocks and buffers renamed.
//
// Source: the composition of M. Cho, U. Finkler, M. Serrano, D. Kung, H. Hunter, "BlueConnect:
// decomposing all-reduce for deep learning on heterogeneous network hierarchy", IBM Journal of Research
// and Development 63(6), 2019: a reduce-scatter on each level, an AllReduce on the outermost, an
// all-gather on each level on the way back.
//
// A block is a number with a digit for each level (Levels). On level k a phase moves the blocks whose
// digits inside k are those of the rank: so the ranks in one place of their hosts are a rail, which carries
// the blocks of that place, and all rails carry alike. One run of the phase's program moves as many blocks
// as it has; the others follow.
//
//   AllReduce      reduce-scatter from the innermost level outwards, AllReduce across the outermost,
//                  all-gather back inwards. What is on its way lies in the output.
//   ReduceScatter  from the innermost level outwards. What is on its way lies in scratch: of all sections
//                  one for each group of ranks of the innermost level.
//   AllGather      from the outermost level inwards.
//   Broadcast      from the innermost level of the root outwards: when all ranks near the root have all,
//                  each sends the blocks of its place along its rail, and who is near none that have it
//                  all-gathers.
#include "collectives/hierarchical.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "collectives/layout.h"
#include "collectives/steps.h"

namespace gyre::plan {

namespace {

// What an algorithm is called that does the same in another collective.
Algorithm form_of(Collective collective, Algorithm algorithm) {
  if (collective == Collective::all_reduce) return algorithm;
  if (algorithm == Algorithm::two_shot) return Algorithm::one_shot;
  if (collective != Collective::broadcast) return algorithm;
  if (algorithm == Algorithm::ring) return Algorithm::chain;
  return algorithm == Algorithm::pat ? Algorithm::binomial : algorithm;
}

std::vector<Collective> phases_inside(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return {Collective::reduce_scatter, Collective::all_gather};
    case Collective::broadcast:
      return {Collective::broadcast, Collective::all_gather};
    default:
      return {collective};
  }
}

// A recipe seen by levels.
class Composition {
 public:
  explicit Composition(const Recipe& recipe)
      : recipe_(recipe), levels_(recipe.hierarchy, recipe.ranks) {
    const bool sectioned = layout_of(recipe.collective).sectioned;
    const int outermost = levels_.outermost();
    blocks_ = sectioned
                  ? recipe.ranks
                  : levels_.stride(outermost) * describe(part(recipe.collective, outermost)).blocks;
  }

  [[nodiscard]] Collective collective() const { return recipe_.collective; }
  [[nodiscard]] int root() const { return recipe_.root; }
  [[nodiscard]] int blocks() const { return blocks_; }
  [[nodiscard]] const Levels& levels() const { return levels_; }

  // Among the members of a level, for one run of a phase.
  [[nodiscard]] Recipe part(Collective phase, int level) const {
    const bool across = level == levels_.outermost();
    return {
        .collective = phase,
        .algorithm = form_of(phase, across ? recipe_.hierarchy.across : recipe_.hierarchy.inside),
        .protocol = Protocol::staged,
        .ranks = levels_.size(level),
        .root = has_root(phase) ? levels_.place_of(recipe_.root, level) : -1};
  }
  // How often the program of `part` is run.
  [[nodiscard]] int runs(const Recipe& part, int level) const {
    return blocks_ / levels_.stride(level) / describe(part).blocks;
  }
  // Whether a run sends its messages before the one before it has waited for its own. It must not
  // change the order of messages: in an exchange among all a peer gets one message a run.
  [[nodiscard]] bool sends_ahead(const Recipe& part, int level) const {
    return part.algorithm == Algorithm::one_shot && !has_root(part.collective) &&
           runs(part, level) > 1;
  }
  // Sections on their way of a reduce-scatter, before the scratch of its parts.
  [[nodiscard]] int sections_in_scratch() const {
    const bool several = collective() == Collective::reduce_scatter && levels_.count() > 1;
    return several ? blocks_ / levels_.size(0) : 0;
  }

  template <typename Visit>
  void for_each_part(Visit&& visit) const {
    for (int level = 0; level < levels_.count(); ++level) {
      const bool across = level == levels_.outermost();
      for (const Collective phase :
           across ? std::vector{collective()} : phases_inside(collective())) {
        visit(part(phase, level), level);
      }
    }
  }

 private:
  const Recipe& recipe_;
  Levels levels_;
  int blocks_;
};

class HierarchicalProgram {
 public:
  HierarchicalProgram(const Composition& composition, int rank)
      : composition_(composition), levels_(composition.levels()), rank_(rank) {}

  Program build() {
    const int outermost = levels_.outermost();
    switch (composition_.collective()) {
      case Collective::all_reduce:
        for (int level = 0; level < outermost; ++level) {
          run({Collective::reduce_scatter, level, first_source(level), Place::output, false});
        }
        run({Collective::all_reduce, outermost, first_source(outermost), Place::output, true});
        all_gather_inside(outermost);
        break;
      case Collective::reduce_scatter:
        for (int level = 0; level <= outermost; ++level) {
          const bool last = level == outermost;
          run({Collective::reduce_scatter, level, level == 0 ? Place::input : Place::scratch,
               last ? Place::output : Place::scratch, last});
        }
        break;
      case Collective::all_gather:
        run({Collective::all_gather, outermost, Place::input, Place::output, false});
        all_gather_inside(outermost);
        break;
      default:
        broadcast();
    }
    return std::move(program_);
  }

 private:
  struct Phase {
    Collective collective;
    int level;
    Place from, to;  // what its program calls input and output
    bool completes;
  };

  // Who starts has its values in its input.
  static Place first_source(int level) { return level == 0 ? Place::input : Place::output; }

  void all_gather_inside(int of_level) {
    for (int level = of_level - 1; level >= 0; --level) {
      run({Collective::all_gather, level, Place::output, Place::output, false});
    }
  }

  void broadcast() {
    for (int level = 0; level < levels_.count(); ++level) {
      if (!is_near_root(level)) continue;
      run({Collective::broadcast, level, first_source(level), Place::output, false});
      if (levels_.place_of(rank_, level) != levels_.place_of(composition_.root(), level)) {
        all_gather_inside(level);
      }
    }
  }

  // Whether the rank differs from the root in its places up to that level only.
  [[nodiscard]] bool is_near_root(int level) const {
    const int ranks = levels_.stride(level) * levels_.size(level);
    return rank_ / ranks == composition_.root() / ranks;
  }

  void run(const Phase& phase) {
    const Recipe part = composition_.part(phase.collective, phase.level);
    const Program program = program_of(part, levels_.place_of(rank_, phase.level));
    const int runs = composition_.runs(part, phase.level);
    const int blocks = describe(part).blocks * levels_.stride(phase.level);
    const auto own = [&](int number) {
      return rank_ % levels_.stride(phase.level) + number * blocks;
    };
    const auto body = composition_.sends_ahead(part, phase.level)
                          ? std::find_if(program.begin(), program.end(), waits)
                          : program.begin();
    for (int number = 0; number < runs; ++number) {
      const bool first = number == 0;
      const bool last = number + 1 == runs;
      if (first) add({program.begin(), body}, phase, own(number));
      if (!last) add({program.begin(), body}, phase, own(number + 1));
      add({body, program.end()}, phase, own(number));
    }
  }

  static bool waits(const Step& step) { return step.kind == StepKind::wait; }

  void add(std::span<const Step> steps, const Phase& phase, int first_block) {
    for (Step step : steps) {
      if (step.peer >= 0) step.peer = levels_.rank_at(rank_, phase.level, step.peer);
      for (Slice& slice : step.sources) rename(slice, phase, first_block);
      for (Slice& slice : step.destinations) rename(slice, phase, first_block);
      step.completes = step.completes && phase.completes;
      // What was input and what was output may be one now.
      if (step.sources.size() == 1) std::erase(step.destinations, step.sources[0]);
      if (step.kind == StepKind::combine && step.destinations.empty()) continue;
      program_.push_back(std::move(step));
    }
  }

  void rename(Slice& slice, const Phase& phase, int first_block) const {
    slice.block = first_block + slice.block * levels_.stride(phase.level);
    if (slice.peer >= 0) slice.peer = levels_.rank_at(rank_, phase.level, slice.peer);
    if (slice.scratch >= 0) slice.scratch += composition_.sections_in_scratch();
    if (slice.place == Place::input) {
      slice = home(phase.from, slice.block);
    } else if (slice.place == Place::output) {
      slice = home(phase.to, slice.block);
    }
  }

  [[nodiscard]] Slice home(Place place, int block) const {
    if (place == Place::scratch) return build::scratch(block / levels_.size(0), block);
    return {place, block, -1};
  }

  const Composition& composition_;
  const Levels& levels_;
  const int rank_;
  Program program_;
};

}  // namespace

bool has_hierarchical(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::all_gather ||
         collective == Collective::reduce_scatter || collective == Collective::broadcast;
}

Status check_hierarchy(const Recipe& recipe) {
  const auto check = [&](Collective phase, Algorithm algorithm, std::string_view where) -> Status {
    const bool fits = algorithm != Algorithm::hierarchical &&
                      exists(phase, form_of(phase, algorithm), Protocol::staged);
    return fits ? Status{}
                : fail(Code::invalid_argument,
                       fmt::format("A hierarchical {} cannot run {} {}: {} has no such form.",
                                   name_of(recipe.collective), name_of(algorithm), where,
                                   name_of(phase)));
  };
  for (const Collective phase : phases_inside(recipe.collective)) {
    GYRE_TRY(check(phase, recipe.hierarchy.inside, "inside a level"));
  }
  return check(recipe.collective, recipe.hierarchy.across, "across the outermost level");
}

Plan describe_hierarchical(const Recipe& recipe) {
  const Composition composition(recipe);
  Plan plan;
  plan.name = name_of(Algorithm::hierarchical);
  plan.collective = recipe.collective;
  plan.protocol = recipe.protocol;
  plan.ranks = recipe.ranks;
  plan.root = recipe.root;
  plan.blocks = composition.blocks();
  plan.slots = 1;
  composition.for_each_part([&](const Recipe& part, int level) {
    const Plan described = describe(part);
    const int ahead = composition.sends_ahead(part, level) ? 1 : 0;
    plan.slots = std::max(plan.slots, described.slots + ahead);
    plan.scratch_blocks = std::max(plan.scratch_blocks, described.scratch_blocks);
  });
  plan.scratch_blocks += composition.sections_in_scratch();
  return plan;
}

Program hierarchical_program(const Recipe& recipe, int rank) {
  const Composition composition(recipe);
  return HierarchicalProgram(composition, rank).build();
}

}  // namespace gyre::plan
