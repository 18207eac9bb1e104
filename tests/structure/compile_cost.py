#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds what compiling kprof.hpp costs, in numbers that are the same in every run.

    compile_cost.py linked|one_file <include folder> <compiler> [flags...]

linked    With the session in a library, the compiler needs at most LINKED times the instructions at
          -O2 that <boost/pfr/core.hpp> takes in the front end. Where that header takes 50 ms, this
          is half a second. Without Valgrind the script ends with 77, a skip for CTest.
one_file  All of kprof in one file is at most ONE_FILE bytes of code at -O2, which the time of the
          compiler follows, and the header reaches no output but the report.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LINKED = 10
ONE_FILE = {"g++": 438_000, "clang++": 541_000}  # 3 % above what they give
PROGRAM = "#include <kprof/kprof.hpp>\nint main() { return kprof::report() ? 0 : 1; }\n"


def run(command):
    done = subprocess.run(command, text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"compile_cost: {' '.join(command)} failed:\n{done.stderr}")
    return done


def instructions(command, folder):
    valgrind = [
        "valgrind",
        "--tool=callgrind",
        "--trace-children=yes",
        f"--callgrind-out-file={folder}/out.%p",
    ]
    done = run([*valgrind, *command])
    # The compiler's driver starts another program, or does the work itself: whichever executed
    # most.
    return max(int(n) for n in re.findall(r"Collected\s*:\s*(\d+)", done.stderr))


def check_linked(command, folder):
    if not shutil.which("valgrind"):
        print("skipped: valgrind is not installed")
        sys.exit(77)

    def cost(text, *how):
        source = folder / "source.cpp"
        source.write_text(text)
        return instructions([*command, *how, str(source)], folder)

    compiled = ("-O2", "-S", "-o", str(folder / "out.s"))
    core = cost("#include <boost/pfr/core.hpp>\n", "-fsyntax-only") - cost("", "-fsyntax-only")
    ours = cost("#define KPROF_SESSION_ELSEWHERE 1\n" + PROGRAM, *compiled) - cost("", *compiled)
    print(
        f"kprof.hpp beside a compiled session: {ours / core:.1f} times the {core / 1e6:.0f} M "
        f"instructions of boost/pfr/core.hpp, limit {LINKED}"
    )
    return ["kprof.hpp is too large beside a compiled session"] if ours > LINKED * core else []


def check_one_file(include, command, folder):
    source, compiled = folder / "source.cpp", folder / "object.o"
    source.write_text(PROGRAM)
    reached = set(re.findall(r"kprof/report/(\w+)\.hpp", run([*command, "-M", str(source)]).stdout))
    files = {path.stem for path in (include / "kprof/report").glob("*.hpp")}
    outputs = {
        name
        for name in files
        if "output_registration" in (include / f"kprof/report/{name}.hpp").read_text()
    }
    errors = [
        f"kprof.hpp includes the output report/{name}.hpp"
        for name in sorted(outputs & reached - {"text", "output"})
    ]
    if "text" not in reached or not outputs - {"text", "output"}:
        errors.append("the outputs were not found: nothing was looked at")
    run([*command, "-O2", "-c", "-o", str(compiled), str(source)])
    sections = run(["size", "-A", "-d", str(compiled)]).stdout
    code = sum(int(n) for n in re.findall(r"^\.text\S*\s+(\d+)", sections, re.MULTILINE))
    limit = ONE_FILE["clang++" if "clang" in command[0] else "g++"]
    print(f"kprof.hpp in one file: {code} bytes of code, limit {limit}")
    if code > limit:
        errors.append("kprof.hpp has grown; the one-file way would take longer to compile")
    return errors


def main():
    if len(sys.argv) < 4 or sys.argv[1] not in ("linked", "one_file"):
        sys.exit(__doc__)
    command = [sys.argv[3], "-std=c++20", *sys.argv[4:]]
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[1] == "linked":
            errors = check_linked(command, pathlib.Path(folder))
        else:
            errors = check_one_file(pathlib.Path(sys.argv[2]), command, pathlib.Path(folder))
    for error in errors:
        print(error)
    sys.exit(1 if errors else 0)


main()
