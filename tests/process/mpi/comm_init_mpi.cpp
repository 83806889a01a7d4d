// SPDX-License-Identifier: Apache-2.0
// One rank of an MPI job: communicators from MPI_COMM_WORLD and from its halves, and what is
// refused. Exits with the number of failed expectations of this rank.
#include <gyre/gyre_mpi.h>

#include <cstdio>

namespace {

int failures = 0;

void expect(bool condition, const char* what) {
  if (!condition) {
    ++failures;
    std::fprintf(stderr, "failed: %s (%s)\n", what, gyreGetLastError(nullptr));
  }
}

// The sum of rank + 1 over the communicator, which must have MPI's ranks and size.
void check_collective(MPI_Comm mpi) {
  int rank = -1;
  int size = -1;
  MPI_Comm_rank(mpi, &rank);
  MPI_Comm_size(mpi, &size);
  gyreComm_t comm = nullptr;
  expect(gyreCommInitMPI(&comm, mpi, nullptr) == gyreSuccess, "gyreCommInitMPI");
  int own_rank = -1;
  int count = -1;
  expect(gyreCommUserRank(comm, &own_rank) == gyreSuccess && own_rank == rank, "rank");
  expect(gyreCommCount(comm, &count) == gyreSuccess && count == size, "size");
  const int mine = rank + 1;
  int sum = -1;
  expect(gyreAllReduce(&mine, &sum, 1, gyreInt32, gyreSum, comm, nullptr) == gyreSuccess &&
             sum == size * (size + 1) / 2,
         "gyreAllReduce");
  expect(gyreCommDestroy(comm) == gyreSuccess, "gyreCommDestroy");
}

void check_halves(int world_rank) {
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &half);
  check_collective(half);
  MPI_Comm_free(&half);
}

void check_refusals() {
  gyreComm_t comm = nullptr;
  expect(gyreCommInitMPI(nullptr, MPI_COMM_WORLD, nullptr) == gyreInvalidArgument, "null comm");
  expect(gyreCommInitMPI(&comm, MPI_COMM_NULL, nullptr) == gyreInvalidArgument, "null MPI_Comm");
}

}  // namespace

int main(int argc, char** argv) {
  gyreComm_t comm = nullptr;
  expect(gyreCommInitMPI(&comm, MPI_COMM_WORLD, nullptr) == gyreInvalidUsage, "before MPI_Init");
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  check_collective(MPI_COMM_WORLD);
  check_halves(rank);
  check_refusals();
  MPI_Finalize();
  return failures;
}
