#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds everything and passes every test: installs what is missing, checks format and style, then runs
# all tests of the dev build, and those that sanitizers can judge under them. Ends with
# "N passed, N failed"; fails when anything failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

jobs=$(nproc)
passed=0
failed=0
failures=()

# phase NAME COMMAND...: runs it and says how long it took; a failure is kept for the end.
phase() {
  local name=$1 start=$SECONDS
  shift
  echo
  echo "==== $name"
  if "$@"; then
    echo "==== $name: $((SECONDS - start)) s"
  else
    echo "==== $name: FAILED after $((SECONDS - start)) s"
    failures+=("$name")
    return 1
  fi
}

# ccache, where there is one, makes running this again cheap.
launcher=()
if command -v ccache >/dev/null; then
  launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  export CCACHE_SLOPPINESS=pch_defines,time_macros  # cmake/precompiled.cmake
fi

build() {
  cmake --preset "$1" ${launcher[@]+"${launcher[@]}"} >/dev/null && cmake --build --preset "$1" --parallel "$jobs"
}

# run_tests PRESET [CTEST_ARGUMENT...]; counts from the line that ctest closes with.
run_tests() {
  local log counts
  log=$(mktemp)
  ctest --preset "$@" --parallel "$jobs" | tee "$log"
  local result=${PIPESTATUS[0]}
  counts=$(grep -oE '[0-9]+ tests failed out of [0-9]+' "$log" | tail -1)
  rm -f "$log"
  if [[ -z $counts ]]; then
    echo "no test ran"
    return 1
  fi
  local fails=${counts%% *} total=${counts##* }
  passed=$((passed + total - fails))
  failed=$((failed + fails))
  return "$result"
}

phase "dependencies" scripts/install-dependencies.sh || exit 1
phase "lint" scripts/lint.sh
phase "build dev" build dev && phase "tests dev" run_tests dev
# Tests of the source tree and of models say the same everywhere, fuzzers bring their own sanitizers,
# and timing-bound tests are not for these.
for preset in asan tsan; do
  phase "build $preset" build $preset &&
    phase "tests $preset" run_tests $preset -LE 'build|timing|fuzz|model'
done

echo
echo "checked in $SECONDS s on $jobs processors"
if [[ ${#failures[@]} != 0 ]]; then
  printf 'failed phase: %s\n' "${failures[@]}"
fi
# A phase that failed without a test having failed counts as one failure.
if [[ ${#failures[@]} != 0 && $failed == 0 ]]; then
  failed=1
fi
echo "$passed passed, $failed failed"
[[ $failed == 0 ]]
