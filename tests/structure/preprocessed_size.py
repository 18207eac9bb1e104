#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what including a header, or several, costs.

    preprocessed_size.py <header[,header...]> <limit> <compiler> [flags...]

Counts the lines that `-E -P` leaves: without line markers and blank lines, as the numbers in the
documentation are. Also names the heavy standard headers that the compiler opened, of which there
must be none.
"""

import re
import subprocess
import sys

# <atomic> alone is 24,209 lines, <string> 19,177, <tuple> and <array> most of 10,000.
HEAVY = re.compile(
    r"/(algorithm|any|array|atomic|chrono|functional|iostream|istream|iterator|map|memory|mutex|"
    r"optional|ostream|ranges|sstream|stdexcept|string|string_view|system_error|thread|tuple|"
    r"unordered_map|variant|vector)$"
)


def main():
    header, limit, compiler, flags = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    command = [compiler, "-std=c++20", "-x", "c++", *flags, "-"]
    source = "".join(f"#include <{h}>\n" for h in header.split(","))
    text = subprocess.run(
        [*command, "-E", "-P"], input=source, text=True, check=True, capture_output=True
    ).stdout
    opened = (
        subprocess.run([*command, "-M"], input=source, text=True, check=True, capture_output=True)
        .stdout.replace("\\\n", " ")
        .split()
    )
    lines = text.count("\n")
    heavy = sorted(name for name in opened if HEAVY.search(name))
    print(f"{header}: {lines} preprocessed lines, limit {limit}")
    for name in heavy:
        print(f"{header} opens the heavy header {name}")
    sys.exit(1 if lines > limit or heavy else 0)


main()
