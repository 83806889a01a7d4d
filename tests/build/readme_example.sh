#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The C example in README.md compiles.
# Usage: readme_example.sh README INCLUDE_DIR
set -euo pipefail

example=$(sed -n '/^```c$/,/^```$/p' "$1" | sed '/^```/d')
if [[ -z $example ]]; then
  echo "README.md has no C example between \`\`\`c and \`\`\`"
  exit 1
fi
gcc -std=c11 -Wall -Wextra -Werror -Wno-unused-value -x c -I "$2" -fsyntax-only - <<<"$example"
