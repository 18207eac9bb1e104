#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes kprof as one header: amalgamate.py --output <file> | --check <file>

Starts at kprof/kprof.hpp and puts each kprof header in the place of its first #include. Headers of
others are included where they were, since some stand behind a condition. A header that kprof.hpp
does not reach is not part of it.

The output depends on the headers alone, so that the copy in the repository can be compared with
them: --check fails where they differ. Each header keeps its include guard, so that a file may
include both the one and the other.
"""

import argparse
import difflib
import pathlib
import re
import sys

FIRST = "kprof/kprof.hpp"
LICENCE = "// SPDX-License-Identifier: MIT"
INCLUDE = re.compile(r"^\s*#\s*include\s*[<\"](kprof/[^>\"]+)[>\"]")
CONDITION = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)")
TOP = f"""{LICENCE}
// kprof as one header: a copy of include/kprof, written by cmake/amalgamate.py. Change the
// originals, not this file.
//
// Needs C++20 and Boost.PFR (Boost 1.75 or newer); NVTX headers are used where they can be found.
// Everything is explained where it is declared, from "{FIRST}" on, which is at the end.
"""


def fail(message):
    sys.exit(f"amalgamate: {message}")


class Amalgam:
    def __init__(self, root):
        self.root = root
        self.lines = []
        self.conditions = []  # those around the current line, outermost first
        self.done = {}  # header: the sets of conditions under which it is already there

    def there(self, name):
        return any(under <= frozenset(self.conditions) for under in self.done.get(name, []))

    def add(self, name):
        path = self.root / name
        if not path.is_file():
            fail(f"{name} is included, but {path} does not exist")
        text = path.read_text().split("\n")
        guard = text[1].removeprefix("#ifndef ")
        if (
            text[0] != LICENCE
            or text[1:3] != [f"#ifndef {guard}", f"#define {guard}"]
            or text[-2:] != ["#endif", ""]
        ):
            fail(f"{path} has not the form of a kprof header: licence, include guard, text, #endif")
        self.done.setdefault(name, []).append(frozenset(self.conditions))
        self.lines += ["", f"// <{name}>", f"#ifndef {guard}", f"#define {guard}"]
        outside = len(self.conditions)
        for number, line in enumerate(text[3:-2], 4):
            included, condition = INCLUDE.match(line), CONDITION.match(line)
            if included:
                if not self.there(included[1]):
                    self.add(included[1])
                continue
            if condition:
                self.follow(condition[1], condition[2].strip(), f"{path}:{number}")
            self.lines.append(line)
        if len(self.conditions) != outside:
            fail(f"{path}: a condition is not closed")
        self.lines += [f"#endif  // <{name}>", ""]

    def follow(self, word, text, where):
        if word in ("if", "ifdef", "ifndef"):
            self.conditions.append(f"{word} {text}")
        elif not self.conditions:
            fail(f"{where}: #{word} without #if")
        elif word == "endif":
            self.conditions.pop()
        else:  # another branch: whatever was included in the one before is not there
            self.conditions[-1] = f"not {self.conditions[-1]}; {word} {text}"

    def text(self):
        out = TOP
        blank = False
        for line in self.lines:
            if line or not blank:
                out += line + "\n"
            blank = not line
        return out.rstrip("\n") + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("--check", type=pathlib.Path)
    parser.add_argument(
        "--include",
        type=pathlib.Path,
        default=pathlib.Path(__file__).resolve().parents[1] / "include",
    )
    arguments = parser.parse_args()
    if not arguments.output and not arguments.check:
        parser.error("give --output or --check")
    amalgam = Amalgam(arguments.include)
    amalgam.add(FIRST)
    text = amalgam.text()
    if arguments.output:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(text)
    if arguments.check:
        if not arguments.check.is_file():
            fail(f"{arguments.check} does not exist; build the target single_header to write it")
        found = arguments.check.read_text()
        if found != text:
            differences = list(
                difflib.unified_diff(
                    found.split("\n"),
                    text.split("\n"),
                    "there",
                    "from the headers",
                    lineterm="",
                    n=1,
                )
            )
            print("\n".join(differences[:40]))
            fail(
                f"{arguments.check} is not what the headers give; build the target single_header "
                "to write it anew"
            )
        print(f"{arguments.check} is up to date")


main()
