// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>

#include "perf/common/sweep.h"
#include "perf/gyre_bench/gyre_library.h"
#include "perf/gyre_bench/launcher.h"

namespace perf {
namespace {

int run_as_rank(const Options& options, CollectiveFactory factory) {
  GyreLibrary library(options);
  const std::unique_ptr<Collective> collective = factory(library);
  const int status = run_benchmark(options, library, *collective);
  library.finish();
  return status;
}

}  // namespace

int gyre_benchmark_main(int argc, char** argv, const char* description, CollectiveFactory factory) {
  try {
    int status = 0;
    const std::optional<Options> options = parse_options(argc, argv, description, &status);
    if (!options) return status;
    if (const std::optional<int> ended = start_ranks(*options, argv)) return *ended;
    return run_as_rank(*options, factory);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}

}  // namespace perf
