// SPDX-License-Identifier: Apache-2.0
// mpi_all_reduce_perf: MPI_Allreduce, measured as all_reduce_perf measures Gyre.
#include <climits>
#include <cstdio>
#include <exception>

#include "perf/common/all_reduce.h"
#include "perf/common/failure.h"
#include "perf/common/sweep.h"
#include "perf/mpi/mpi_library.h"

namespace perf {
namespace {

class MpiAllReduce : public AllReduce {
 public:
  void repeat(const Call& call, int times) override {
    if (call.count > INT_MAX) throw Failure("MPI counts are int: lower -e, or use a wider type.");
    const MPI_Datatype type = mpi_datatype(call.type);
    const MPI_Op op = mpi_operation(call.op);
    const void* send = call.send == call.receive ? MPI_IN_PLACE : call.send;
    for (int i = 0; i < times; ++i) {
      require_mpi(
          MPI_Allreduce(send, call.receive, static_cast<int>(call.count), type, op, MPI_COMM_WORLD),
          "MPI_Allreduce");
    }
  }
};

void refuse_gyre_only(const Options& options) {
  if (options.ranks > 0) throw Failure("--ranks needs Gyre: start MPI ranks with mpirun -np N.");
  if (options.buffers != Buffers::plain || !options.null_stream) {
    throw Failure("-R and -y 0 need Gyre: MPI_Allreduce takes ordinary memory and no stream.");
  }
  if (options.aggregated > 1) throw Failure("-m needs Gyre: MPI has no groups of collectives.");
}

int run(int argc, char** argv) {
  int status = 0;
  const std::optional<Options> options =
      parse_options(argc, argv, "Times and checks MPI_Allreduce", &status);
  if (!options) return status;
  refuse_gyre_only(*options);
  MpiLibrary library(&argc, &argv);
  MpiAllReduce collective;
  return run_benchmark(*options, library, collective);
}

}  // namespace
}  // namespace perf

int main(int argc, char** argv) {
  try {
    return perf::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mpi_all_reduce_perf: %s\n", error.what());
    return 1;
  }
}
