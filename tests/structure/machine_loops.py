#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the instructions in a round of each arithmetic loop: machine_loops.py OBJDUMP PROGRAM

What a loop is said to do (loops.hpp) must be what it does: a compiler or a changed macro that drops
or doubles a chain gives a wrong ceiling without any other sign.
"""

import re
import subprocess
import sys

# The instruction, the registers it works on, and how many of it a round has.
LOOPS = {
    "fma_f64_avx512": ("vfmadd231pd", "zmm", 28),
    "fma_f32_avx512": ("vfmadd231ps", "zmm", 28),
    "fma_f16_avx512": ("vfmadd231ph", "zmm", 28),
    "dot_bf16_avx512": ("vdpbf16ps", "zmm", 28),
    "dot_int8_avx512": ("vpdpbusd", "zmm", 28),
    "fma_f64_avx2": ("vfmadd231pd", "ymm", 28),
    "fma_f32_avx2": ("vfmadd231ps", "ymm", 28),
    "dot_int8_avx": ("vpdpbusd", "ymm", 28),
    "mul_add_f64_sse2": ("(?:mul|add)pd", "xmm", 28),
    "mul_add_f32_sse2": ("(?:mul|add)ps", "xmm", 28),
    "tile_dot_bf16": ("tdpbf16ps", "tmm", 8),
    "tile_dot_int8": ("tdpbssd", "tmm", 8),
    "count_clocks": ("add", "", 64),
}


def functions(text):
    """The lines of each function, by name."""
    found, current = {}, None
    for line in text.splitlines():
        head = re.match(r"^[0-9a-f]+ <(.*)>:$", line)
        if head:
            current = found.setdefault(head[1], [])
        elif current is not None and ":\t" in line:
            current.append(line)
    return found


def round_of(lines):
    """The instructions from where the last jump back leads to that jump."""
    addresses = [int(line.split(":")[0], 16) for line in lines]
    jumps = [(i, int(m[1], 16)) for i, line in enumerate(lines)
             if (m := re.search(r"\bjne\s+([0-9a-f]+)", line))]
    if not jumps:
        return []
    at, target = jumps[-1]
    return lines[addresses.index(target) : at + 1]


def main():
    objdump, program = sys.argv[1:]
    text = subprocess.run(
        [objdump, "-d", "--no-show-raw-insn", "-C", program],
        capture_output=True, text=True, check=True,
    ).stdout
    found = {
        m[1]: lines
        for name, lines in functions(text).items()
        if (m := re.match(r"kprof::v1::detail::(\w+)\(unsigned long\)", name))
    }
    errors = 0
    for name, (instruction, registers, wanted) in LOOPS.items():
        lines = round_of(found.get(name, []))
        pattern = rf"(?:\}}|\t| )\s*{instruction}\s+.*{registers}"
        counted = sum(1 for line in lines if re.search(pattern, line))
        chains = len({line.split(",")[-1] for line in lines if re.search(pattern, line)})
        if counted != wanted:
            print(f"{name}: {counted} of {instruction} in a round, loops.hpp counts {wanted}")
            errors += 1
        elif registers and chains != (4 if registers == "tmm" else 14):
            print(f"{name}: {chains} chains")
            errors += 1
    print(f"machine loops: {len(LOOPS)} loops, {errors} errors")
    return errors != 0


sys.exit(main())
