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
    "not all records of the work on the device have come: it had not ended, could not be waited "
    "for, or was launched while nothing was recorded"
)
for driver_id in ("", "own"):  # the record has the id of the runtime's call, or of the driver's
    r = run("reports_during_a_launch", **({"DRIVER_ID": driver_id} if driver_id else {}))
    expect("a profile during a launch", r, launches=5, attributed=5, unknown=0, open=0)
    check(
        "a record waits for a launch that has not returned, and is of no unknown one",
        "\nmeanwhile launches 2 attributed 2 unknown 0 records 2\n" in "\n" + r.stdout
        and "\nin both launches 3 attributed 3 unknown 0 records 3\n" in r.stdout,
        r,
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



def rows(name, r, *wanted):
    check(name, r.returncode == 7 and all(f"row {w}\n" in r.stdout for w in wanted), r)


r = run("captures_parts")
rows(
    "a captured call of two parts is one call a replay",
    r,
    "n=1: calls 1 replays 100 runs 400 flop 200 rate known",
)
check("a captured call of two parts is one call a replay: captured", "cudaSuccess" in r.stdout, r)
r = run("captures_under_a_context")
rows(
    "a call whose context captures on other threads is one call a replay",
    r,
    # the call on the host captured on no thread of its own, so that it counts too
    "n=1: calls 1 replays 100 runs 200 flop 202 rate known",
    "n=2: calls 2 replays 200 runs 200 flop 800 rate known",
)
check("and so is the region around it", "layer replays 100\n" in r.stdout, r)
r = run("captures_launches_of_a_graph")
rows(
    "a call that captures the launch of a graph is one call a replay",
    r,
    "n=1: calls 1 replays 800 runs 800 flop 1600 rate known",
    "n=2: calls 1 replays 100 runs 800 flop 400 rate known",
)
no_replay = "captured into a CUDA graph, and no record of a replay names it"
r = run("captures_only_a_launch")
rows(
    "a call whose only captured work is another graph's launch did nothing itself",
    r,
    "n=1: calls 1 replays 100 runs 100 flop 200 rate known",
    f"n=2: calls 1 replays 0 runs 0 flop 0 rate {no_replay}",
    f"n=3: calls 1 replays 0 runs 0 flop 0 rate {no_replay}",
)
check("it captured, and so did the others", r.stdout.endswith("captured 1 idle 0\n" * 3), r)
rows(
    "where CUPTI tells no nodes' ids, nothing says that a graph was not replayed",
    run("captures_only_a_launch", FAIL="cuptiGetGraphNodeId:2"),
    f"n=1: calls 1 replays 0 runs 0 flop 0 rate {no_replay}",
)
r = run("sets_nodes_without_scopes")
expect(
    "a node whose parameters are set outside all scopes stays with its call",
    r,
    work=["Op n=9: _Z6kernelPf 1 timed", "graph/Op n=1: _Z6kernelPf 20 timed"],
)
check("and it is told how often", "executable graphs, 2 times" in r.stdout, r)
rows(
    "a call that sets one node of a captured call takes all of that call",
    run("sets_some_nodes_of_a_call"),
    "n=1: calls 2 replays 40 runs 80 flop 80 rate known",
    "n=2: calls 1 replays 10 runs 20 flop 40 rate known",
    "n=3: calls 1 replays 10 runs 20 flop 60 rate known",
)
r = run("updates_in_a_loop")
check("each update has its own scope's work", "right 1000 of 1000\n" in r.stdout, r)
r = run("starts_in_a_call")
check(
    "a call that began before its recording has no rate",
    "row n=1: calls 1 replays 0 runs 1 flop 2 rate not all records" in r.stdout,
    r,
)
r = run("captures_before_the_first_scope")
expect("a capture that kprof did not see begin is left alone", r, launches=2, attributed=2)
check("a capture that kprof did not see begin succeeds", "captured cudaSuccess" in r.stdout, r)
r = run("stops_in_a_capture", KERNEL_US=2000)
expect("a capture in which recording stopped is over", r, launches=200, attributed=200, open=0)
for version in (24, 130401):
    r = run("updates_between_recordings", VERSION=version)
    check(
        "graphs that may have been updated unseen are told",
        "note work of graphs that were instantiated before an earlier recording stopped (5) "
        "stands under the scopes known then" in r.stdout,
        r,
    )
rows(
    "a call that is open has no rate with those that have ended",
    run("reports_in_a_call"),
    "n=1: calls 1 replays 0 runs 1001 flop 2 rate a call is open, and what it has done on the "
    "device so far is in the time",
)
rows(
    "a call that outlives its recording has no rate, others have theirs",
    run("stops_in_a_call"),
    f"n=1: calls 1 replays 0 runs 1 flop 2 rate {no_records}",
    "n=9: calls 2 replays 0 runs 2 flop 36 rate known",
)

print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)
