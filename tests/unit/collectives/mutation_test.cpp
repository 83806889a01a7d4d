// SPDX-License-Identifier: Apache-2.0
// Is the verifier strict enough? Every plan of the catalog is spoiled in every small way, and each
// spoiled plan must be rejected, but for two kinds of change that do not always spoil one:
//   - A step that only writes memory of its rank's own (in direct plans: of peers), and reads nothing
//     of what it writes, may be done twice: the second time it computes the same.
//   - Two neighbouring steps that have nothing to do with each other may be swapped. `dependent` says
//     which have; only those must be rejected. For the others the verdict must be what happens on real
//     data (plan_runs.h).
// Of large plans a sample of the steps is spoiled; all with GYRE_TEST_FULL=1.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "collectives/text.h"
#include "collectives/verifier.h"
#include "unit/collectives/plan_cases.h"
#include "unit/collectives/plan_runs.h"

namespace gyre::plan {
namespace {

constexpr int rank_counts[] = {2, 3, 4, 5, 8};
constexpr std::size_t most_positions = 60;  // (rank, step) of a plan that are spoiled

bool has_peer(const Slice& slice) {
  return slice.place != Place::input && slice.place != Place::output &&
         slice.place != Place::scratch;
}

// Whether two slices are the same memory. Scratch is the same whatever block it carries.
bool same_memory(const Slice& a, const Slice& b) {
  if (a.place != b.place || a.peer != b.peer) return false;
  return a.place == Place::scratch ? a.scratch == b.scratch : a.block == b.block;
}

bool names(const std::vector<Slice>& slices, const Slice& wanted) {
  return std::any_of(slices.begin(), slices.end(),
                     [&](const Slice& slice) { return same_memory(slice, wanted); });
}

bool reads_slot_of(const Step& step, int peer) {
  return std::any_of(step.sources.begin(), step.sources.end(), [&](const Slice& slice) {
    return slice.place == Place::slot && slice.peer == peer;
  });
}

bool puts_to(const Step& step, int peer) {
  return std::any_of(step.destinations.begin(), step.destinations.end(), [&](const Slice& slice) {
    return slice.place == Place::peer_slot && slice.peer == peer;
  });
}

// Whether `writer` writes what `other` reads or writes, or puts into the FIFO that `other` puts
// into.
bool combines_clash(const Step& writer, const Step& other) {
  return std::any_of(writer.destinations.begin(), writer.destinations.end(),
                     [&](const Slice& slice) {
                       if (slice.place == Place::peer_slot) return puts_to(other, slice.peer);
                       return names(other.sources, slice) || names(other.destinations, slice);
                     });
}

bool one_way_dependent(const Step& a, const Step& b) {
  const bool fifo_a = a.kind == StepKind::wait || a.kind == StepKind::release;
  const bool fifo_b = b.kind == StepKind::wait || b.kind == StepKind::release;
  const bool order_a = a.kind == StepKind::signal || a.kind == StepKind::await;
  if (fifo_a && fifo_b) return a.peer == b.peer;  // current messages of one peer
  if (b.kind != StepKind::combine) return false;
  if (fifo_a) return reads_slot_of(b, a.peer);
  if (order_a) return true;  // a signal is about all earlier combines, an await for all later ones
  return combines_clash(a, b);
}

bool dependent(const Step& a, const Step& b) {
  return one_way_dependent(a, b) || one_way_dependent(b, a);
}

// Whether no peer can tell when the step is done: it copies an input, which nobody ever writes, to an
// output block that no peer reaches.
bool is_private_copy(const Plan& plan, int rank, const Step& step) {
  if (step.kind != StepKind::combine || step.completes || step.sources.size() != 1 ||
      step.destinations.size() != 1 || step.sources[0].place != Place::input ||
      step.destinations[0].place != Place::output) {
    return false;
  }
  const auto reached = [&](const Slice& slice) {
    return slice.place == Place::peer_output && slice.peer == rank &&
           slice.block == step.destinations[0].block;
  };
  return std::none_of(plan.programs.begin(), plan.programs.end(), [&](const Program& program) {
    return std::any_of(program.begin(), program.end(), [&](const Step& other) {
      return std::any_of(other.sources.begin(), other.sources.end(), reached) ||
             std::any_of(other.destinations.begin(), other.destinations.end(), reached);
    });
  });
}

bool is_order(const Step& step) {
  return step.kind == StepKind::signal || step.kind == StepKind::await;
}

// Whether doing the step twice in a row is doing it once.
bool is_idempotent(const Plan& plan, const Step& step) {
  if (step.kind != StepKind::combine) return false;
  return std::none_of(step.destinations.begin(), step.destinations.end(), [&](const Slice& slice) {
    return (has_peer(slice) && plan.protocol != Protocol::direct) || names(step.sources, slice);
  });
}

bool full() {
  return std::getenv("GYRE_TEST_FULL") != nullptr;
}

struct Position {
  int rank;
  std::size_t step;
};

std::vector<Position> positions_in(const Plan& plan) {
  std::vector<Position> all;
  for (int rank = 0; rank < plan.ranks; ++rank) {
    for (std::size_t step = 0; step < plan.programs[static_cast<std::size_t>(rank)].size();
         ++step) {
      all.push_back({rank, step});
    }
  }
  std::vector<Position> some;
  std::mt19937_64 random(static_cast<std::uint64_t>(plan.ranks));
  std::sample(all.begin(), all.end(), std::back_inserter(some),
              full() ? all.size() : most_positions, random);
  return some;
}

class Mutation : public testing::TestWithParam<PlanCase> {
 protected:
  // Calls `body` with the steps of each plan, to be spoiled; the plan is restored afterwards.
  void for_each_step(const std::function<void(Plan&, int rank, std::size_t step)>& body) {
    for (const int ranks : rank_counts) {
      Plan plan = make_plan(recipe_of(GetParam(), ranks, ranks / 2));
      for (const auto [rank, step] : positions_in(plan)) {
        const Program original = plan.programs[static_cast<std::size_t>(rank)];
        body(plan, rank, step);
        plan.programs[static_cast<std::size_t>(rank)] = original;
      }
    }
  }

  static Program& program_of(Plan& plan, int rank) {
    return plan.programs[static_cast<std::size_t>(rank)];
  }

  void must_be_rejected(const Plan& plan, int rank, const std::string& change) {
    ++mutants_;
    EXPECT_FALSE(verify(plan)) << change << " at rank " << rank << " of " << to_text(plan);
  }

  // What the verifier accepts runs right. What it rejects does not, with one exception: it lets nobody
  // read an input block in place whose output block was written, be it with the same bytes, unless they
  // are those of the input and are never scaled.
  void must_be_judged_by_data(Plan plan, int rank, const std::string& change) {
    const auto where = [&] {
      return change + " at rank " + std::to_string(rank) + " of " + to_text(plan);
    };
    const bool right = runs_right(plan);
    if (verify(plan)) {
      EXPECT_TRUE(right) << where();
    } else if (right) {
      EXPECT_TRUE(plan.in_place_safe) << where();
      plan.in_place_safe = false;
      EXPECT_TRUE(verify(plan)) << where();
    }
  }

  int mutants_ = 0;
};

TEST_P(Mutation, DroppedSteps) {
  for_each_step([&](Plan& plan, int rank, std::size_t step) {
    Program& program = program_of(plan, rank);
    const std::string change = "dropped " + to_text(program[step]);
    program.erase(program.begin() + static_cast<std::ptrdiff_t>(step));
    must_be_rejected(plan, rank, change);
  });
  EXPECT_GT(mutants_, 0);
}

TEST_P(Mutation, RepeatedSteps) {
  for_each_step([&](Plan& plan, int rank, std::size_t step) {
    Program& program = program_of(plan, rank);
    const Step repeated = program[step];
    const std::string change = "repeated " + to_text(repeated);
    program.insert(program.begin() + static_cast<std::ptrdiff_t>(step), repeated);
    if (is_idempotent(plan, repeated)) {
      must_be_judged_by_data(plan, rank, change);
    } else {
      must_be_rejected(plan, rank, change);
    }
  });
}

TEST_P(Mutation, SwappedNeighbours) {
  int independent = 0;
  for_each_step([&](Plan& plan, int rank, std::size_t step) {
    Program& program = program_of(plan, rank);
    if (step + 1 == program.size()) return;
    const Step& first = program[step];
    const Step& second = program[step + 1];
    const bool hidden = (is_order(first) && is_private_copy(plan, rank, second)) ||
                        (is_order(second) && is_private_copy(plan, rank, first));
    const bool must = dependent(first, second) && !hidden;
    const std::string change =
        "swapped " + to_text(program[step]) + " and " + to_text(program[step + 1]);
    std::swap(program[step], program[step + 1]);
    if (must) {
      must_be_rejected(plan, rank, change);
    } else {
      ++independent;
      must_be_judged_by_data(plan, rank, change);
    }
  });
  RecordProperty("independent", independent);
}

TEST_P(Mutation, MisdirectedPeers) {
  for_each_step([&](Plan& plan, int rank, std::size_t step) {
    Step& spoiled = program_of(plan, rank)[step];
    const auto misdirect = [&](int& peer) {
      const int right = peer;
      for (peer = 0; peer < plan.ranks; ++peer) {
        if (peer != right) must_be_rejected(plan, rank, "misdirected " + to_text(spoiled));
      }
      peer = right;
    };
    if (spoiled.kind != StepKind::combine) return misdirect(spoiled.peer);
    for (Slice& slice : spoiled.sources) {
      if (has_peer(slice)) misdirect(slice.peer);
    }
    for (Slice& slice : spoiled.destinations) {
      if (has_peer(slice)) misdirect(slice.peer);
    }
  });
  EXPECT_GT(mutants_, 0);
}

// Another scratch block than was meant.
TEST_P(Mutation, MisplacedScratch) {
  for_each_step([&](Plan& plan, int rank, std::size_t step) {
    Step& spoiled = program_of(plan, rank)[step];
    const auto misplace = [&](Slice& slice) {
      if (slice.place != Place::scratch) return;
      const int right = slice.scratch;
      for (slice.scratch = 0; slice.scratch <= plan.scratch_blocks; ++slice.scratch) {
        if (slice.scratch == right) continue;
        must_be_rejected(plan, rank, "misplaced " + to_text(spoiled));
      }
      slice.scratch = right;
    };
    std::for_each(spoiled.sources.begin(), spoiled.sources.end(), misplace);
    std::for_each(spoiled.destinations.begin(), spoiled.destinations.end(), misplace);
  });
  EXPECT_EQ(mutants_ > 0, make_plan(recipe_of(GetParam(), 8, 0)).scratch_blocks > 0);
}

TEST_P(Mutation, WrongBlocks) {
  for_each_step([&](Plan& plan, int rank, std::size_t step) {
    Step& spoiled = program_of(plan, rank)[step];
    const Step right = spoiled;
    for (int shift = 1; shift <= plan.blocks; ++shift) {  // the last one may be out of range
      const auto wrong = [&](int block) {
        return shift == plan.blocks ? plan.blocks : (block + shift) % plan.blocks;
      };
      const auto spoil_one = [&](Slice& slice) {
        const int block = slice.block;
        slice.block = wrong(block);
        must_be_rejected(plan, rank, "wrong block in " + to_text(spoiled));
        slice.block = block;
      };
      std::for_each(spoiled.sources.begin(), spoiled.sources.end(), spoil_one);
      std::for_each(spoiled.destinations.begin(), spoiled.destinations.end(), spoil_one);
      if (spoiled.kind != StepKind::combine) continue;
      // The whole step, consistently.
      for (Slice& slice : spoiled.sources) slice.block = wrong(slice.block);
      for (Slice& slice : spoiled.destinations) slice.block = wrong(slice.block);
      must_be_rejected(plan, rank, "whole step moved to " + to_text(spoiled));
      spoiled = right;
    }
  });
  EXPECT_GT(mutants_, 0);
}

TEST_P(Mutation, WrongOperands) {
  for_each_step([&](Plan& plan, int rank, std::size_t step) {
    Step& spoiled = program_of(plan, rank)[step];
    if (spoiled.kind != StepKind::combine) return;
    const Step right = spoiled;
    spoiled.completes = !spoiled.completes;
    must_be_rejected(plan, rank, "completes toggled in " + to_text(spoiled));
    spoiled = right;
    for (std::size_t i = 0; i < right.sources.size(); ++i) {
      spoiled.sources.erase(spoiled.sources.begin() + static_cast<std::ptrdiff_t>(i));
      must_be_rejected(plan, rank, "source left out: " + to_text(spoiled));
      spoiled = right;
      spoiled.sources.push_back(right.sources[i]);
      must_be_rejected(plan, rank, "source doubled: " + to_text(spoiled));
      spoiled = right;
    }
    for (std::size_t i = 0; i < right.destinations.size(); ++i) {
      spoiled.destinations.erase(spoiled.destinations.begin() + static_cast<std::ptrdiff_t>(i));
      must_be_rejected(plan, rank, "destination left out: " + to_text(spoiled));
      spoiled = right;
    }
  });
  EXPECT_GT(mutants_, 0);
}

INSTANTIATE_TEST_SUITE_P(Catalog, Mutation, testing::ValuesIn(plan_cases()), plan_case_name);

// The verdict of a random heap of changes, too, is what happens on real data.
TEST(MutationHeap, RandomShufflesOfStagedPlansAgreeWithTheMachine) {
  std::mt19937_64 random(11);
  std::vector<PlanCase> cases = plan_cases();
  std::erase_if(cases, [](const PlanCase& each) { return each.protocol != Protocol::staged; });
  int accepted = 0;
  constexpr int rounds = 3000;
  for (int round = 0; round < rounds; ++round) {
    const int ranks = 2 + static_cast<int>(random() % 4);
    Plan plan = make_plan(recipe_of(cases[random() % cases.size()], ranks, 0));
    const std::size_t swaps = 1 + random() % 4;
    for (std::size_t i = 0; i < swaps; ++i) {
      Program& program = plan.programs[random() % plan.programs.size()];
      if (program.size() < 2) continue;
      const std::size_t step = random() % (program.size() - 1);
      std::swap(program[step], program[step + 1]);
    }
    const Status status = verify(plan);
    const bool right = runs_right(plan);
    // Values may be right in an order that the verifier rejects: another order of combination, or
    // safe out of place only. Never the reverse.
    EXPECT_TRUE(right || !status) << to_text(plan);
    accepted += status ? 1 : 0;
  }
  EXPECT_GT(accepted, rounds / 30);
  EXPECT_LT(accepted, rounds - rounds / 30);
}

}  // namespace
}  // namespace gyre::plan
