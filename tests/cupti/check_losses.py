#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs program.cpp where CUPTI loses, cuts or alters records on the scripted CUDA: check_losses.py
PROGRAM CUPTI MISSING NOT_CUPTI

The libraries are those of check_programs.py.
"""

import concurrent.futures
import sys

sys.dont_write_bytecode = True
from programs import check, expect, failures, numbers, run

# They mostly wait.
waiting = concurrent.futures.ThreadPoolExecutor()
stops_while_cupti_is_opened = waiting.submit(run, "stops_while_cupti_is_opened", LOAD_MS=3000)
launches_while_cupti_is_opened = waiting.submit(
    run, "launches_while_cupti_is_opened", LOAD_MS=2000, KERNEL_US=1
)

r = run("plain", DROP=4)
check(
    "an operator with a dropped record has no rate, one without has",
    r.returncode == 7
    and numbers(r)["rates"]
    == {"n=1": "known", "n=2": "records of work on the device were dropped"},
    r,
)
r = run("plain", DROP=2)
found = numbers(r)
check(
    "dropped records are counted, and their launches are open",
    r.returncode == 7
    and found["dropped"] == 2
    and found["records"] == 3
    and found["open"] == 2
    and found["attributed"] + found["outside"] == 3,
    r,
)
expect(
    "kernels without times are counted, not averaged",
    run("plain", ZERO_TIMES=1),
    records=5,
    untimed=5,
    attributed=4,
    work=[
        "Op n=1: _Z6kernelPf 3 untimed",
        "Op n=2: _Z6kernelPf 1 untimed",
        ": _Z6kernelPf 1 untimed",
    ],
)
for when, setting in (("before they begin", "REVERSED"), ("after all time", "AHEAD")):
    expect(
        f"kernels that end {when} are counted, not averaged",
        run("plain", **{setting: 1}),
        records=5,
        untimed=5,
        attributed=4,
    )
r = run("plain", ODD=1)
check(
    "records of unknown kinds are counted",
    r.returncode == 7 and numbers(r)["odd"] > 0 and numbers(r)["records"] == 5,
    r,
)
r = run("plain", CUT=4)
found = numbers(r)
check(
    "a buffer that cannot be read to its end is counted, and what it held is in no rate",
    r.returncode == 7
    and found["cut"] > 0
    and found["records"] < 5
    and found["rates"]["n=2"] == "records of work on the device were dropped",
    r,
)
r = run("shares_the_activity_api")
check(
    "a buffer of another user of the activity API is counted, and left alone",
    r.returncode == 7
    and numbers(r)["foreign"] == 1
    and numbers(r)["rates"]["n=1"] == "records of work on the device were dropped",
    r,
)
r = run("cannot_unsubscribe", REFUSE_END=1)
expect("a subscription that does not end is used again", r, launches=3, records=3, unknown=0)
check(
    "a subscription that does not end is used again: with a note",
    "CUPTI did not end kprof's subscription (CUPTI_ERROR_INVALID_OPERATION, 7): other tools"
    in "".join(numbers(r).get("notes", [])),
    r,
)
r = run("works_in_every_way", FAIL="cuptiActivityFlushAll", END_MS=20, KERNEL_US=2000)
check(
    "nobody reads by a subscription while it is being ended",
    r.returncode == 7 and "misuse" not in numbers(r) and r.made_to_fail > 0,
    r,
)
for clock in ("realtime", "monotonic"):
    # Kernels so long that the later ones wait, however slow the launches are.
    r = run("compares_clocks", CLOCK=clock, KERNEL_US=20000)
    expect(f"CUPTI's clock is {clock}", r, launches=3, attributed=3, unknown=0, ignored=0, gaps=3)
    check(f"CUPTI's clock is {clock}: in gaps", "gaps of less than 10 s 1" in r.stdout, r)
r = run("plain", CORRELATION="api")
found = numbers(r)
check(
    "launches whose records have no correlation id are not guessed",
    r.returncode == 7 and found["unknown"] == 5 and found["attributed"] == 0,
    r,
)
r = stops_while_cupti_is_opened.result()
expect("a later recording has all", r, launches=4, attributed=4, unknown=0, ignored=0)
check(
    "who opened CUPTI for a recording that was stopped meanwhile lets it go",
    "the other subscribes 0\n" in r.stdout and numbers(r)["rates"] == {"n=3": "known"},
    r,
)
r = launches_while_cupti_is_opened.result()
# The one that the other thread is in when CUPTI begins to tell of launches is not known.
check(
    "what was launched while CUPTI was opened is known when it runs later",
    r.returncode == 7 and numbers(r)["unknown"] <= 1 and numbers(r)["rates"] == {"n=1": "known"},
    r,
)

print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)
