#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The shared library exports what the header declares, and nothing else.
# Usage: symbols.sh LIBRARY HEADER...
set -euo pipefail

library=$1
shift
exported=$(nm -D --defined-only "$library" | awk '$2 != "A" {print $3}' | sort)
declared=$(cat "$@" | tr '\n' ' ' | grep -oE 'GYRE_API [^;(]*\(' |
  grep -oE 'gyre[A-Za-z0-9]+\($' | tr -d '(' | sort -u)

strangers=$(comm -23 <(echo "$exported") <(echo "$declared"))
missing=$(comm -13 <(echo "$exported") <(echo "$declared"))
if [[ -n $strangers ]]; then
  echo "exported, but no function of the public header: ${strangers//$'\n'/ }"
  echo "Give them internal linkage or another name (cmake/gyre.map exports gyre*)."
fi
if [[ -n $missing ]]; then
  echo "declared in the public header, but not exported: ${missing//$'\n'/ }"
  echo "Define them, or see whether GYRE_API and extern \"C\" reach the definition."
fi
[[ -z $strangers$missing ]]
echo "$(wc -w <<<"$exported") functions exported, as declared"
