# SPDX-License-Identifier: MIT
"""Runs modes of program.cpp on the scripted CUDA and reads what they print, for
the check_*.py beside it."""

import os
import re
import subprocess
import sys

program, cupti, missing, not_cupti = sys.argv[1:5]
failures = []
TIMEOUT = 120  # seconds


def run(mode, kprof=None, library=cupti, **switches):
    env = {
        k: v for k, v in os.environ.items() if not k.startswith(("KPROF", "SCRIPTED_", "COLUMNS"))
    }
    if library:
        env["KPROF_CUPTI"] = library
    if kprof:
        env["KPROF"] = kprof
    env.update({"SCRIPTED_" + k: str(v) for k, v in switches.items()})
    command = [program, mode]
    try:
        r = subprocess.run(command, env=env, text=True, capture_output=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired as hang:
        said = ((out or b"").decode(errors="replace") for out in (hang.stdout, hang.stderr))
        r = subprocess.CompletedProcess(command, f"a hang after {TIMEOUT} s", *said)
    # What SCRIPTED_FAIL did: how many of how many calls failed.
    told = re.search(r"^scripted cuda: made \S+ fail: (\d+) of (\d+)\n", r.stderr, re.M)
    r.made_to_fail, r.calls = map(int, told.groups()) if told else (0, 0)
    r.stderr = r.stderr.replace(told[0], "") if told else r.stderr
    return r


def run_in_time(mode):
    """As run(); once more, and a third time, where the report says that CUPTI was open late."""
    for _ in range(3):
        r = run(mode)
        if not any("CUPTI was open only" in note for note in numbers(r).get("notes", [])):
            break
    return r


def numbers(r):
    out = {}
    for line in r.stdout.splitlines():
        key, _, value = line.partition(" ")
        if value.isdigit():
            out[key] = int(value)
        elif key == "work":
            out.setdefault("work", []).append(value)
        elif key == "rate":
            parameters, _, known = value.partition(" ")
            out.setdefault("rates", {})[parameters] = known
        elif key == "note":
            out.setdefault("notes", []).append(value)
        elif key in ("state", "misuse"):
            out[key] = value
    if "work" in out:
        out["work"].sort()
    return out


def check(name, holds, r):
    if not holds:
        failures.append(name)
        print(f"FAILED: {name}\n{r.args} ended with {r.returncode}\n{r.stdout}{r.stderr}")


def expect(name, r, **wanted):
    found = numbers(r)
    if "work" in wanted:
        wanted["work"] = sorted(wanted["work"])
    check(
        name,
        r.returncode == 7
        and "misuse" not in found
        and r.stderr == ""
        and all(found.get(k) == v for k, v in wanted.items()),
        r,
    )
