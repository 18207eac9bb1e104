#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes what the reports print now the new baseline in tests/golden, and shows what changed.
# usage: tests/accept_golden.sh [build folder, default build]     after building the tests there
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-"$root/build"}
if [ ! -d "$build" ]; then
  echo "no build folder $build; build the tests first, or name the folder" >&2
  exit 1
fi
# The first run rewrites the files; the second must agree with them.
tests='^(unit\.text|unit\.text_timeline|first_screen)$'
KPROF_ACCEPT=1 ctest --test-dir "$build" -R "$tests" --no-tests=error --output-on-failure
ctest --test-dir "$build" -R "$tests" --output-on-failure
git -C "$root" --no-pager diff --stat -- tests/golden || true
git -C "$root" status --short -- tests/golden || true
echo "Read every change before you commit it."
