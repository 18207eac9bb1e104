#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what a source pays that includes the catalogue and does not use it.

    catalogue_cost.py binary|front_end <include folder> <compiler> [flags...]

binary     The object file has no symbols but those that op.hpp, or registry.hpp, leaves anyway.
front_end  The compiler needs at most four times the instructions that <boost/pfr/core.hpp> takes,
           which are the same in every run. That header takes 50 ms on the machine where the
           catalogue may take 400. Without Valgrind the script ends with 77, a skip for CTest.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FRONT_END = 4


def including(headers):
    return "".join(f"#include <{h}>\n" for h in headers)


def run(command, source):
    done = subprocess.run(command, input=source, text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"catalogue_cost: {' '.join(command)} failed:\n{done.stderr}")
    return done


def symbols(headers, compile_command):
    with tempfile.TemporaryDirectory() as folder:
        run(
            [*compile_command, "-O0", "-c", "-o", f"{folder}/object.o", "-"],
            including(headers) + "int marker;\n",
        )
        return {
            line.split()[-1] for line in run(["nm", f"{folder}/object.o"], None).stdout.splitlines()
        }


def check_binary(headers, compile_command):
    errors = []
    for more, base in ((headers, ["kprof/op.hpp"]), (["kprof/ops.hpp"], ["kprof/registry.hpp"])):
        left = symbols(base + more, compile_command) - symbols(base, compile_command)
        print(
            f"{len(more)} header(s), {more[0]} the first: {len(left)} symbols beside those of "
            f"{base[0]}"
        )
        errors += [
            f"including {'a family' if more is headers else 'ops.hpp'} leaves {name} in the binary"
            for name in sorted(left)
        ]
    if not any(
        name.endswith("reflection_probeEE") or "module" in name
        for name in symbols(["kprof/registry.hpp"], compile_command)
    ):
        errors.append("nm shows nothing of registry.hpp: nothing was looked at")
    return errors


def instructions(header, compile_command):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "source.cpp"
        source.write_text(including([header]))
        # The compiler's driver starts another program, or does the work itself: whichever executed
        # most.
        done = run(
            [
                "valgrind",
                "--tool=cachegrind",  # without caches three times as fast as callgrind
                "--cache-sim=no",
                "--trace-children=yes",
                f"--cachegrind-out-file={folder}/out.%p",
                compile_command[0],
                *[f for f in compile_command[1:] if f not in ("-x", "c++")],
                "-fsyntax-only",
                str(source),
            ],
            None,
        )
        return max(
            int(n.replace(",", "")) for n in re.findall(r"I\s+refs:\s+([\d,]+)", done.stderr)
        )


def check_front_end(compile_command):
    if not shutil.which("valgrind"):
        print("skipped: valgrind is not installed")
        sys.exit(77)
    nothing = instructions("cstddef", compile_command)
    core = instructions("boost/pfr/core.hpp", compile_command) - nothing
    ratio = (instructions("kprof/ops.hpp", compile_command) - nothing) / core
    print(
        f"kprof/ops.hpp costs the front end {ratio:.2f} times what boost/pfr/core.hpp does "
        f"({core / 1e6:.0f} M instructions), limit {FRONT_END}"
    )
    return ["the catalogue is too large for the front end"] if ratio > FRONT_END else []


def main():
    if len(sys.argv) < 4 or sys.argv[1] not in ("binary", "front_end"):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[2])
    headers = sorted(p.relative_to(folder).as_posix() for p in (folder / "kprof/ops").glob("*.hpp"))
    compile_command = [sys.argv[3], "-std=c++20", "-x", "c++", *sys.argv[4:]]
    if sys.argv[1] == "front_end":
        errors = check_front_end(compile_command)
    else:
        errors = check_binary(headers, compile_command)
    for error in errors:
        print(error)
    sys.exit(1 if errors or len(headers) < 20 else 0)


main()
