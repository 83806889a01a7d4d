#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check.sh MODEL.pml WORK_FOLDER: searches all states of the model, and makes sure that the search
# finds the fault in each broken variant. Ends with 77 where the model checker is not installed.
set -euo pipefail

model=$(realpath "$1")
name=$(basename "$model" .pml)
work=$2/$name
if ! command -v spin >/dev/null; then
  echo "skipped: spin is not installed; apt-get install spin"
  exit 77
fi

# search VARIANT: prints the number of errors that were found.
search() {
  mkdir -p "$work/$1"
  cd "$work/$1"
  spin -DBROKEN="$1" -a "$model" >spin.log 2>&1 || { cat spin.log >&2; return 1; }
  cc -O0 -DSAFETY -DVECTORSZ=4096 -w -o pan pan.c
  ./pan -m1000000 >pan.log 2>&1 || true
  if grep -q "max search depth too small" pan.log; then
    echo "the search was cut short" >&2
    return 1
  fi
  sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.log
}

errors=$(search 0)
grep -E "states, stored|errors:" "$work/0/pan.log"
if [[ $errors != 0 ]]; then
  cat "$work/0/pan.log"
  echo "$name: the model is wrong"
  exit 1
fi
for variant in $(grep -oE "BROKEN=[0-9]+" "$model" | grep -oE "[0-9]+" | sort -u); do
  errors=$(search "$variant")
  if [[ $errors == 0 ]]; then
    echo "$name: the fault of variant $variant was not found: the model proves nothing"
    exit 1
  fi
  echo "$name: the fault of variant $variant is found"
done
