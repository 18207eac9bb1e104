#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds what compiling kprof.hpp costs, in numbers that are the same in every run.

    compile_cost.py linked <compiler> [flags...]
    compile_cost.py one_file <object file> <include folder> <compiler> [flags...]

linked    With the session in a library, the compiler needs at most LINKED times the instructions at
          -O2 that <boost/pfr/core.hpp> takes in the front end. Where that header takes 50 ms, this
          is half a second. Without Valgrind the script ends with 77, a skip for CTest.
one_file  The object file, a small program with all of kprof that was compiled at -O2, has at most
          ONE_FILE bytes of code, which the time of the compiler follows; and the header reaches no
          output but the report.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LINKED = 12.2
ONE_FILE = {"g++": 1_450_000, "clang++": 1_860_000}  # about 1 % above what they give
PROGRAM = "#include <kprof/kprof.hpp>\nint main() { return kprof::report() ? 0 : 1; }\n"


def run(command):
    done = subprocess.run(command, text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"compile_cost: {' '.join(command)} failed:\n{done.stderr}")
    return done


def instructions(command, folder):
    valgrind = [
        "valgrind",
        "--tool=cachegrind",  # without caches three times as fast as callgrind
        "--cache-sim=no",
        "--trace-children=yes",
        f"--cachegrind-out-file={folder}/out.%p",
    ]
    done = run([*valgrind, *command])
    # The compiler's driver starts another program, or does the work itself: whichever executed
    # most.
    return max(
        int(n.replace(",", "")) for n in re.findall(r"I\s+refs:\s+([\d,]+)", done.stderr)
    )


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


def check_one_file(compiled, include, command, folder):
    source = folder / "source.cpp"
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
    sections = run(["size", "-A", "-d", str(compiled)]).stdout
    code = sum(int(n) for n in re.findall(r"^\.text\S*\s+(\d+)", sections, re.MULTILINE))
    limit = ONE_FILE["clang++" if "clang" in command[0] else "g++"]
    print(f"kprof.hpp in one file: {code} bytes of code, limit {limit}")
    if code > limit:
        errors.append("kprof.hpp has grown; the one-file way would take longer to compile")
    return errors


def main():
    arguments = sys.argv[1:]
    what = arguments.pop(0) if arguments else ""
    paths = [arguments.pop(0) for _ in range(2) if what == "one_file" and arguments]
    if what not in ("linked", "one_file") or not arguments:
        sys.exit(__doc__)
    command = [arguments[0], "-std=c++20", *arguments[1:]]
    with tempfile.TemporaryDirectory() as folder:
        if what == "linked":
            errors = check_linked(command, pathlib.Path(folder))
        else:
            compiled, include = paths
            errors = check_one_file(compiled, pathlib.Path(include), command, pathlib.Path(folder))
    for error in errors:
        print(error)
    sys.exit(1 if errors else 0)


main()
