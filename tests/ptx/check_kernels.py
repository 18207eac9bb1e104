#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Assembles each kernel that measures a GPU: check_kernels.py <program ptx_kernels> <ptxas>.

Each must assemble for every architecture that it is for, keep its registers in registers, leave
room for four blocks of a multiprocessor, and have at least as many machine instructions as its loop
repeats its own: an assembler that saw through the loop would have left some out."""

import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ARCHITECTURES = (75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121)
REGISTERS = 64  # a thread, where a multiprocessor holds four blocks of 256
INSTRUCTION = 16  # bytes


def section_size(path: pathlib.Path, name: str) -> int:
    """Bytes of an ELF section."""
    data = path.read_bytes()
    at, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, at + i * size) for i in range(count)]
    texts = headers[names][4]
    for header in headers:
        start = texts + header[0]
        if data[start:data.index(b"\0", start)].decode() == name:
            return header[5]
    return 0


def known_architectures(ptxas: str) -> set[int]:
    text = subprocess.run([ptxas, "--help"], capture_output=True, text=True, check=True).stdout
    return {int(number) for number in re.findall(r"'sm_(\d+)'", text)}


def check(ptxas: str, ptx: pathlib.Path, arch: int, line: list[str]) -> list[str]:
    out = ptx.with_suffix(".cubin")
    done = subprocess.run([ptxas, "-v", f"-arch=sm_{arch}", str(ptx), "-o", str(out)],
                          capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    if done.returncode != 0:
        return ["does not assemble: " + said.strip().splitlines()[0]]
    faults = []
    registers = int(re.search(r"Used (\d+) registers", said)[1])
    if registers > REGISTERS:
        faults.append(f"takes {registers} registers")
    if "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" not in said:
        faults.append("spills: " + said.strip().splitlines()[-1])
    if section_size(out, ".text.kprof_ceiling") < int(line[4]) * INSTRUCTION:
        faults.append(f"has fewer than {line[4]} machine instructions")
    return faults


def main() -> int:
    program, ptxas = sys.argv[1:3]
    found = ptxas if pathlib.Path(ptxas).exists() else shutil.which("ptxas")
    if found is None:
        print("skipped: no ptxas is installed")
        return 77
    known = known_architectures(found)
    for arch in sorted(set(ARCHITECTURES) - known):
        print(f"not tried: {found} does not know sm_{arch}")
    faults = assembled = 0
    with tempfile.TemporaryDirectory() as folder:
        lines = subprocess.run([program, folder], capture_output=True, text=True,
                               check=True).stdout.splitlines()
        for line in map(str.split, lines):
            ptx = pathlib.Path(folder, line[0] + ".ptx")
            told = ptx.read_text().count(line[3] + " ")
            here = [] if told == int(line[4]) else [f"repeats it {told} times"]
            here = [("the text", fault) for fault in here]
            wanted = [a for a in ARCHITECTURES if int(line[1]) <= a <= int(line[2]) and a in known]
            for arch in wanted:
                here += [(f"sm_{arch}", fault) for fault in check(found, ptx, arch, line)]
            assembled += len(wanted)
            for where, fault in here:
                print(f"{line[3]}, {where}: {fault}")
            faults += len(here)
    print(f"{len(lines)} kernels, assembled {assembled} times, {faults} faults")
    return 1 if faults or assembled == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
