#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build_fuzzers.sh FOLDER: builds the libFuzzer programs there. Ends with 77 where they cannot be.
set -euo pipefail

if ! echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, long) { return 0; }' |
  clang++ -x c++ -fsanitize=fuzzer,address - -o /dev/null 2>/dev/null; then
  echo "skipped: no clang with libFuzzer; apt-get install clang libclang-rt-dev"
  exit 77
fi
launcher=()
if command -v ccache >/dev/null; then
  launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
cmake -G Ninja -S "$(dirname "$0")/libfuzzer" -B "$1" -DCMAKE_CXX_COMPILER=clang++ \
  ${launcher[@]+"${launcher[@]}"} >/dev/null
cmake --build "$1"
