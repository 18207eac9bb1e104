#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a process says that has guards, no session and KPROF: check_no_session.py PROGRAM LIBRARY
SESSION

PROGRAM and LIBRARY are of no_session.cpp. SESSION is a program with a session.
"""

import os
import subprocess
import sys
import tempfile

program, library, session = sys.argv[1:4]
LINE = (
    "kprof: KPROF is set, but the program has guards and no session, so nothing was recorded; link "
    "kprof::session, or include <kprof/kprof.hpp> in one of its files, or start it with kprof run\n"
)
# what KPROF is, and whether it asks a session for anything
VALUES = (
    ("report", True),
    ("on", True),
    ("off, on", True),
    ('report(filter="),off,"),memory=1MiB', True),
    (r'report(filter="\"),off,\"")', True),
    (None, False),
    ("", False),
    (" , ", False),
    ("off", False),
    (" report , off ", False),
    ("report=off", False),
    ("report(top=3),off,nvtx=off", False),
)
failures = []


def run(*command, kprof="report", **more):
    environment = {k: v for k, v in os.environ.items() if k != "KPROF"}
    if kprof is not None:
        environment["KPROF"] = kprof
    return subprocess.run(
        command, env=environment, text=True, capture_output=True, timeout=60, **more
    )


def check(name, holds, result):
    if not holds:
        failures.append(name)
        print(f"FAILED: {name}\n{result}")


def says(result, text, status=0):
    return (result.returncode, result.stdout, result.stderr) == (status, "", text)


for value, asks in VALUES:
    r = run(program, kprof=value)
    check(f"KPROF={value}", says(r, LINE if asks else ""), r)

r = run(program, f"load={library}")
check("a program and its library say it once", says(r, LINE), r)
r = run(program, *[f"reload={library}"] * 3)
check("libraries that leave before the program do not say it", says(r, LINE), r)
r = run(program, "fork")
check("the child of a fork does not say it", says(r, LINE), r)
r = run(sys.executable, "-c", f"import ctypes; ctypes.CDLL({library!r}).run_axpy()")
check("a library in a program without guards says it", says(r, LINE), r)
r = run(session)
check("a session prints its report and no such line", r.stdout != "" and r.stderr == "", r)

with tempfile.TemporaryDirectory() as folder:
    r = run(program, f"file={folder}/data")
    with open(f"{folder}/data") as data:
        check("a file at descriptor 2 gets nothing", says(r, "") and data.read() == "", r)
r = run("/bin/sh", "-c", 'exec "$0" 2>&-', program)
check("a closed standard error harms nothing", says(r, ""), r)
r = run(program, "without_reader")
check("a standard error without a reader does not end the program", says(r, ""), r)

print(f"{len(failures)} failed")
sys.exit(1 if failures else 0)
