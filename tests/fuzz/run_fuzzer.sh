#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run_fuzzer.sh FOLDER NAME REPLAY: fuzzes one target for some seconds, from the seeds that the program
# REPLAY writes. GYRE_FUZZ_SECONDS makes it longer. Ends with 77 where it was not built.
set -euo pipefail

folder=$1 name=$2 replay=$3
if [[ ! -x $folder/$name ]]; then
  echo "skipped: no clang with libFuzzer; apt-get install clang libclang-rt-dev"
  exit 77
fi
corpus=$folder/corpus/$name
mkdir -p "$corpus"
"$replay" --seeds "$corpus"
cd "$folder"
exec "$folder/$name" -max_total_time="${GYRE_FUZZ_SECONDS:-3}" -max_len=4096 -rss_limit_mb=1024 \
  -timeout=10 -verbosity=0 -print_final_stats=1 "$corpus"
