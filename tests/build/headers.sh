#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles each public header alone, as C11 and as C++20, with each compiler that is there.
# Usage: headers.sh INCLUDE_DIR...
set -uo pipefail

warnings=(-Wall -Wextra -Wpedantic -Wshadow -Werror)
faults=0

# compile COMPILER STANDARD LANGUAGE INCLUDE_DIR HEADER
compile() {
  if ! printf '#include <%s>\n#include <%s>\n' "$5" "$5" |
    "$1" "-std=$2" -x "$3" "${warnings[@]}" -I "$4" "${inherited[@]}" -fsyntax-only -; then
    echo "fault: <$5> does not compile alone with $1 as $2" >&2
    faults=$((faults + 1))
  fi
}

inherited=()
for directory in "$@"; do
  inherited+=(-I "$directory")
done
# Headers of an MPI are not ours to warn about.
for directory in ${MPI_INCLUDE_DIRS:-}; do
  inherited+=(-isystem "$directory")
done

for directory in "$@"; do
  while IFS= read -r header; do
    for compiler in gcc clang; do
      if [[ $header == *.h ]] && command -v $compiler >/dev/null; then
        compile $compiler c11 c "$directory" "$header"
      fi
    done
    for compiler in g++ clang++; do
      if command -v $compiler >/dev/null; then
        compile $compiler c++20 c++ "$directory" "$header"
      fi
    done
  done < <(cd "$directory" && find . -name '*.h' -o -name '*.hpp' | sed 's|^\./||' | sort)
done
echo "$faults faults in public headers"
[[ $faults == 0 ]]
