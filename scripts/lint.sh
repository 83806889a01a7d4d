#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the format of all sources, and analyses those that are built with clang-tidy.
#   scripts/lint.sh            the format of everything, clang-tidy on the library and the plugins
#   scripts/lint.sh --all      clang-tidy on the programs too: their command lines take it longer than
#                              the whole library
#   scripts/lint.sh --changed  files that differ from the branch main, or are not committed
# clang-tidy reads the compile commands of the preset lint, which has no precompiled headers.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in clang-format clang-tidy; do
  if ! command -v $tool >/dev/null; then
    echo "lint: $tool is not installed, nothing is checked (scripts/install-dependencies.sh)"
    exit 0
  fi
done

folders=(src include plugins tools perf tests)
if [[ ${1:-} == --changed ]]; then
  list() { { git diff --name-only --diff-filter=d main -- "$@"; git ls-files -o --exclude-standard -- "$@"; } | sort -u; }
else
  list() { git ls-files -co --exclude-standard -- "$@" | sort -u; }
fi
mapfile -t sources < <(list "${folders[@]}" | grep -E '\.(h|hpp|c|cpp)$' || true)
if [[ ${#sources[@]} == 0 ]]; then
  echo "lint: no files"
  exit 0
fi
clang-format --dry-run -Werror "${sources[@]}"
echo "lint: format of ${#sources[@]} files is right"

cmake --preset lint >/dev/null
# Only what is compiled here; headers are analysed through the files that include them. Tests are
# formatted but not analysed: they are half of the time, and GoogleTest's macros most of the findings.
analysed='src|plugins'
if [[ ${1:-} != "" ]]; then
  analysed='src|plugins|tools|perf|tests/support'
fi
mapfile -t units < <(printf '%s\n' "${sources[@]}" | grep -E "^($analysed)/.*\\.cpp\$" || true)
compiled=()
for unit in ${units[@]+"${units[@]}"}; do
  grep -q "\"file\": \"$PWD/$unit\"" build/lint/compile_commands.json && compiled+=("$unit")
done
if [[ ${#compiled[@]} != 0 ]]; then
  printf '%s\0' "${compiled[@]}" |
    xargs -0 -n 1 -P "$(nproc)" clang-tidy -p build/lint --quiet 2> >(grep -v 'warnings\? generated' >&2)
fi
echo "lint: clang-tidy found nothing in ${#compiled[@]} files"
