#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs programs under every KPROF, with closed and full outputs, and reads what they print. Usage:
check_programs.py PLAIN LATE"""
import os
import re
import subprocess
import sys
import tempfile

plain, late = sys.argv[1:3]
failures = []


def run(program, *arguments, kprof=None, **more):
    env = {k: v for k, v in os.environ.items() if k not in ("KPROF", "COLUMNS")}
    if kprof is not None:
        env["KPROF"] = kprof
    return (
        subprocess.run(
            [program, *arguments],
            env=env,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=60,
            **more,
        )
        if "stdout" not in more
        else subprocess.run(
            [program, *arguments], env=env, text=True, stderr=subprocess.PIPE, timeout=60, **more
        )
    )


def check(name, holds, detail=""):
    if not holds:
        failures.append(name)
        print(f"FAILED: {name}\n{detail}")


r = run(plain)
check(
    "without KPROF nothing is printed", r.returncode == 5 and r.stdout == "" and r.stderr == "", r
)

r = run(plain, kprof="report")
check(
    "KPROF=report prints at exit",
    r.returncode == 5 and "Gemm" in r.stdout and "M=8 N=8 K=8" in r.stdout and r.stderr == "",
    r,
)

r = run(plain, "report", kprof="report")
check(
    "a report at exit that says the same again is left out",
    r.returncode == 5 and r.stdout.count("Complete") == 1,
    r,
)

r = run(plain, "report then more", kprof="report")
check(
    "a report at exit that says more is printed",
    r.returncode == 5 and r.stdout.count("Complete") == 2,
    r,
)

r = run(plain, "inside", kprof="report")
check(
    "a report at exit is printed when a scope has ended since",
    r.returncode == 5 and r.stdout.count("Complete") == 2,
    r,
)

r = run(plain, kprof="off,report")
check(
    "KPROF=off says so",
    r.returncode == 5 and "off (KPROF=off)" in r.stdout and "Gemm" not in r.stdout,
    r,
)

r = run(plain, "report", kprof="off")
check("report() of a session that is off says so", "off (KPROF=off)" in r.stdout, r)

r = run(plain, kprof="reprot,nvtx=off,memory=lots")
check(
    "an unknown word lists the valid ones and stops nothing",
    r.returncode == 5
    and "unknown setting 'reprot'" in r.stderr
    and "did you mean report? Valid: on, off, nvtx=on|off, " in r.stderr
    and "memory=lots" in r.stderr,
    r,
)

r = run(plain, "report", kprof="nonsense(")
check(
    "mistakes are repeated in the report",
    "unknown output 'nonsense'" in r.stdout and "Gemm" in r.stdout,
    r,
)

r = run(plain, kprof="report(width=60,ascii,tree)")
check(
    "options reach the report",
    r.stdout.isascii()
    and max(map(len, r.stdout.splitlines())) <= 60
    and "Call tree" in r.stdout,
    r,
)

r = run(plain, kprof="report(sort=colour)")
check(
    "a wrong sort key is explained, and the report comes all the same",
    r.returncode == 5 and "colour" in r.stderr and "self" in r.stderr and "Gemm" in r.stdout,
    r,
)

r = run(plain, kprof='report(filter="(")')
check(
    "a wrong regular expression is explained, and the report comes all the same",
    r.returncode == 5 and "(" in r.stderr and "Gemm" in r.stdout,
    r,
)

r = run(plain, kprof="report,memory=1KiB")
check(
    "too little memory is told at once",
    r.returncode == 5 and "memory=1KiB" in r.stderr and "Gemm" in r.stdout,
    r,
)

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "run-%p.txt")
    # Without kprof's own thread, which may be in the address sanitizer's allocator when the program
    # forks: the child would wait for its lock for ever.
    r = run(plain, "fork", kprof=f"report(path={path}),signals=off")
    files = sorted(os.listdir(folder))
    texts = [open(os.path.join(folder, f)).read() for f in files]
    check(
        "a fork reports twice, each its own",
        len(files) == 2
        and r.returncode == 5
        and r.stdout + r.stderr == ""
        and sum("M=4 N=4 K=4" in t for t in texts) == 1
        and sum("M=8 N=8 K=8" in t for t in texts) == 1
        and all(("M=4" in t) == ("forked from process" in t) for t in texts),
        (files, texts, r),
    )

r = run(plain, kprof="report(path=/nonexistent/folder/file)")
check(
    "a path that cannot be written is explained",
    r.returncode == 5 and "/nonexistent/folder/file" in r.stderr,
    r,
)

r = run(plain, kprof="report(path=/dev/full)")
check("a full disk is explained", r.returncode == 5 and "/dev/full" in r.stderr, r)

with open("/dev/full", "w") as full:
    r = run(plain, "report", stdout=full)
check(
    "a full standard output is explained",
    r.returncode == 5 and "status:" in r.stderr and "kprof: no report:" in r.stderr,
    r,
)

r = run("/bin/sh", "-c", f"exec '{plain}' report >&-")
check("a closed standard output is explained", r.returncode == 5 and "status:" in r.stderr, r)

read_end, write_end = os.pipe()
os.close(read_end)
r = run(plain, "report", stdout=write_end)
os.close(write_end)
check("a broken pipe does not kill the program", r.returncode == 5 and "status:" in r.stderr, r)

r = run(late, kprof="report(tree)")
reports = r.stdout.count("Complete")
check("a thread may outlive main, reports work from atexit", r.returncode == 7 and reports == 2, r)
for scope in ("before main", "main", "at exit", "Step"):
    check(f"late: {scope}", re.search(rf"\b{scope}", r.stdout) is not None, r.stdout)

sys.exit(1 if failures else 0)
