// SPDX-License-Identifier: Apache-2.0
#include "core/calibration.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "collectives/chooser.h"

namespace gyre::core {
namespace {

constexpr std::size_t message_bytes = 8 * 1024;  // a few messages, few bytes
constexpr std::size_t cached_bytes = 256 * 1024;
constexpr std::size_t large_bytes = 4 * 1024 * 1024;

class Measurement {
 public:
  Measurement(Collectives& collectives, Clock& clock, const CalibrationContext& context)
      : collectives_(collectives),
        clock_(clock),
        context_(context),
        input_(large_bytes),
        output_(large_bytes) {}

  // Seconds of one AllReduce: the best of `rounds` rounds of `calls`.
  Result<double> best_time(std::size_t bytes, int rounds, int calls) {
    double best = std::numeric_limits<double>::infinity();
    for (int round = 0; round <= rounds; ++round) {  // the first one warms up
      const std::int64_t before = clock_.now_ns();
      for (int call = 0; call < calls; ++call) {
        const Status status =
            collectives_.all_reduce(input_.data(), output_.data(), bytes / 4, gyreInt32, gyreSum);
        if (!status) {
          return Unexpected(status.error());
        }
      }
      const double each = static_cast<double>(clock_.now_ns() - before) / 1e9 / calls;
      best = round > 0 ? std::min(best, each) : best;
    }
    return best;
  }

  // The cost that explains how long an AllReduce of `bytes` takes.
  Status solve(double plan::LinkCosts::*cost, double most, std::size_t bytes, int rounds) {
    const auto seconds = best_time(bytes, rounds, 1);
    if (!seconds) {
      return Unexpected(seconds.error());
    }
    plan::ChoiceInput input{.bytes = bytes,
                            .element_bytes = 4,
                            .ranks = context_.ranks,
                            .local_cpus = static_cast<int>(context_.cpus),
                            .protocol = plan::Protocol::staged};
    const auto choice = plan::choose_by_rules(plan::Collective::all_reduce, input);
    if (!choice) {
      return Unexpected(choice.error());
    }
    const plan::PlanFigures figures = plan::figures_of({.collective = plan::Collective::all_reduce,
                                                        .algorithm = choice->algorithm,
                                                        .protocol = choice->protocol,
                                                        .ranks = context_.ranks});
    costs_.*cost = plan::solve_cost(cost, costs_, figures,
                                    {.bytes = bytes,
                                     .slot_bytes = choice->slot_bytes,
                                     .ranks = context_.ranks,
                                     .local_cpus = static_cast<int>(context_.cpus)},
                                    *seconds, most);
    return {};
  }

  Result<plan::LinkCosts> all() {
    const auto exchange = best_time(8, 5, 20);
    if (!exchange) {
      return Unexpected(exchange.error());
    }
    costs_.exchange = *exchange;
    constexpr double slowest_message = 20e-6;
    constexpr double slowest_byte = 10e-9;
    // Bytes first, as if messages cost nothing; then messages, where there are few bytes; then both.
    for (int pass = 0; pass < 2; ++pass) {
      GYRE_TRY(solve(&plan::LinkCosts::per_byte, slowest_byte, cached_bytes, 8));
      GYRE_TRY(solve(&plan::LinkCosts::message, slowest_message, message_bytes, 20));
    }
    GYRE_TRY(solve(&plan::LinkCosts::per_byte_large, slowest_byte, large_bytes, 3));
    return costs_;
  }

 private:
  Collectives& collectives_;
  Clock& clock_;
  const CalibrationContext context_;
  std::vector<std::byte> input_, output_;
  plan::LinkCosts costs_;
};

}  // namespace

Result<plan::LinkCosts> measure_costs(Collectives& collectives, Clock& clock,
                                      const CalibrationContext& context) {
  return Measurement(collectives, clock, context).all();
}

bool are_plausible(const plan::LinkCosts& costs, const CalibrationContext& context) {
  const auto within = [](double value, double least, double most) {
    return value >= least && value <= most;
  };
  // A rank that shares its CPU has its turn after a switch of processes for each other one.
  const double sharing =
      std::max(1.0, static_cast<double>(context.ranks) / static_cast<double>(context.cpus));
  return within(costs.exchange, 2e-8, 1e-5 * sharing) && within(costs.message, 1e-9, 1e-5) &&
         within(costs.per_byte, 2e-12, 3e-9) && within(costs.per_byte_large, 2e-12, 3e-9);
}

}  // namespace gyre::core
