#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles the documentation's C++ for check_snippets.py."""

import shutil
import subprocess

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
# Takes a third of the time, and nothing compiles that would not without it.
ELSEWHERE = "-DKPROF_SESSION_ELSEWHERE=1"


class Compiler:
    """Compiles text behind the preamble, which is compiled once for each set of flags."""

    def __init__(self, command, flags, folder, preamble):
        self.command, self.flags, self.folder = command, ["-std=c++20", *flags, *WARNINGS], folder
        self.is_clang = (
            "clang"
            in subprocess.run(
                [command, "--version"], text=True, capture_output=True, check=True
            ).stdout
        )
        self.preamble = folder / "preamble.hpp"
        self.preamble.write_text("".join(f"#include <{name}>\n" for name in preamble))
        self.precompiled = {}

    def behind_preamble(self, more):
        if more not in self.precompiled:
            out = self.folder / f"preamble{len(self.precompiled)}.hpp"
            shutil.copy(self.preamble, out)
            compiled = out.with_suffix(".hpp.pch" if self.is_clang else ".hpp.gch")
            elsewhere = [ELSEWHERE]
            subprocess.run(
                [
                    self.command,
                    *self.flags,
                    *elsewhere,
                    *more,
                    "-x",
                    "c++-header",
                    str(out),
                    "-o",
                    str(compiled),
                ],
                check=True,
            )
            self.precompiled[more] = elsewhere + (
                ["-include-pch", str(compiled)] if self.is_clang else ["-include", str(out)]
            )
        return self.precompiled[more]

    def prepare(self, variants):
        for more in variants:
            self.behind_preamble(more)

    def check(self, text, alone, more=()):
        front = [] if alone else self.behind_preamble(more)
        if (
            alone
            and not more
            and "<kprof/" in text
            and self.check(text, True, (ELSEWHERE,))[0]
        ):
            return True, ""
        done = subprocess.run(
            [self.command, *self.flags, *more, *front, "-fsyntax-only", "-x", "c++", "-"],
            input=text,
            text=True,
            capture_output=True,
        )
        return done.returncode == 0, done.stderr
