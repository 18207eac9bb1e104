#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what a reader of the sources relies on.

    style.py [--self-test] <repository> <compiler> [flags...]

- Every source file has its licence in the first lines. A header has it in line 1, then an include
  guard made from its path.
- No line has a tab, a space at its end or a note to oneself.
- Headers read environment variables through attach/environment_variable.hpp alone, which ignores
  them in processes with rights that their caller lacks.
- Headers write through those in kprof/write alone, which keep the program from harm: not to the
  program's streams, nor with streams of their own. attach/no_session.hpp, which is in every file
  with guards and writes one line, calls the system instead.
- After all headers are included, at most MAX_USER_MACROS macros for users and only SURVIVORS of the
  internal ones are left.

layout.py checks lengths and what clang-format makes.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

FOLDERS = [
    "include",
    "single_include",
    "examples",
    "tests",
    "bench",
    "cmake",
    "tools",
    "packaging",
    ".github",
]
SUFFIXES = {".hpp", ".h", ".cpp", ".cu", ".cuh", ".py", ".sh", ".cmake", ".in", ".yml"}
MAX_USER_MACROS = 9  # KPROF_VERSION_MAJOR, _MINOR and _PATCH are one
VARIABLES = "include/kprof/attach/environment_variable.hpp"
WRITING = "include/kprof/write/"
STREAMS = re.compile(
    r"\b(stderr|cout|cerr|clog|[io]?fstream|fopen|freopen|fdopen|v?f?printf|f?putc|f?puts|putchar|"
    r"fwrite|fflush|perror|syslog)\b"
)
# Headers that use a stream for something else.
STREAM_USERS = {"include/kprof/report/load.hpp"}  # reads a file
NOTE = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")

# Internal macros that must outlive their header, and why.
SURVIVORS = {
    "KPROF_DETAIL_ABI",
    "KPROF_DETAIL_BEGIN",
    "KPROF_DETAIL_END",
    "KPROF_DETAIL_LOCAL",  # every header opens with them
    "KPROF_DETAIL_SESSION",  # a program may include session.hpp after kprof.hpp
    "KPROF_DETAIL_JOIN",
    "KPROF_DETAIL_JOIN_",  # what the guards expand to
    "KPROF_DETAIL_OP",
    "KPROF_DETAIL_OP_",
    "KPROF_DETAIL_REGION",
    "KPROF_DETAIL_REGION_",
    "KPROF_DETAIL_NEEDS_BRACES",
    "KPROF_DETAIL_NAME_MISTAKES",
    "KPROF_DETAIL_OP_NAME",
    "KPROF_DETAIL_PART",
    "KPROF_DETAIL_PART_NAME",
    "KPROF_DETAIL_REGION_NAME",
    "KPROF_DETAIL_SELDOM",
}


def sources(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if (
                path.is_file()
                and "__pycache__" not in path.parts
                and (path.suffix in SUFFIXES or path.name in ("CMakeLists.txt", "run"))
            ):
                yield path


def check_text(root, path, errors):
    name, lines = path.relative_to(root).as_posix(), path.read_text().split("\n")
    if not any("SPDX-License-Identifier: MIT" in line for line in lines[:3]):
        errors.append(f"{name}: no `SPDX-License-Identifier: MIT` in the first lines")
    for number, line in enumerate(lines, 1):
        if "\t" in line:
            errors.append(f"{name}:{number}: tab")
        if line != line.rstrip():
            errors.append(f"{name}:{number}: space at the end of the line")
        if NOTE.search(line):
            errors.append(f"{name}:{number}: note to oneself; open an issue instead")
    if lines[-1] != "":
        errors.append(f"{name}: the last line does not end")


def check_header(root, path, errors):
    name, lines = path.relative_to(root).as_posix(), path.read_text().split("\n")
    guard = re.sub(r"[^A-Z0-9]", "_", path.relative_to(root / "include").as_posix().upper())
    expected = ["// SPDX-License-Identifier: MIT", f"#ifndef {guard}", f"#define {guard}"]
    if name != VARIABLES and re.search(r"\b(secure_)?getenv\b", "\n".join(lines)):
        errors.append(f"{name}: reads a variable itself; call environment_variable() instead")
    code = [line.split("//")[0] for line in lines]
    if not name.startswith(WRITING) and name not in STREAM_USERS:
        for number, line in enumerate(code, 1):
            if (found := STREAMS.search(line)) and "gnu::format" not in line:
                errors.append(
                    f"{name}:{number}: {found[0]} may harm the program; write through kprof/write"
                )
    if lines[:3] != expected:
        errors.append(f"{name}: must begin with\n  " + "\n  ".join(expected))
    if len([line for line in lines if line == "#endif"]) == 0 or lines[-2:] != ["#endif", ""]:
        errors.append(f"{name}: must end with the #endif of its include guard")


def check_macros(defined, errors):
    """`defined`: what `-dM` prints."""
    names = set(re.findall(r"^#define (KPROF\w*)", defined, re.MULTILINE))
    names = {n for n in names if not n.endswith("_HPP")}
    internal = {n for n in names if n.startswith("KPROF_DETAIL")}
    for name in sorted(internal - SURVIVORS):
        errors.append(
            f"{name} is still defined after all headers; undefine it where it ends, or list it as "
            "a survivor with the reason"
        )
    user = {re.sub(r"^(KPROF_VERSION)_.*", r"\1", n) for n in names - internal}
    print(f"macros for users: {len(user)} of {MAX_USER_MACROS}: {' '.join(sorted(user))}")
    if len(user) > MAX_USER_MACROS:
        errors.append(
            f"{len(user)} macros for users, the limit is {MAX_USER_MACROS}: "
            f"{' '.join(sorted(user))}"
        )


def check(root, compiler, flags):
    errors = []
    for path in sources(root):
        check_text(root, path, errors)
    headers = sorted((root / "include").rglob("*.hpp"))
    for path in headers:
        check_header(root, path, errors)
    if compiler:
        text = "".join(
            f"#include <{h.relative_to(root / 'include').as_posix()}>\n" for h in headers
        )
        run = subprocess.run(
            [compiler, "-std=c++20", "-x", "c++", *flags, "-dM", "-E", "-"],
            input=text,
            text=True,
            check=True,
            capture_output=True,
        )
        check_macros(run.stdout, errors)
    return errors


def self_test():
    good = "// SPDX-License-Identifier: MIT\n#ifndef KPROF_A_HPP\n#define KPROF_A_HPP\n\n#endif\n"
    bad = {
        "no licence": (good.replace("SPDX", "SPD"), "no `SPDX"),
        "another guard": (good.replace("KPROF_A", "KPROF_B"), "must begin with"),
        "no guard": ("// SPDX-License-Identifier: MIT\n", "must begin with"),
        "a tab": (good.replace("\n\n", "\n\t// x\n"), "tab"),
        "a space at the end": (good.replace("\n\n", "\nint a; \n"), "space at the end"),
        "a note": (good.replace("\n\n", "\n// TO" + "DO: later\n"), "note to oneself"),
        "something after the guard": (good + "int a;\n", "must end with the #endif"),
        "a variable": (
            good.replace("\n\n", '\nchar* a = getenv("A");\n'),
            "reads a variable itself",
        ),
        "a message past kprof/write": (
            good.replace("\n\n", '\nint a = std::fprintf(stderr, "a");\n'),
            "fprintf may harm the program",
        ),
        "an open last line": (good[:-1], "does not end"),
    }

    def run(text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "include" / "kprof" / "a.hpp"
            path.parent.mkdir(parents=True)
            path.write_text(text)
            return check(pathlib.Path(folder), None, [])

    failures = [f"the good header is refused: {e}" for e in run(good)]
    for what, (text, expected) in bad.items():
        if not any(expected in e for e in run(text)):
            failures.append(f"not found: {what}")
    for text, expected in (
        ("#define KPROF_DETAIL_LEFT 1\n", "KPROF_DETAIL_LEFT is still defined"),
        ("".join(f"#define KPROF_{c} 1\n" for c in "ABCDEFGHIJ"), "10 macros for users"),
    ):
        errors = []
        check_macros(text, errors)
        if not any(expected in e for e in errors):
            failures.append(f"not found: {expected}")
    return failures


def main():
    if sys.argv[1:2] == ["--self-test"]:
        errors = self_test()
    else:
        errors = check(pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
    for error in errors:
        print(error)
    print("style:", f"{len(errors)} errors" if errors else "in order")
    sys.exit(1 if errors else 0)


main()
