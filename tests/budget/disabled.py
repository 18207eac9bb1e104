#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""With KPROF_ENABLE=0 the assembly is that of a file without kprof: disabled.py <compiler>
[flags...]

Compares what the compiler writes for disabled.cpp with scopes, compiled out, and without kprof: the
whole output, so that neither code nor data nor a section may be left.
"""

import difflib
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent / "disabled.cpp"


def assembly(compiler, flags):
    run = subprocess.run(
        [compiler, "-std=c++20", "-O2", "-S", "-o", "-", *flags, str(SOURCE)],
        check=True,
        text=True,
        capture_output=True,
    )
    # g++ numbers these labels through all functions it has seen, those in headers too.
    return [
        re.sub(r"\.LF[BE]\d+", ".LF", line)
        for line in run.stdout.split("\n")
        if ".ident" not in line
    ]


def main():
    compiler, flags = sys.argv[1], sys.argv[2:]
    bare, guarded = assembly(compiler, flags), assembly(compiler, [*flags, "-DKPROF_TEST_GUARDED"])
    instructions = [line for line in bare if line.startswith("\t") and not line.startswith("\t.")]
    if len(instructions) < 10:
        sys.exit(f"disabled: only {len(instructions)} instructions, nothing was compared")
    difference = list(
        difflib.unified_diff(
            bare, guarded, "without kprof", "with scopes, KPROF_ENABLE=0", lineterm=""
        )
    )
    if difference:
        print("\n".join(difference[:60]))
        sys.exit("disabled: scopes that are compiled out change the assembly; budget: not at all")
    print(f"{len(instructions)} instructions, the same with and without scopes; budget: the same")


main()
