/* SPDX-License-Identifier: Apache-2.0
 *
 * Gyre communicators from MPI communicators: the library gyre_mpi (CMake: gyre::mpi).
 */
#ifndef GYRE_GYRE_MPI_H
#define GYRE_GYRE_MPI_H

#include <mpi.h>

#include <gyre/gyre.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Collective over `mpi`, an intracommunicator: rank r there becomes rank r of *comm. MPI carries
 * the unique id and the outcome, and is not used afterwards: `mpi` may be freed, and MPI finalized,
 * while *comm lives. `config` may be NULL.
 *
 * Either all ranks get a communicator or none does: when it fails on one rank, the others get
 * gyreRemoteError, or an error of their own. MPI must be initialized, else gyreInvalidUsage; a call
 * of MPI that fails, where the error handler of `mpi` returns, gives gyreSystemError. */
GYRE_API gyreResult_t gyreCommInitMPI(gyreComm_t* comm, MPI_Comm mpi, const gyreConfig_t* config);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* GYRE_GYRE_MPI_H */
