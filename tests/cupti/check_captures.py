#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the modes of program.cpp that capture and run graphs on the scripted CUDA: check_captures.py
PROGRAM CUPTI MISSING NOT_CUPTI

The libraries are those of check_programs.py.
"""

import concurrent.futures
import sys

sys.dont_write_bytecode = True
from programs import check, expect, failures, numbers, run

# It mostly waits, and runs beside the others.
waiting = concurrent.futures.ThreadPoolExecutor()
captures_during_a_snapshot = waiting.submit(
    run, "captures_during_a_snapshot", KERNEL_US=100000, WAIT_MS=5000
)

r = run("captures")
expect(
    "a snapshot leaves a capture alone",
    r,
    launches=12,
    attributed=12,
    unknown=0,
    records=22,
    open=0,
)
check("a snapshot leaves a capture alone: it succeeds", "captured cudaSuccess" in r.stdout, r)

r = captures_during_a_snapshot.result()
expect("a snapshot lets a capture begin", r, launches=3, attributed=3, open=0)
check("a snapshot lets a capture begin: which succeeds", "captured cudaSuccess" in r.stdout, r)
expect(
    "a capture whose stream is destroyed is over",
    run("abandons_a_capture"),
    launches=3,
    attributed=3,
    open=0,
)
r = run("captures_streams_of_threads")
expect("threads capture streams of one handle", r, launches=2, attributed=2, open=0)
check(
    "threads capture streams of one handle: all captures succeed",
    "other captured cudaSuccess" in r.stdout and "\ncaptured cudaSuccess" in r.stdout,
    r,
)
r = run("fails_to_end_a_capture")
expect("a capture whose end fails goes on", r, launches=2, attributed=2, open=0)
check(
    "a capture whose end fails goes on: a snapshot lets it alone",
    r.stdout.startswith("ends cudaErrorStreamCaptureUnmatched")
    and "another ends cudaErrorStreamCaptureWrongThread" in r.stdout
    and "begins cudaErrorIllegalState" in r.stdout
    and "\ncaptured cudaSuccess" in r.stdout,
    r,
)
r = run("captures_in_vain", KERNEL_US=20000)
expect("an invalidated capture ends", r, launches=11, attributed=11, open=0)
check(
    "an invalidated capture ends: with an error",
    "captured cudaErrorStreamCaptureInvalidated" in r.stdout,
    r,
)
expect(
    "what a graph of before the recording ran is not of the operator that updates it",
    run("updates_an_old_graph"),
    updated=0,
    launches=9,
    work=[
        "Op n=1: _Z6kernelPf 1 timed",
        "graph/(graph captured before recording): _Z6kernelPf 5 timed",
        "graph/Op n=7: _Z6kernelPf 3 timed",
    ],
)

no_records = (
    "not all records of the work on the device have come: it had not ended, or could not be waited "
    "for"
)
r = run("reports_during_a_capture", KERNEL_US=20000)
check(
    "during a capture, operators whose work has not been seen in full have no rates",
    r.returncode == 7
    and numbers(r)["rates"].get("n=1") == "known"
    and numbers(r)["rates"].get("n=2") == no_records,
    r,
)
check(
    "and have them afterwards",
    "captured cudaSuccess" in r.stdout and "then n=1 1" in r.stdout and "then n=2 1" in r.stdout,
    r,
)

print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)
