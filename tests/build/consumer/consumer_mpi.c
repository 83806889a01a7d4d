/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre_mpi.h>

int main(void) {
  gyreComm_t comm = NULL;
  /* MPI is not initialized: refused, which shows that the function is there. */
  return gyreCommInitMPI(&comm, MPI_COMM_WORLD, NULL) == gyreInvalidUsage ? 0 : 1;
}
