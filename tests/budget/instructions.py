#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the instructions a scope takes, by running a program under Valgrind's callgrind.

    instructions.py <program> <baseline case> <case>[-<baseline case>]=<budget>...
                    [-- VARIABLE=value...]

The program is called as `<program> <case> <iterations>`. The instructions of one iteration are the
difference of two runs of different length, so that what the program does before and after its loop
does not count. The instructions of a scope are an iteration of the case less one of the baseline:
the case's own, where it names one.

    loop:<case>   counts only what the case's own function takes and what that calls, without
                  recorder::more_room: what a scope records, without the folding of full chunks
    fold:<case>   counts only the folding, with no baseline

The counts are the same in every run. A budget of "none" only shows the number. Exits with 77, which
CTest takes for a skip, where there is no Valgrind.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

SHORT, LONG = 1000, 21000


def count(program, case, iterations, environment):
    part, _, case = case.rpartition(":")
    with tempfile.TemporaryDirectory() as folder:
        # Entering one of these functions turns the counting on or off, leaving it turns it back.
        toggles = {
            "": [],
            "loop": [f"{case}(*", "*::recorder::more_room(*"],
            "fold": ["*::thread_log::fold_records(*"],
        }[part]
        run = subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                *(f"--toggle-collect={name}" for name in toggles),
                f"--callgrind-out-file={folder}/out",
                program,
                case,
                str(iterations),
            ],
            text=True,
            capture_output=True,
            env=environment,
        )
    found = re.search(r"Collected\s*:\s*(\d+)", run.stderr)
    if run.returncode != 0 or not found:
        sys.exit(f"instructions: {program} {case} {iterations} failed:\n{run.stdout}{run.stderr}")
    return int(found[1])


def main():
    arguments = sys.argv[1:]
    variables = []
    if "--" in arguments:
        variables = arguments[arguments.index("--") + 1 :]
        arguments = arguments[: arguments.index("--")]
    program, baseline, cases = arguments[0], arguments[1], [a.split("=") for a in arguments[2:]]
    if not shutil.which("valgrind"):
        print("skipped: valgrind is not installed")
        sys.exit(77)
    environment = {**os.environ, **dict(v.split("=", 1) for v in variables)}

    def iteration(case):
        return (
            count(program, case, LONG, environment) - count(program, case, SHORT, environment)
        ) / (LONG - SHORT)

    baselines = {}

    def of_baseline(case):
        if case not in baselines:
            baselines[case] = iteration(case)
            print(f"{case:14} {baselines[case]:8.2f} instructions an iteration")
            if baselines[case] < 2:
                sys.exit("instructions: the baseline's loop is not there; nothing was measured")
        return baselines[case]

    failed = False
    for case, budget in cases:
        case, _, own_baseline = case.partition("-")
        base = 0 if case.startswith("fold:") else of_baseline(own_baseline or baseline)
        scope = iteration(case) - base
        verdict = "no limit" if budget == "none" else f"budget {budget}"
        print(f"{case:14} {scope:8.2f} instructions a scope, {verdict}")
        failed = failed or (budget != "none" and round(scope, 2) > float(budget)) or scope <= 0
    sys.exit(1 if failed else 0)


main()
