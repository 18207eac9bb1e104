#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bytes of code a scope with 8 int64 fields adds where it stands: call_site_size.py <compiler>
[flags...]

Compiles call_site.cpp with -O2 and compares the sizes of its functions, with the parts that the
compiler moved out of them (name.cold), with and without a scope. The case where all parameters live
in registers is shown but has no limit: what it adds is the saving of the function's own arguments,
which any call in its place would need.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

BUDGET = 160
CASES = {"lvalue": BUDGET, "braced": BUDGET, "registers": None}


def main():
    source = pathlib.Path(__file__).resolve().parent / "call_site.cpp"
    with tempfile.TemporaryDirectory() as folder:
        compiled = folder + "/call_site.o"
        subprocess.run(
            [sys.argv[1], "-std=c++20", "-O2", *sys.argv[2:], "-c", str(source), "-o", compiled],
            check=True,
        )
        symbols = subprocess.run(
            ["nm", "-S", compiled], check=True, text=True, capture_output=True
        ).stdout
    sizes = {}
    for size, name in re.findall(
        r"^[0-9a-f]+ ([0-9a-f]+) [tTwW] ([a-z_]+)(?:\.[a-z.0-9]*)?$", symbols, re.MULTILINE
    ):
        sizes[name] = sizes.get(name, 0) + int(size, 16)
    failed = False
    for case, budget in CASES.items():
        bare, guarded = sizes[case + "_bare"], sizes[case + "_guarded"]
        if guarded <= bare:
            sys.exit(
                f"call_site_size: {case}: the function with a scope is not larger ({guarded}) than "
                f"the one without ({bare}): nothing was measured"
            )
        verdict = "no limit" if budget is None else f"budget {budget}"
        print(
            f"{case:10} {guarded - bare:4} bytes a scope, {verdict}   ({bare} without, {guarded} "
            "with)"
        )
        failed = failed or (budget is not None and guarded - bare > budget)
    sys.exit(1 if failed else 0)


main()
