// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>

#include "perf/common/failure.h"
#include "perf/common/sweep.h"
#include "perf/gyre_bench/gyre_collective.h"
#include "perf/gyre_bench/launcher.h"

namespace perf {
namespace {

int run_as_rank(const Options& options) {
  GyreLibrary library(options);
  GyreCollective collective(library, options.collective);
  try {
    const int status = run_benchmark(options, library, collective);
    library.finish();
    return status;
  } catch (const NotSupported& refusal) {
    library.finish();
    if (library.rank() == 0) std::fprintf(stderr, "# %s\n", refusal.what());
    return exit_not_supported;
  }
}

}  // namespace

int gyre_benchmark_main(int argc, char** argv, CollectiveKind kind) {
  try {
    int status = 0;
    const std::optional<Options> options = parse_options(argc, argv, "Gyre", kind, &status);
    if (!options) return status;
    if (const std::optional<int> ended = start_ranks(*options, argv)) return *ended;
    return run_as_rank(*options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}

}  // namespace perf
