#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds mpi_perf with the MPI whose mpicc is given, without CMake.
#
#   perf/peers/build.sh MPICC OUTPUT      e.g. perf/peers/build.sh mpicc.mpich build/peers/mpich/bin/mpi_perf
set -eu
if [ $# -ne 2 ]; then
  echo "usage: $0 MPICC OUTPUT" >&2
  exit 2
fi
mpicc=$1
output=$2
perf=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$(dirname "$output")"
# The wrappers are C compilers; only the C interface of MPI is used, from C++. Each family of
# wrappers has its own variable for the compiler that it wraps.
OMPI_CC=${CXX:-g++} MPICH_CC=${CXX:-g++} I_MPI_CC=${CXX:-g++}
export OMPI_CC MPICH_CC I_MPI_CC
libraries=$(dirname "$(dirname "$(command -v "$mpicc")")")/lib
"$mpicc" -std=c++20 -O2 -I"$perf/.." -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX \
  "$perf"/mpi/*.cpp "$perf"/common/*.cpp -Wl,-rpath,"$libraries" -lstdc++ -lm -o "$output"
echo "$output"
