// SPDX-License-Identifier: Apache-2.0
// AllReduces of random numbers for the executor, with what their results have to be.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/clock.h"
#include "collectives/all_reduce.h"
#include "collectives/steps.h"
#include "engine/executor.h"
#include "unit/collectives/all_reduce_cases.h"

namespace gyre::engine {

// The pairs that the executor runs: small messages in lines carry one block, a whole tile.
inline std::vector<plan::AllReduceCase> runnable_cases() {
  auto cases = plan::all_reduce_cases();
  std::erase_if(cases, [](const plan::AllReduceCase& each) {
    return each.protocol == plan::Protocol::flag_in_line &&
           each.algorithm != plan::Algorithm::one_shot;
  });
  return cases;
}

// The same program, but every result lies in scratch before it is stored.
inline plan::Program through_scratch(const plan::Program& program) {
  plan::Program detour;
  for (plan::Step step : program) {
    const auto result =
        std::ranges::find(step.destinations, plan::Place::output, &plan::Slice::place);
    if (result == step.destinations.end()) {
      detour.push_back(std::move(step));
      continue;
    }
    const plan::Slice scratch = plan::build::scratch(result->block % 3, result->block);
    const plan::Slice output = std::exchange(*result, scratch);
    detour.push_back(std::move(step));
    detour.push_back(plan::build::combine({scratch}, {output}));
  }
  return detour;
}

struct JobShape {
  std::uint64_t count = 0;
  std::uint64_t chunk_bytes = 64;
  std::uint64_t channels = 1;
  bool in_place = false;
  int first_channel = 0;
  bool through_scratch = false;
};

// Four channels with slots for every chunk of jobs_for, two with smaller ones behind them, and two of
// lines.
inline transport::Shape shape_for_jobs(int slots) {
  return {.channels = 4,
          .slots = slots,
          .slot_bytes = 4096,
          .inline_bytes = 4096,
          .small_channels = 2,
          .small_slots = 2,
          .small_slot_bytes = 192,
          .line_channels = 2};
}

// One AllReduce (sum of float32) of all ranks: buffers, and the sums in float64.
class AllReduceJob {
 public:
  AllReduceJob(const plan::AllReduceCase& each, int ranks, const JobShape& shape,
               std::uint32_t number)
      : case_(each),
        plan_(plan::describe_all_reduce(each.algorithm, each.protocol, ranks, each.hierarchy)),
        shape_(shape),
        tag_(number),
        geometry_({.count = shape.count,
                   .element_bytes = sizeof(float),
                   .blocks = static_cast<std::uint64_t>(plan_.blocks),
                   .slot_bytes = each.protocol == plan::Protocol::direct ? plan::unbounded_slot
                                                                         : shape.chunk_bytes,
                   .channels = each.protocol == plan::Protocol::flag_in_line ? 1 : shape.channels}),
        sums_(shape.count),
        magnitudes_(shape.count) {
    std::mt19937_64 random(number);
    std::uniform_real_distribution<float> spread(-1.0F, 1.0F);
    for (int rank = 0; rank < ranks; ++rank) {
      auto& input = inputs_.emplace_back(shape.count);
      for (std::uint64_t i = 0; i < shape.count; ++i) {
        input[i] = spread(random);
        sums_[i] += static_cast<double>(input[i]);
        magnitudes_[i] += std::abs(static_cast<double>(input[i]));
      }
      // One element more than is asked for: a guard.
      outputs_.emplace_back(shape.count + 1, poison);
      if (in_place()) {
        std::ranges::copy(input, outputs_.back().begin());
      }
    }
    for (int rank = 0; rank < ranks; ++rank) {
      peer_outputs_.push_back(bytes_of(outputs_[static_cast<std::size_t>(rank)]));
      peer_inputs_.push_back(in_place() ? peer_outputs_.back()
                                        : bytes_of(inputs_[static_cast<std::size_t>(rank)]));
    }
  }

  [[nodiscard]] Outcome run(int rank, Executor& executor, Waiter& waiter) {
    const plan::Program steps = plan::all_reduce_program(case_.algorithm, case_.protocol, rank,
                                                         plan_.ranks, case_.hierarchy);
    const CompiledProgram program(shape_.through_scratch ? through_scratch(steps) : steps,
                                  case_.protocol);
    Combiner combiner({.type = DataType::float32, .op = ReduceOp::sum}, plan_.ranks);
    const auto at = static_cast<std::size_t>(rank);
    const Operands operands{.input = peer_inputs_[at],
                            .output = peer_outputs_[at],
                            .peer_inputs = peer_inputs_,
                            .peer_outputs = peer_outputs_,
                            .tag = tag_,
                            .first_channel = shape_.first_channel,
                            .stream_results = tag_ % 3 == 0,
                            .stream_messages = tag_ % 5 == 0};
    return executor.run(program, geometry_, combiner, operands, waiter);
  }

  void expect_right() const {
    for (std::size_t rank = 0; rank < outputs_.size(); ++rank) {
      ASSERT_EQ(outputs_[rank].back(), poison) << describe() << ": written past the end";
      ASSERT_EQ(
          0, std::memcmp(outputs_[rank].data(), outputs_[0].data(), shape_.count * sizeof(float)))
          << describe() << ": rank " << rank << " differs from rank 0";
    }
    for (std::uint64_t i = 0; i < shape_.count; ++i) {
      // One rounding, of half a unit in the last place of a partial sum, for each rank.
      const double bound = magnitudes_[i] * plan_.ranks * 6e-8;
      ASSERT_NEAR(outputs_[0][i], sums_[i], bound) << describe() << ": element " << i;
    }
  }

  [[nodiscard]] std::string describe() const {
    return fmt::format("{} of {} ranks, {} elements in chunks of {} over {} channels from {}{}{}",
                       plan::title(plan_), plan_.ranks, shape_.count, shape_.chunk_bytes,
                       shape_.channels, shape_.first_channel, in_place() ? ", in place" : "",
                       shape_.through_scratch ? ", through scratch" : "");
  }

 private:
  static constexpr float poison = -12345.0F;

  static std::byte* bytes_of(std::vector<float>& values) {
    return reinterpret_cast<std::byte*>(values.data());
  }
  [[nodiscard]] bool in_place() const { return shape_.in_place && plan_.in_place_safe; }

  plan::AllReduceCase case_;
  plan::Plan plan_;
  JobShape shape_;
  std::uint32_t tag_;
  plan::Geometry geometry_;
  std::vector<double> sums_, magnitudes_;
  std::vector<std::vector<float>> inputs_, outputs_;
  std::vector<std::byte*> peer_inputs_, peer_outputs_;
};

// Jobs of many shapes, run one after the other as a program would.
inline std::vector<AllReduceJob> jobs_for(const plan::AllReduceCase& each, int ranks,
                                          std::size_t most, std::uint32_t seed) {
  std::vector<JobShape> shapes;
  for (const std::uint64_t count : {0, 1, 7, 15, 16, 17, 64, 255, 997}) {
    for (const std::uint64_t chunk : {64, 192, 1000, 4096}) {
      for (const std::uint64_t channels : {1, 2, 3, 4}) {
        const bool fits_small_channels = chunk <= 192 && channels <= 2;
        const bool fits_lines = count * sizeof(float) <= transport::line_bytes && channels <= 2;
        shapes.push_back({.count = count,
                          .chunk_bytes = chunk,
                          .channels = channels,
                          .in_place = (count + channels) % 2 == 0,
                          .first_channel = fits_lines                              ? 6
                                           : fits_small_channels && count % 4 != 0 ? 4
                                                                                   : 0,
                          .through_scratch = each.protocol == plan::Protocol::staged &&
                                             (count + chunk + channels) % 3 == 0});
      }
    }
  }
  std::mt19937 random(seed);
  std::ranges::shuffle(shapes, random);
  shapes.resize(std::min(shapes.size(), most));
  std::vector<AllReduceJob> jobs;
  jobs.reserve(shapes.size());
  for (const JobShape& shape : shapes) {
    jobs.emplace_back(each, ranks, shape, seed * 1000 + static_cast<std::uint32_t>(jobs.size()));
  }
  return jobs;
}

// A rank that does all jobs; a hang ends as timed_out.
inline void run_jobs(int rank, std::vector<AllReduceJob>& jobs,
                     std::span<transport::Connection* const> connections,
                     const transport::Shape& shape, transport::Doorbell* doorbell,
                     const WaitPolicy& policy) {
  SteadyClock clock;
  const std::atomic<std::uint32_t> never{0};
  Waiter waiter(policy, clock, doorbell, never);
  waiter.set_timeout(60'000'000'000);
  Executor executor(connections, shape);
  for (AllReduceJob& job : jobs) {
    const Outcome outcome = job.run(rank, executor, waiter);
    ASSERT_EQ(outcome, Outcome::done)
        << job.describe() << ": rank " << rank << " waits for rank " << executor.blamed();
  }
}

}  // namespace gyre::engine
