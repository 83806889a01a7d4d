// SPDX-License-Identifier: Apache-2.0
#include "perf/common/timing.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <numeric>

namespace perf {
namespace {

double now_us(bool cpu_time) {
  if (cpu_time) {
    timespec spent{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return static_cast<double>(spent.tv_sec) * 1e6 + static_cast<double>(spent.tv_nsec) * 1e-3;
  }
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

// One call of the options' kind: `times` iterations, each of `aggregated` operations.
void iterate(const Options& options, Library& library, Collective& collective, const Call& call,
             int times) {
  if (options.aggregated == 1 && !options.blocking) return collective.repeat(call, times);
  for (int i = 0; i < times; ++i) {
    if (options.aggregated > 1) library.begin_group();
    collective.repeat(call, options.aggregated);
    if (options.aggregated > 1) library.end_group();
    if (options.blocking) library.wait_until_done();
  }
}

double combine_one(Library& library, double value, Combine how) {
  library.combine({&value, 1}, how);
  return value;
}

double over_ranks(const Options& options, Library& library, double mine) {
  switch (options.average) {
    case Average::rank0:
      return combine_one(library, library.rank() == 0 ? mine : 0.0, Combine::sum);
    case Average::min:
      return combine_one(library, mine, Combine::min);
    case Average::max:
      return combine_one(library, mine, Combine::max);
    case Average::mean:
      break;
  }
  return combine_one(library, mine, Combine::sum) / library.size();
}

// Total time of this rank for `times` iterations.
double timed_loop(const Options& options, Library& library, Collective& collective,
                  const Call& call, int times) {
  barrier(library);
  const double start = now_us(options.cpu_time);
  iterate(options, library, collective, call, times);
  library.wait_until_done();
  return now_us(options.cpu_time) - start;
}

// Iterations that fill --min-time, agreed by all ranks; never fewer than -n.
int planned_iterations(const Options& options, Library& library, Collective& collective,
                       const Call& call) {
  if (options.min_time_ms <= 0) return options.iterations;
  constexpr int trial = 3;
  const double mine = timed_loop(options, library, collective, call, trial) / trial;
  const double slowest = std::max(combine_one(library, mine, Combine::max), 0.01);
  const double wanted = std::ceil(options.min_time_ms * 1000.0 / slowest);
  return static_cast<int>(std::clamp(wanted, static_cast<double>(options.iterations), 1e8));
}

SampleStatistics statistics(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const auto count = static_cast<double>(samples.size());
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  double squares = 0;
  for (const double sample : samples) squares += (sample - mean) * (sample - mean);
  const auto rank99 = static_cast<std::size_t>(std::ceil(0.99 * count)) - 1;
  return {samples.front(), samples.back(), samples[rank99],
          mean > 0 ? 100.0 * std::sqrt(squares / count) / mean : 0.0};
}

// -I: a timestamp around each iteration; an iteration takes as long as on its slowest rank.
Timing time_each(const Options& options, Library& library, Collective& collective, const Call& call,
                 int times) {
  std::vector<double> samples(static_cast<std::size_t>(times));
  barrier(library);
  for (double& sample : samples) {
    const double start = now_us(options.cpu_time);
    iterate(options, library, collective, call, 1);
    library.wait_until_done();
    sample = (now_us(options.cpu_time) - start) / options.aggregated;
  }
  samples.erase(samples.begin(), samples.begin() + options.skipped_samples);
  const double mine =
      std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
  const double time = over_ranks(options, library, mine);
  library.combine(samples, Combine::max);
  return {time, times, statistics(std::move(samples))};
}

}  // namespace

void barrier(Library& library) {
  combine_one(library, 0.0, Combine::sum);
}

Timing time_call(const Options& options, Library& library, Collective& collective,
                 const Call& call) {
  iterate(options, library, collective, call, options.warmups);
  library.wait_until_done();
  const int times = planned_iterations(options, library, collective, call);
  if (options.per_iteration) return time_each(options, library, collective, call, times);
  const double total = timed_loop(options, library, collective, call, times);
  const double mine = total / times / options.aggregated;
  return {over_ranks(options, library, mine), times, std::nullopt};
}

}  // namespace perf
