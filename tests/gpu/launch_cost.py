#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What each way to know who launched a kernel costs a launch: launch_cost.py --build FOLDER --out
FOLDER [option...]

The ways are those of launch_cost.cu. A round runs each once, one after another; there are as many
as --rounds and --seconds
allow, three at least. Differences are of runs of one round. Writes launch_cost.md and
launch_cost.json, and prints PASS, FAIL
and FACT lines; it ends with 1 where a check failed.
"""

import argparse
import functools
import json
import pathlib
import statistics
import subprocess
import sys
import time

import measuring
from measuring import machine, run

PLAIN = "records of the work"
CALLBACKS = "callbacks of all launches"  # kprof's
API_RECORD = "records of the runtime's launches"
EXTERNAL = "external ids, records of all launches"
SEE_ALL = (CALLBACKS, EXTERNAL)  # the others miss launches by the driver
KNOWING = (
    *SEE_ALL,
    "callbacks of the runtime's launches",
    "external ids, records of the runtime's launches",
    "external ids, records of all the runtime's calls",
)  # that know whose a launch is

CAPTION = """\
{rounds} rounds of {launches:,} launches of an empty kernel, in two streams a thread, by CUPTI
itself, without kprof: ns are the host's in the
launches, medians of all rounds with the smallest and the largest. "more" is against records of the
work alone in the same round. All but the
bare way have these. Callbacks come at the begin and at the end of a call. External ids need records
of API calls beside them: those of the
runtime miss what libraries launch by the driver, as callbacks of the runtime's launches do. kprof's
way is callbacks of all launches."""


def variants(program):
    return subprocess.run(
        [program, "--variants"], capture_output=True, text=True, timeout=60, check=True
    ).stdout.split("\n")[:-1]


def measure(program, options):
    """Rows of all rounds, of which those that are done are written after each."""
    names, runs, began = (
        variants(program),
        {},
        time.monotonic(),
    )  # runs: {(threads, way): [a run a round]}
    for done in range(options.rounds):
        begin = time.monotonic()
        if done >= 3 and begin + (begin - began) / done > began + options.seconds:
            break
        for threads in (1, 4):
            for name in names:
                runs.setdefault((threads, name), []).append(
                    json.loads(run([program, name, str(options.launches // threads), str(threads)]))
                )
        rows = rows_of(runs)
        if not options.without_times:
            write(options.out, rows)
    return rows


def spread(values):
    return f"{statistics.median(values):.0f} ({min(values):.0f}..{max(values):.0f})"


def rows_of(runs):
    rows = []
    for (threads, name), of in runs.items():
        ns = [r["launch_ns"] for r in of]
        more = [a - b["launch_ns"] for a, b in zip(ns, runs[threads, PLAIN])]
        rows.append(
            {
                "way": name,
                "threads": threads,
                "launches": of[0]["launches"] * threads,
                "ns": ns,
                "more": more,
                "records": min(r["records"] for r in of),
                "right": min(r["right"] for r in of),
                "dropped": max(r["dropped"] for r in of),
                "callbacks": of[0]["callbacks"],
                "push_pop_ns": statistics.median(r["push_pop_ns"] for r in of),
            }
        )
    return rows


def table(rows):
    lines = [
        "| threads | way | ns a launch | more | callbacks a launch | kernels at their operator |",
        "|---:|---|---:|---:|---:|---:|",
    ]
    for r in rows:
        given = (
            f"{r['right']:,} of {r['launches']:,}"
            if r["way"] in KNOWING
            else "n/a, it knows no operators"
        )
        more = "" if r["way"] in ("bare", PLAIN) else spread(r["more"])
        lines.append(
            f"| {r['threads']} | {r['way']} | {spread(r['ns'])} | {more} | {r['callbacks']:.0f} | "
            f"{given} |"
        )
    return lines


def choice(rows):
    """Of the ways that see all launches, the least that gives all kernels to their operators, on
    one thread, and whether it is
    told from the other."""
    knowing = [r for r in rows if r["threads"] == 1 and r["way"] in SEE_ALL]
    whole = [r for r in knowing if r["right"] == r["launches"]]
    if not whole:
        return "no way gives every kernel to its operator"
    best = min(whole, key=lambda r: statistics.median(r["more"]))
    rest = []
    for r in whole:
        if r is not best:
            apart = len(best["ns"]) >= 3 and all(
                a > b for a, b in zip(r["ns"], best["ns"])
            )  # in every round
            rest.append(
                f"{r['way']}: {statistics.median(r['more']):+.0f} "
                f"ns{'' if apart else ', not told apart'}"
            )
    rest += [f"{r['way']}: not all kernels" for r in knowing if r not in whole]
    return f"{best['way']}: {statistics.median(best['more']):+.0f} ns; " + "; ".join(rest)


check = functools.partial(measuring.check, "launch_cost")


def checked(rows):
    """kprof needs its own way alone; what the others cannot do is an answer, and in the table."""
    whole = True
    for r in rows:
        if r["way"] == CALLBACKS:
            whole &= check(
                r["records"] == r["launches"] and r["dropped"] == 0,
                f"every kernel has a record, {r['threads']} threads",
                f"{r['records']} of {r['launches']}, {r['dropped']} dropped",
            )
            whole &= check(
                r["right"] == r["launches"],
                f"callbacks give every kernel to its operator, {r['threads']} threads",
                f"{r['right']} of {r['launches']}",
            )
    return whole


def tell_facts(rows):
    by = {r["way"]: r for r in rows if r["threads"] == 1}
    print(
        f"FACT cost.callbacks: {spread(by[CALLBACKS]['more'])} ns a launch, for "
        f"{by[CALLBACKS]['callbacks']:.0f} callbacks and a note of the id"
    )
    print(f"FACT cost.api_record: {spread(by[API_RECORD]['more'])} ns a launch")
    print(f"FACT cost.push_pop: {by[EXTERNAL]['push_pop_ns']:.0f} ns")
    print(f"FACT cost.external: {spread(by[EXTERNAL]['more'])} ns a launch")
    print(f"FACT cost.choice: {choice(rows)}")


def write(out, rows):
    """After each round, as a run may be cut off."""
    about = machine()
    lines = [
        "# What it costs a launch to know its operator",
        "",
        *(f"- {line}" for line in about),
        "",
        CAPTION.format(rounds=len(rows[0]["ns"]), launches=rows[0]["launches"]),
        "",
        *table(rows),
        "",
        f"Least of those that see all launches: {choice(rows)}.",
        "",
    ]
    out.mkdir(parents=True, exist_ok=True)
    measuring.write(out / "launch_cost.md", "\n".join(lines))
    measuring.write(
        out / "launch_cost.json", json.dumps({"machine": about, "ways": rows}, indent=1) + "\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--launches", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=150)
    parser.add_argument(
        "--without-times",
        action="store_true",
        help="on the scripted CUDA, where they mean nothing: no table and no facts",
    )
    options = parser.parse_args()
    rows = measure(options.build.resolve() / "launch_cost", options)
    whole = checked(rows)
    if not options.without_times:
        tell_facts(rows)
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main())
