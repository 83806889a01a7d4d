// SPDX-License-Identifier: Apache-2.0
// Is the verifier strict enough? Every plan is spoiled in every small way, and each spoiled plan
// must be rejected.
//
// One kind of change does not always spoil a plan: two neighbouring steps that have nothing to do
// with each other may be swapped. `dependent` says which have; only those must be rejected. For the
// others the verdict must be what happens on real data (interpreter.h).
#include <algorithm>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "collectives/text.h"
#include "collectives/verifier.h"
#include "unit/collectives/all_reduce_cases.h"
#include "unit/collectives/interpreter.h"

namespace gyre::plan {
namespace {

constexpr int rank_counts[] = {2, 3, 4, 5, 8};

bool has_peer(const Slice& slice) {
  return slice.place != Place::input && slice.place != Place::output &&
         slice.place != Place::scratch;
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
  return std::any_of(
      writer.destinations.begin(), writer.destinations.end(), [&](const Slice& slice) {
        if (slice.place == Place::peer_slot) return puts_to(other, slice.peer);
        const auto same = [&](const Slice& its) { return its == slice; };
        return std::any_of(other.sources.begin(), other.sources.end(), same) ||
               std::any_of(other.destinations.begin(), other.destinations.end(), same);
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

// Whether the plan sums right on real data, whatever the order of the ranks.
bool runs_right(const Plan& plan) {
  constexpr std::uint64_t block_elements = 8;
  const auto blocks = static_cast<std::uint64_t>(plan.blocks);
  const std::uint64_t count = 2 * blocks * block_elements - 3;
  const Geometry geometry({.count = count,
                           .element_bytes = sizeof(std::int64_t),
                           .blocks = blocks,
                           .slot_bytes = block_elements * sizeof(std::int64_t),
                           .channels = 1});
  std::mt19937_64 random(7);
  std::vector<std::vector<std::int64_t>> inputs(plan.programs.size());
  std::vector<std::int64_t> sum(count, 0);
  for (auto& input : inputs) {
    for (std::uint64_t i = 0; i < count; ++i) {
      input.push_back(static_cast<std::int64_t>(random() >> 8));
      sum[i] += input[i];
    }
  }
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Interpreter<std::int64_t> machine(plan, geometry, inputs, -77, false);
    if (!machine.run(seed) || machine.anything_left()) return false;
    for (std::size_t rank = 0; rank < inputs.size(); ++rank) {
      if (machine.output(rank) != sum) return false;
    }
  }
  return true;
}

class Mutation : public testing::TestWithParam<AllReduceCase> {
 protected:
  // Calls `body` with each step of each plan, to be spoiled; the plan is restored afterwards.
  void for_each_step(const std::function<void(Plan&, int rank, std::size_t step)>& body) {
    for (const int ranks : rank_counts) {
      Plan plan = make_all_reduce(GetParam().algorithm, GetParam().protocol, ranks);
      for (int rank = 0; rank < ranks; ++rank) {
        const Program original = plan.programs[static_cast<std::size_t>(rank)];
        for (std::size_t step = 0; step < original.size(); ++step) {
          body(plan, rank, step);
          plan.programs[static_cast<std::size_t>(rank)] = original;
        }
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

  void TearDown() override { EXPECT_GT(mutants_, 0); }

  int mutants_ = 0;
};

TEST_P(Mutation, DroppedSteps) {
  for_each_step([&](Plan& plan, int rank, std::size_t step) {
    Program& program = program_of(plan, rank);
    const std::string change = "dropped " + to_text(program[step]);
    program.erase(program.begin() + static_cast<std::ptrdiff_t>(step));
    must_be_rejected(plan, rank, change);
  });
}

TEST_P(Mutation, RepeatedSteps) {
  for_each_step([&](Plan& plan, int rank, std::size_t step) {
    Program& program = program_of(plan, rank);
    const Step repeated = program[step];
    const bool local = repeated.kind == StepKind::combine &&
                       std::none_of(repeated.destinations.begin(), repeated.destinations.end(),
                                    [](const Slice& slice) { return has_peer(slice); });
    // Computing a local result twice is wasteful, not wrong; so is writing it to peers twice.
    const bool direct = plan.protocol == Protocol::direct && repeated.kind == StepKind::combine;
    if (local || direct) return;
    program.insert(program.begin() + static_cast<std::ptrdiff_t>(step), repeated);
    must_be_rejected(plan, rank, "repeated " + to_text(repeated));
  });
}

TEST_P(Mutation, SwappedNeighbours) {
  int independent = 0;
  for_each_step([&](Plan& plan, int rank, std::size_t step) {
    Program& program = program_of(plan, rank);
    if (step + 1 == program.size()) return;
    const bool must = dependent(program[step], program[step + 1]);
    const std::string change =
        "swapped " + to_text(program[step]) + " and " + to_text(program[step + 1]);
    std::swap(program[step], program[step + 1]);
    if (must) {
      must_be_rejected(plan, rank, change);
    } else {
      ++independent;
      EXPECT_EQ(verify(plan).has_value(), runs_right(plan))
          << change << " at rank " << rank << " of " << to_text(plan);
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
}

INSTANTIATE_TEST_SUITE_P(Builders, Mutation, testing::ValuesIn(all_reduce_cases()), case_name);

// The verdict of a random heap of changes, too, is what happens on real data.
TEST(MutationHeap, RandomShufflesOfStagedPlansAgreeWithTheMachine) {
  std::mt19937_64 random(11);
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto algorithm = static_cast<Algorithm>(random() % 3);
    Plan plan = make_all_reduce(algorithm, Protocol::staged, 2 + static_cast<int>(random() % 4));
    const std::size_t swaps = 1 + random() % 4;
    for (std::size_t i = 0; i < swaps; ++i) {
      Program& program = plan.programs[random() % plan.programs.size()];
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
  EXPECT_GT(accepted, 100);
  EXPECT_LT(accepted, 2900);
}

}  // namespace
}  // namespace gyre::plan
