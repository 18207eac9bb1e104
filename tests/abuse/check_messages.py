#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Messages and reports to readers that have gone, and messages of hostile text:
check_messages.py WRITER CODE_POINTS
"""

import os
import subprocess
import sys
import tempfile
import unicodedata

sys.dont_write_bytecode = True
from writer import check, end, environment, run

program, code_points = sys.argv[1:]


def unread():
    """The end of a pipe that nobody reads."""
    read, write = os.pipe()
    os.close(read)
    return write


for kprof in ("reprot", "reprot,report", "report", "report(path=/no/such/folder/x)", "save,csv"):
    for name, streams in (
        ("standard error", {"err": unread()}),
        ("standard output", {"out": unread()}),
        ("both", {"out": unread(), "err": unread()}),
    ):
        for how in ("work", "report"):
            r = run(program, how, KPROF=kprof, **streams)
            check(f"KPROF={kprof}, {how}, nobody reads {name}: the program runs on", r.code == 5, r)

for command in ("'%s' report 3000 2>&1 3>/dev/null | head -c 1", "'%s' work 2>&1 >&- | head -c 1"):
    r = subprocess.run(
        ["bash", "-c", f"{command % program} >/dev/null; echo ${{PIPESTATUS[0]}}"],
        env=environment(KPROF="reprot,report"),
        capture_output=True,
        text=True,
        timeout=60,
    )
    check(f"{command}: the program runs on", r.stdout == "5\n", r)

with tempfile.TemporaryFile() as file:
    r = run(program, "report", KPROF="reprot,report", err=file.fileno(), limit=10)
    check("a limit of the file's size does not kill it either", r.code == 5, r)
    file.seek(0)
    check("it has what there was room for", file.read() == b"kprof: KPR", r)

r = run(program, "pending")
check("signals that were pending stay, masks are as before", r.said == "open pending", r)

# A reader that takes nothing, and a pipe that is full already.
read, write = os.pipe()
os.set_blocking(write, False)
try:
    while True:
        os.write(write, b"x" * 4096)
except BlockingIOError:
    os.set_blocking(write, True)
r = run(program, "work", KPROF="reprot,memory=lots", err=write)
check("a standard error that is full holds up nothing for long", r.code == 5 and r.seconds < 10, r)

# Text of others.
hostile = "/no\nsuch/\x1b[31m/\u202efdp/\U0001bca0/\U00013430"
escaped = "/no\\nsuch/\\x1b[31m/\\u202efdp/\\U0001bca0/\\U00013430"
r = run(program, "work", KPROF="cupti=on", KPROF_TRANSCRIPT=hostile)
check(
    "a transcript's path is escaped, and told with a remedy",
    f'kprof: KPROF_TRANSCRIPT: cannot write to "{escaped}": the folder does not exist: create it'
    in r.err
    and r.err.count("\n") == 1,
    r,
)
r = run(program, "work", KPROF=f'report(path="{hostile}")')
check("and a report's path", escaped in r.err and r.err.count("\n") == 1, r)
r = run(program, "work", KPROF=hostile)
check("and a setting", escaped in r.err and r.err.count("\n") == 1, r)

printed = subprocess.run([code_points], capture_output=True, text=True, timeout=200).stdout
check("each character is looked at", len(printed) == 0x110000 and "?" not in printed, printed[:99])
# Those that Unicode calls ignorable by default, of its file DerivedCoreProperties.txt.
IGNORABLE = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5),
    (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
dangerous = {c for first, last in IGNORABLE for c in range(first, last + 1)}
dangerous |= set(range(0x13430, 0x13440))  # format characters since Unicode 15
dangerous |= {
    c for c in range(0x110000) if unicodedata.category(chr(c)) in ("Cc", "Cf", "Zl", "Zp")
}
shown = sorted(c for c in dangerous if printed[c] == ".")
check("no character that a terminal obeys or hides is printed", not shown, [hex(c) for c in shown])
# Letters, digits, marks, signs: what names are made of is not escaped.
BLANK = {0x2800, 0x16FE4, 0x1D159}
kept = ("L", "M", "N", "P", "S")
lost = sorted(
    c
    for c in range(0x80, 0x110000)
    if unicodedata.category(chr(c))[0] in kept
    and unicodedata.combining(chr(c)) == 0
    and c not in dangerous | BLANK
    and printed[c] != "."
)
check("and no other is escaped", not lost, [hex(c) for c in lost])
end()
