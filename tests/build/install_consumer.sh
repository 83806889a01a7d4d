#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs Gyre to a path with a space, moves it, and builds and runs programs against it as other
# projects would: with CMake's find_package and with pkg-config.
# Usage: install_consumer.sh BUILD_DIR CONSUMER_DIR WITH_MPI
set -euo pipefail

build_dir=$1
consumer_dir=$2
with_mpi=$3

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
first="$work/first place"
prefix="$work/moved to"

step() {
  echo "-- $*"
}

step "install and move"
cmake --install "$build_dir" --prefix "$first" >"$work/install.log" ||
  { cat "$work/install.log"; exit 1; }
mv "$first" "$prefix"
if grep -rIl "first place" "$prefix"; then
  echo "these installed files hold the path that they were installed to: they cannot be moved"
  exit 1
fi

step "find_package: shared and static, C and C++"
cmake -S "$consumer_dir" -B "$work/build" -G Ninja -DWITH_MPI="$with_mpi" \
  -DCMAKE_PREFIX_PATH="$prefix" >"$work/configure.log" 2>&1 ||
  { cat "$work/configure.log"; exit 1; }
cmake --build "$work/build"
for program in "$work"/build/consumer_*; do
  [[ -x $program && -f $program ]] || continue
  step "run $(basename "$program")"
  "$program"
done

export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
step "pkg-config: shared"
# eval: pkg-config escapes the space for a shell.
eval "gcc -std=c11 '$consumer_dir/consumer.c' -o '$work/shared' $(pkg-config --cflags --libs gyre)"
LD_LIBRARY_PATH="$prefix/lib" "$work/shared"

step "pkg-config: static"
# The archive by name: beside a shared library the linker would prefer that one.
libs=$(pkg-config --static --libs gyre)
eval "gcc -std=c11 '$consumer_dir/consumer.c' -o '$work/static' \
  $(pkg-config --cflags gyre) ${libs/-lgyre/-l:libgyre.a}"
"$work/static"
if ldd "$work/static" | grep -q libgyre; then
  echo "the static program still needs libgyre.so"
  exit 1
fi
step "all consumers built and ran"
