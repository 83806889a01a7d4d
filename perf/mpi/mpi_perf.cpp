// SPDX-License-Identifier: Apache-2.0
// mpi_perf: MPI's collectives, measured as the programs of perf/collectives measure Gyre's.
#include <cstdio>
#include <exception>

#include "perf/common/failure.h"
#include "perf/common/sweep.h"
#include "perf/mpi/mpi_collective.h"

namespace perf {
namespace {

void refuse_gyre_only(const Options& options) {
  if (options.ranks > 0) throw Failure("--ranks needs Gyre: start MPI ranks with mpirun -np N.");
  if (options.buffers != Buffers::plain || !options.null_stream) {
    throw Failure("-R and -y 0 need Gyre: MPI takes ordinary memory and no stream.");
  }
  if (options.aggregated > 1) throw Failure("-m needs Gyre: MPI has no groups of collectives.");
}

int run(int argc, char** argv) {
  int status = 0;
  const std::optional<Options> options = parse_options(argc, argv, "MPI", std::nullopt, &status);
  if (!options) return status;
  refuse_gyre_only(*options);
  MpiLibrary library(&argc, &argv);
  MpiCollective collective(library, options->collective);
  return run_benchmark(*options, library, collective);
}

}  // namespace
}  // namespace perf

int main(int argc, char** argv) {
  try {
    return perf::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mpi_perf: %s\n", error.what());
    return 1;
  }
}
