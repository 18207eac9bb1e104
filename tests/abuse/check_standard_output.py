#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reports to standard outputs that are full, slow, wide, interrupted, locked or closed:
check_standard_output.py WRITER
"""

import os
import sys

sys.dont_write_bytecode = True
from writer import check, end, never, run, slowly

program = sys.argv[1]
OWN = "the program's own text\n"
ROWS = "3000"  # whose report is larger than a pipe


def is_whole(text):
    """Whether a report has its first line and its last."""
    return text.startswith("kprof ") and "Complete" in text and text.endswith("\n")


full = os.open("/dev/full", os.O_WRONLY)
r = run(program, "full_then_room", out=full, room="out")
check(
    "a report to a full disk leaves the program's text in its stream, without an error",
    r.code == 5 and r.said == "not reported no error flushed" and r.out == OWN,
    r,
)
r = run(program, "full", out=full)
check("the program's own flush says that the disk is full", r.said == "not flushed", r)
check(
    "and kprof's message too",
    "kprof: no report: cannot write to standard output: no space left: free some" in r.err,
    r,
)
r = run(program, "own_error")
check("an error that the program made stays", r.said == "error" and is_whole(r.out), r)

r = run(program, "wide")
before, _, rest = r.out.partition("before \u00e4\n")
check(
    "a stream of wide characters gets the report between its texts",
    r.said == "reported wide" and before == "" and is_whole(rest.removesuffix("after \u00e4\n")),
    r,
)
r = run(program, "undecided")
check("a report does not decide the width of the program's stream", r.said == "undecided", r)

r = run(program, "interrupted", ROWS, read=slowly)
filler, _, rest = r.out.partition("\n")
check(
    "signals cut neither the program's text nor the report",
    r.said == "reported interrupted"
    and filler == "x" * 60_000
    and rest.startswith(OWN)
    and is_whole(rest[len(OWN) :]),
    r,
)
uninterrupted = run(program, "report", ROWS)
check(
    "which is as long as without, but for a few lines that depend on the time that was lost",
    abs(uninterrupted.out.count("\n") - r.out.count("\n")) < 20
    and r.out.count("\n") > 2 * int(ROWS),
    (uninterrupted, r),
)

r = run(program, "non_blocking", ROWS, read=slowly)
check(
    "non-blocking mode does not cut a report whose reader is slow",
    r.said == "reported" and is_whole(r.out),
    r,
)
r = run(program, "non_blocking", ROWS, read=never)
check(
    "in non-blocking mode a reader that takes nothing is given up",
    r.said.startswith("not reported: cannot write to standard output: its reader took nothing for ")
    and 4 < r.seconds < 50,
    r,
)

r = run(program, "locked", KPROF="report")
check(
    "a thread that keeps stdout's lock does not keep the program from its end",
    r.code == 5 and r.seconds < 50 and OWN in r.out and is_whole(r.out.replace(OWN, "")),
    r,
)
r = run(program, "cancelled")
check(
    "a cancelled thread does not end in the middle of a report",
    r.code == 5 and r.said == "reported, then cancelled" and is_whole(r.out),
    r,
)
r = run(program, "report", closed=(1,))
check("a closed standard output is told", r.code == 5 and "it is closed" in r.err, r)
r = run(program, "report", closed=(1, 2))
check("or not, where nobody could hear it", r.code == 5, r)
end()
