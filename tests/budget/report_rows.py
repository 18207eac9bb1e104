#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A report takes time in proportion to its rows: report_rows.py <program>

The program is called as `<program> report <rows>`. Twice the rows may take 2.2 times the
instructions, as callgrind counts them. Exits with 77 where there is no Valgrind.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile


def count(program, rows):
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out"]
        env = os.environ | {"KPROF": "ceilings=off"}
        r = subprocess.run([*command, program, "report", str(rows)], capture_output=True, env=env)
    found = re.search(rb"Collected\s*:\s*(\d+)", r.stderr)
    if found is None or r.stdout.count(b"\n") < rows:
        sys.exit(f"{program} report {rows} failed:\n{r.stdout[-2000:]}{r.stderr[-2000:]}")
    return int(found[1])


if shutil.which("valgrind") is None:
    print("skipped: there is no valgrind")
    sys.exit(77)
few, many = (count(sys.argv[1], rows) for rows in (400, 800))
print(f"400 rows: {few} instructions, 800 rows: {many / few:.2f} times as many, budget 2.2")
sys.exit(1 if many > 2.2 * few else 0)
