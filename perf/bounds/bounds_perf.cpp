// SPDX-License-Identifier: Apache-2.0
// bounds_perf: what this machine can do, to hold collectives against. float32, sum, out of place
// (Broadcast: in place).
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "perf/bounds/ideal.h"
#include "perf/bounds/loops.h"
#include "perf/bounds/machine.h"
#include "perf/bounds/staged.h"

namespace bounds {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string collective = "allreduce";
  std::size_t min_bytes = 8;
  std::size_t max_bytes = std::size_t{64} << 20;
  double step_factor = 2;
  std::vector<std::size_t> sizes;
  int ranks = 2;
  ClockRule rule{20, 20};
  bool only_ping_pong = false;
  bool no_copies = false;
  bool json = false;
  std::string output_file;
};

void describe(CLI::App& app, Options& options) {
  const CLI::AsSizeValue as_size{false};
  app.add_option(
      "--collective", options.collective,
      "allreduce, reduce, reducescatter, allgather, broadcast, gather, scatter, alltoall, "
      "sendrecv or barrier");
  app.add_option("-b,--minbytes", options.min_bytes, "Smallest size in bytes")->transform(as_size);
  app.add_option("-e,--maxbytes", options.max_bytes, "Largest size in bytes")->transform(as_size);
  app.add_option("-f,--stepfactor", options.step_factor, "Sizes grow by this factor")
      ->check(CLI::Range(1.01, 1e9));
  app.add_option("--sizes", options.sizes, "Exactly these sizes")
      ->transform(as_size)
      ->delimiter(',');
  app.add_option("--ranks", options.ranks, "Threads of the ideal; the staged floor is of two")
      ->check(CLI::Range(2, most_members));
  app.add_option("-n,--iters", options.rule.iterations, "Timed iterations")
      ->check(CLI::PositiveNumber);
  app.add_option("--min-time", options.rule.min_time_ms,
                 "Iterate for at least so many milliseconds")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--ping-pong", options.only_ping_pong,
               "Only how long a cache line takes from core to core");
  app.add_flag("--no-copies", options.no_copies, "Without the rates of plain copies");
  app.add_flag("--json", options.json, "Print JSON");
  app.add_option("-J,--output_file", options.output_file, "Also write JSON to this file");
}

Collective collective_of(const Options& options) {
  return parse_collective(options.collective, options.ranks);
}

std::vector<std::size_t> sizes_of(const Options& options) {
  if (collective_of(options) == Collective::barrier) return {0};
  if (!options.sizes.empty()) return options.sizes;
  std::vector<std::size_t> sizes;
  for (auto size = static_cast<double>(options.min_bytes);
       size <= static_cast<double>(options.max_bytes); size *= options.step_factor) {
    sizes.push_back(static_cast<std::size_t>(size) / sizeof(float) * sizeof(float));
  }
  return sizes;
}

struct Results {
  std::vector<std::size_t> sizes;
  std::vector<Best> ideal;
  std::vector<Best> floor;  // empty unless there are two ranks
  double ping_pong_us = 0;
  std::vector<CopyRate> copies;
};

Results measure_all(const Options& options) {
  Results results;
  results.sizes = sizes_of(options);
  results.ping_pong_us = measure_ping_pong();
  if (options.only_ping_pong) {
    results.sizes.clear();
    return results;
  }
  // Processes before threads: a fork copies only the thread that calls it.
  const Collective collective = collective_of(options);
  if (collective == Collective::all_reduce && options.ranks == 2) {
    results.floor = measure_staged_floor(results.sizes, options.rule);
  }
  results.ideal = measure_ideal(collective, options.ranks, results.sizes, options.rule);
  if (!options.no_copies) results.copies = measure_copy_rates(std::size_t{256} << 20);
  return results;
}

Json best_json(const Best& best) {
  return {{"time", best.measured.microseconds},
          {"variant", best.name},
          {"iterations", best.measured.iterations}};
}

Json to_json(const Options& options, const Results& results) {
  Json json;
  json["program"] = "bounds_perf";
  json["collective"] = perf::traits_of(collective_of(options)).title;
  json["nranks"] = options.ranks;
  json["loops"] = best_loops().name;
  json["ping_pong_us"] = results.ping_pong_us;
  json["results"] = Json::array();
  for (std::size_t i = 0; i < results.sizes.size(); ++i) {
    Json row{{"size", results.sizes[i]}, {"ideal", best_json(results.ideal[i])}};
    if (!results.floor.empty()) row["floor"] = best_json(results.floor[i]);
    json["results"].push_back(std::move(row));
  }
  json["copy_rates"] = Json::array();
  for (const CopyRate& rate : results.copies) {
    json["copy_rates"].push_back({{"size", rate.bytes},
                                  {"cached", rate.cached},
                                  {"streaming", rate.streaming},
                                  {"memcpy", rate.memcpy}});
  }
  return json;
}

void print_table(const Options& options, const Results& results) {
  std::printf("# Bounds of %s, float sum, %d ranks, loops: %s\n",
              std::string(perf::traits_of(collective_of(options)).title).c_str(), options.ranks,
              best_loops().name);
  std::printf("# Cache line from core to core: %.3f us one way\n#\n", results.ping_pong_us);
  std::printf("#%11s  %10s  %-20s  %10s  %s\n", "size (B)", "ideal (us)", "variant", "floor (us)",
              "variant");
  for (std::size_t i = 0; i < results.sizes.size(); ++i) {
    const Best& ideal = results.ideal[i];
    std::printf("%12zu  %10.3f  %-20s", results.sizes[i], ideal.measured.microseconds,
                ideal.name.c_str());
    if (!results.floor.empty()) {
      const Best& floor = results.floor[i];
      std::printf("  %10.3f  %s", floor.measured.microseconds, floor.name.c_str());
    }
    std::printf("\n");
  }
  std::printf("#\n#%11s  copy, GB/s: %8s  %9s  %8s\n", "size (B)", "cached", "streaming", "memcpy");
  for (const CopyRate& rate : results.copies) {
    std::printf("%12zu              %8.1f  %9.1f  %8.1f\n", rate.bytes, rate.cached, rate.streaming,
                rate.memcpy);
  }
}

void report(const Options& options, const Results& results) {
  const std::string text = to_json(options, results).dump(2);
  if (!options.output_file.empty()) std::ofstream(options.output_file) << text << '\n';
  if (options.json) {
    std::cout << text << '\n';
  } else {
    print_table(options, results);
  }
}

}  // namespace
}  // namespace bounds

int main(int argc, char** argv) {
  CLI::App app{"Measures what this machine can do, to hold collectives against"};
  bounds::Options options;
  bounds::describe(app, options);
  CLI11_PARSE(app, argc, argv);
  try {
    bounds::report(options, bounds::measure_all(options));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bounds_perf: %s\n", error.what());
    return 1;
  }
  return 0;
}
