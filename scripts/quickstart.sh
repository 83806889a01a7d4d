#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a clean clone to a collective between four processes: installs what is missing, builds, and runs
# an AllReduce benchmark that checks its results and says where each rank ran.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-dependencies.sh
cmake --preset release
cmake --build --preset release --target all_reduce_perf --parallel "$(nproc)"
build/release/bin/all_reduce_perf --ranks 4 -b 8 -e 64M -f 8
