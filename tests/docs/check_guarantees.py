#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether every promise of docs/guarantees.md names a test that there is.

    check_guarantees.py ROOT BUILD CTEST
    check_guarantees.py --self-test
"""

import fnmatch
import pathlib
import re
import subprocess
import sys


def mistakes(page, tests):
    """What is wrong with the tables of the page, a line each. `tests`: names of all tests."""
    found = []
    promises = 0
    before = ""
    for line in page.splitlines():
        before, above = line, before
        if line.startswith("|") and not above.startswith("|") and line != "| kprof | test |":
            found.append(f"not part of a table: {line}")
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 2 or cells[1] in ("test", "---"):
            continue
        promises += 1
        names = re.findall(r"`([^`]+)`", cells[1])
        if not names:
            found.append(f"no test shows it: {cells[0]}")
        for name in names:
            if not fnmatch.filter(tests, name):
                found.append(f"there is no test {name}: {cells[0]}")
    if promises == 0:
        found.append("the page promises nothing")
    return found


def tests_of(root, build, ctest):
    command = [ctest, "--test-dir", build, "--show-only"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^ *Test +#\d+: (\S+)", listed, re.MULTILINE)
    # These are tests in other configurations.
    names += [f"fuzz.{path.stem}" for path in (root / "tests/fuzz").glob("*.cpp")]
    names += [f"unit.{path.name[:-9]}" for path in (root / "tests/unit").glob("*.test.cpp")]
    return [*names, "saved.fuzz"]


def self_test():
    page = "| kprof | test |\n|---|---|\n| keeps still | `unit.a`, `cupti.*` |\n"
    tests = ["unit.a", "cupti.abi"]
    wrong = [
        (page, ["unit.a"], "there is no test cupti.*"),
        (page, ["cupti.abi"], "there is no test unit.a"),
        (page.replace("`", ""), tests, "no test shows it"),
        ("# Nothing\n", tests, "promises nothing"),
        (page.replace("---|\n", "---|\n\n"), tests, "not part of a table"),
    ]
    failures = mistakes(page, tests)
    for text, names, expected in wrong:
        if not any(expected in m for m in mistakes(text, names)):
            failures.append(f"not found: {expected}")
    return failures


def main():
    if sys.argv[1:] == ["--self-test"]:
        errors = self_test()
    elif len(sys.argv) == 4:
        root = pathlib.Path(sys.argv[1])
        page = (root / "docs/guarantees.md").read_text()
        errors = mistakes(page, tests_of(root, sys.argv[2], sys.argv[3]))
    else:
        sys.exit(__doc__)
    for error in errors:
        print(error)
    print("guarantees:", f"{len(errors)} errors" if errors else "in order")
    sys.exit(1 if errors else 0)


main()
