#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gyre_plan.sh GYRE_PLAN SAMPLES: every subcommand as a user runs it: what it prints, and with which
# status it exits.
set -euo pipefail
gyre_plan=$1
samples=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "gyre-plan $*" >&2
  exit 1
}

# expect TEXT ARGUMENTS...: succeeds, and prints TEXT.
expect() {
  local text=$1
  shift
  "$gyre_plan" "$@" >"$folder/out" 2>"$folder/err" || fail "$*: failed: $(cat "$folder/err")"
  grep -qF -- "$text" "$folder/out" || fail "$*: its output lacks: $text"
}

# refuse TEXT ARGUMENTS...: exits with 1, and says TEXT. misuse: with what CLI11 gives to words that an
# option does not take.
refuse() { refuse_with 1 "$@"; }
misuse() { refuse_with 105 "$@"; }
refuse_with() {
  local expected=$1
  local text=$2
  local status=0
  shift 2
  "$gyre_plan" "$@" >"$folder/out" 2>"$folder/err" || status=$?
  [[ $status == "$expected" ]] || fail "$*: exits with $status, not $expected"
  grep -qF -- "$text" "$folder/err" || fail "$*: does not say: $text. It says: $(cat "$folder/err")"
  [[ ! -s $folder/out ]] || fail "$*: prints something all the same"
}

expect "ReduceScatter  ring         staged" list
expect "copy input[0] -> peer_slot(peer 1)[0]" print -a ring -n 3
expect '{"wait": 2}' print -a ring -n 3 --json
cp "$folder/out" "$folder/ring.json"
expect "AllReduce ring/staged for 3 ranks is right" verify --file "$folder/ring.json"
refuse "It deadlocks" verify --file "$folder/ring.json" --slots 1
sed 's/"release": 2/"wait": 2/' "$folder/ring.json" >"$folder/wrong.json"
refuse "is wrong at rank 0, step 3 (wait peer 2)" verify --file "$folder/wrong.json"
refuse "/gyre_plan" verify --file <(sed 's/"gyre_plan": 1/"gyre_plan": 0/' "$folder/ring.json")
misuse "foo is none of ring, oneshot," print -a foo
expect "AllReduce ring/staged" print -c all_reduce -a Ring
refuse "no algorithm chain/staged" print -a chain
expect "AllGather hierarchical/staged for 24 ranks is right" verify -c AllGather -a hierarchical -n 24 --levels 3,2,4 --across bruck
refuse "The levels 3,3 do not divide 24 ranks" verify -a hierarchical -n 24 --levels 3,3
refuse "cannot run tree inside a level" verify -a hierarchical -n 24 --levels 3 --inside tree
refuse "The root is 4" print -c Broadcast -a chain -n 4 --root 4
refuse "no-such-file" print --file "$folder/no-such-file"

expect "longest chain of messages or signals" compare ring "$folder/ring.json" -n 3
refuse "nothing to compare" compare ring "$folder/ring.json" -n 4
expect "runs oneshot/inline: small" explain -b 8 -n 4
expect "at other sizes" explain -c Broadcast -b 1M -n 16

expect "subgraph cluster_2" draw -a twoshot -n 3
if command -v dot >/dev/null; then
  expect "<svg" draw -a twoshot -n 3 --svg
else
  echo "no Graphviz: --svg is not tried"
fi

for sample in "$samples"/*; do
  expect '"gyre_plan": 1' import "$sample"
  cp "$folder/out" "$folder/imported.json"
  expect "is right" verify --file "$folder/imported.json" --tiles 4
done
refuse "ring.json cannot be imported" import "$folder/ring.json"
echo "gyre-plan does what it says"
