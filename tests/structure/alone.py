#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles headers as a user's first include.

    alone.py <mode> <enable[,enable]> <header[,header...]> <compiler> [flags...]

mode:
  alone      the header alone, and twice
  poisoned   all the headers, with short macro names that others define in front of them
  worse      the same with names that the standard headers themselves use: for headers that include
             next to none of them
  cuda       all the headers, and twice, by nvcc as a .cu file
enable: 1 for kprof enabled, 0 for kprof compiled out. The compiler's warnings are errors.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

# What <complex.h>, <termios.h>, <sys/sysmacros.h>, <windows.h>, X11's and other headers define.
POISON = [
    "I",
    "small",
    "B0",
    "B50",
    "major",
    "minor",
    "makedev",
    "near",
    "far",
    "interface",
    "IN",
    "OUT",
    "ERROR",
    "EMPTY",
    "None",
    "Bool",
    "True",
    "False",
    "Always",
    "Status",
    "Success",
    "check",
    "verify",
    "unix",
    "linux",
    "CHECK",
    "LOG",
    "PAGE_SIZE",
    "CURRENT",
]
# Whoever defines these breaks <algorithm> first; the light headers include nothing that would
# notice.
WORSE = ["min", "max", "swap", "abs"]
INCLUDE = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.MULTILINE)
# What the poison must not reach: everything that kprof's headers include.
FOREIGN_IN_FRONT = ["cstdlib", "cstdio", "cstring", "cmath"]


def foreign_includes(root):
    """The headers of others that kprof's include, without those that are behind a condition."""
    found = set(FOREIGN_IN_FRONT)
    for path in root.rglob("*.hpp"):
        found.update(
            name for name in INCLUDE.findall(path.read_text()) if not name.startswith("kprof/")
        )
    return sorted(found)


def compile_text(compiler, flags, text, cuda):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / ("header.cu" if cuda else "header.cpp")
        source.write_text(text)
        command = [compiler, "-std=c++20", *flags, str(source)]
        # What nvcc's front end writes must also compile with the host compiler, but need not become
        # code: half of the time.
        command += (
            ["-c", "-Xcompiler=-fsyntax-only", "-Werror", "all-warnings", "-o", str(source) + ".o"]
            if cuda
            else ["-fsyntax-only", "-Werror"]
        )
        run = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return run.returncode == 0, run.stdout


def main():
    mode, headers, compiler, flags = sys.argv[1], sys.argv[3].split(","), sys.argv[4], sys.argv[5:]
    text = "".join(f"#include <{h}>\n#include <{h}>\n" for h in headers)
    if mode in ("poisoned", "worse"):
        root = pathlib.Path(__file__).resolve().parents[2] / "include"
        front = "".join(
            f"#if __has_include(<{name}>)\n#include <{name}>\n#endif\n"
            for name in foreign_includes(root)
        )
        text = (
            front
            + "".join(
                f"#undef {name}\n#define {name} kprof_poisoned_{name}(!\n"
                for name in POISON + (WORSE if mode == "worse" else [])
            )
            + text
        )
    failed = False
    for enable in sys.argv[2].split(","):
        good, output = compile_text(
            compiler, [*flags, f"-DKPROF_ENABLE={enable}"], text, mode == "cuda"
        )
        if not good:
            failed = True
            print(
                f"KPROF_ENABLE={enable}: {headers[0] if len(headers) == 1 else 'the headers'} does "
                f"not compile ({mode}):\n{output[:4000]}"
            )
    if not failed:
        print(f"{len(headers)} header(s) in order ({mode})")
    sys.exit(1 if failed else 0)


main()
