#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs programs for arm64 on simulated processors: check_arm64.py QEMU SYSROOT LOOPS FIRST_REPORT

LOOPS is loops.cpp, FIRST_REPORT an example that prints a report. Rates are not looked at: they are
those of the simulation.
"""

import os
import re
import subprocess
import sys
import tempfile

NEON = {"f64": ("NEON", 24 * 2 * 2), "f32": ("NEON", 24 * 4 * 2)}
NEON_8_2 = NEON | {"f16": ("NEON", 24 * 8 * 2)}
# 2 x 2 sums of 4 or 8 products
MATRIX = {"bf16": ("BFMMLA", 24 * 4 * 4 * 2), "int8": ("SMMLA", 24 * 4 * 8 * 2)}


def scalable(bytes):
    sizes = {"f64": 8, "f32": 4, "f16": 2}
    return {name: ("SVE", 24 * bytes // size * 2) for name, size in sizes.items()}


PROCESSORS = {
    "cortex-a72": NEON,
    "max,sve=off": NEON_8_2 | MATRIX,
    "max,sve128=on": NEON_8_2 | MATRIX,
    "max,sve256=on,sve512=off,sve1024=off,sve2048=off": scalable(32) | MATRIX,
    "a64fx": scalable(64),
    "neoverse-n1": NEON_8_2 | {"int8": ("SDOT", 24 * 4 * 4 * 2)},
}
# What one round leaves of a chain that began with 0: 0.5 * 0.5; sums of 4 times that, or of ones.
COMPUTED = {
    "f64": "3fd0000000000000",
    "f32": "3e8000003e800000",
    "f16": "3400340034003400",
    "bf16": "3f8000003f800000",
    "int8": {"SMMLA": "0000000800000008", "SDOT": "0000000400000004"},
}

failures = []


def check(what, holds, shown=""):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}\n{shown}")


def run(qemu, processor, sysroot, program, folder):
    command = [qemu, "-cpu", processor, "-L", sysroot, program]
    env = os.environ | {"XDG_CACHE_HOME": folder}
    env.pop("KPROF", None)
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=env)


def main(qemu, sysroot, loops, first_report):
    for processor, wanted in PROCESSORS.items():
        with tempfile.TemporaryDirectory() as folder:
            r = run(qemu, processor, sysroot, loops, folder)
            lines = re.finditer(r"^loop (\S+) (\S+) (\d+)$", r.stdout, re.M)
            found = {m[1]: (m[2], int(m[3])) for m in lines}
            check(f"{processor}: the program ends", r.returncode == 0, r.stderr)
            check(f"{processor}: its loops are {wanted}", found == wanted, r.stdout)
            for m in re.finditer(r"^computed (\S+) (\w+) (\w+)$", r.stdout, re.M):
                right = COMPUTED[m[1]]
                if isinstance(right, dict):
                    right = right[found[m[1]][0]]
                check(f"{processor}: {m[1]} computes {right}", m[2] == m[3] == right, m[0])
            check(f"{processor}: triad is right", "memory right" in r.stdout, r.stdout)
    with tempfile.TemporaryDirectory() as folder:
        r = run(qemu, "max,sve=off", sysroot, first_report, folder)
        check("the example ends", r.returncode == 0, r.stderr)
        page = r.stdout
        check("its report has its calls", re.search(r"^Saxpy +2 rows +40 ", page, re.M), page)
        check("its report has roofs", re.search(r"^roof: f32 .* DRAM ", page, re.M), page)
        check("nothing was lost", "Complete: nothing was lost of 40 scopes" in page, page)
    print(f"{len(PROCESSORS)} processors, {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main(*sys.argv[1:]))
