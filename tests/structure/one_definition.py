#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks for what an object defines that another file with the same headers would define again:
one_definition.py <nm> <object>

The object is of a file that includes headers and has a main().
"""

import subprocess
import sys

# Of nm's letters: code, data, zeroed and read-only data that only one object may define. W, V and u
# may be in many.
STRONG = "TDBRGS"


def main():
    nm, compiled = sys.argv[1:]
    listed = subprocess.run(
        [nm, "--defined-only", "--extern-only", "--demangle", compiled],
        text=True,
        check=True,
        capture_output=True,
    ).stdout
    symbols = [line.split(maxsplit=2) for line in listed.splitlines()]
    strong = [name for _, letter, name in symbols if letter in STRONG]
    if "main" not in strong:
        sys.exit(f"{compiled} has no main()")
    again = [name for name in strong if name != "main"]
    for name in again:
        print(f"each file that includes it defines {name} again: is an `inline` missing?")
    print(f"{len(symbols)} symbols: {len(again)} defined in each file" if again else "in order")
    sys.exit(1 if again else 0)


main()
