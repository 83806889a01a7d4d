#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/settings.md says what the table in src/base/settings_table.cpp says.
# Usage: settings_document.sh GYRE_SETTINGS DOCUMENT
set -euo pipefail

if ! diff -u "$2" <("$1" --markdown); then
  echo "docs/settings.md is out of date. Run: build/dev/bin/gyre-settings --markdown > docs/settings.md"
  exit 1
fi
