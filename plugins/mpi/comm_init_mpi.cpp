// SPDX-License-Identifier: Apache-2.0
#include <gyre/gyre_mpi.h>

namespace {

// What rank 0 tells the others: how making the id went, and the id.
struct Invitation {
  gyreResult_t result;
  gyreUniqueId id;
};

gyreResult_t check_ready(const gyreComm_t* comm, MPI_Comm mpi) {
  if (comm == nullptr) {
    return gyreInvalidArgument;
  }
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized == 0 || finalized != 0) {
    return gyreInvalidUsage;
  }
  if (mpi == MPI_COMM_NULL) {
    return gyreInvalidArgument;
  }
  int is_inter = 0;
  if (MPI_Comm_test_inter(mpi, &is_inter) != MPI_SUCCESS) {
    return gyreSystemError;
  }
  return is_inter != 0 ? gyreInvalidArgument : gyreSuccess;
}

// A rank that has a communicator while another has none would wait for it in its first collective.
gyreResult_t agree(gyreResult_t mine, gyreComm_t* comm, MPI_Comm mpi) {
  const int failed_here = mine != gyreSuccess ? 1 : 0;
  int failed_anywhere = 1;
  const int told = MPI_Allreduce(&failed_here, &failed_anywhere, 1, MPI_INT, MPI_MAX, mpi);
  if (mine != gyreSuccess || (told == MPI_SUCCESS && failed_anywhere == 0)) {
    return mine;
  }
  gyreCommAbort(*comm);
  *comm = nullptr;
  return told == MPI_SUCCESS ? gyreRemoteError : gyreSystemError;
}

}  // namespace

gyreResult_t gyreCommInitMPI(gyreComm_t* comm, MPI_Comm mpi, const gyreConfig_t* config) {
  const gyreResult_t ready = check_ready(comm, mpi);
  if (ready != gyreSuccess) {
    return ready;
  }
  int rank = 0;
  int size = 0;
  if (MPI_Comm_rank(mpi, &rank) != MPI_SUCCESS || MPI_Comm_size(mpi, &size) != MPI_SUCCESS) {
    return gyreSystemError;
  }
  Invitation invitation{gyreSuccess, {}};
  if (rank == 0) {
    invitation.result = gyreGetUniqueId(&invitation.id);
  }
  if (MPI_Bcast(&invitation, sizeof(invitation), MPI_BYTE, 0, mpi) != MPI_SUCCESS) {
    return gyreSystemError;
  }
  if (invitation.result != gyreSuccess) {
    return rank == 0 ? invitation.result : gyreRemoteError;
  }
  return agree(gyreCommInitRankConfig(comm, size, invitation.id, rank, config), comm, mpi);
}
