#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that each message of the headers is expected by a test.

    coverage.py <include folder> <folder of the tests>

A message is the text of a static_assert or #error that begins with "kprof:". One test must expect
it in full, so that no word of it changes unseen; and no test may expect a message that the headers
do not have.
"""

import pathlib
import re
import sys

# Cannot be provoked without a broken compiler.
UNREACHABLE = {"kprof: the type of a known field is mistaken with this compiler"}

ASSERTION = re.compile(r'static_assert\([^;"]*("kprof: (?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*)')
ERROR = re.compile(r'^\s*#\s*error\s+"(kprof: .*)"\s*$', re.MULTILINE)
EXPECTED = re.compile(r"^// expect: (kprof: .*)$", re.MULTILINE)


def messages_of(text):
    found = set(ERROR.findall(text))
    for literals in ASSERTION.findall(text):
        found.add("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace('\\"', '"'))
    return found


def main():
    include, tests = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    messages, expected = set(), set()
    for path in include.rglob("*.hpp"):
        messages |= messages_of(path.read_text())
    for path in tests.glob("*.cpp"):
        expected |= set(EXPECTED.findall(re.sub(r"\n//   +", " ", path.read_text())))
    errors = [f"no test expects in full: {m}" for m in sorted(messages - expected - UNREACHABLE)]
    errors += [
        f"no header says: {e}"
        for e in sorted(expected)
        if not any(m.startswith(e) for m in messages)
    ]
    if len(messages) < 25:
        errors.append(f"only {len(messages)} messages were found in {include}")
    for error in errors:
        print(error)
    print(f"{len(messages)} messages, {len(errors)} errors")
    sys.exit(1 if errors else 0)


main()
