#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What each way to know who launched a kernel costs a launch: launch_cost.py --build FOLDER --out FOLDER [--launches N] [--repeats N]

The ways are those of launch_cost.cu, run one after another and many times over; the table shows medians, and for each way
how many kernels it gave to the right operator. Writes launch_cost.md and launch_cost.json, and tells PASS, FAIL and FACT lines.
"""

import argparse
import json
import pathlib
import subprocess
import sys

from measuring import machine, median, run

CALLBACK = "a callback of each launch"
API_RECORD = "records of launching calls"
EXTERNAL = "external ids and records of launching calls"
EXTERNAL_ALL = "external ids and records of all the runtime's calls"


def measure(program, launches, repeats):
    variants = run_lines([program, "--variants"])
    results = []
    for threads in (1, 4):
        runs = {name: [] for name in variants}
        for _ in range(repeats):
            for name in variants:   # in turn, so that a drift of clocks meets all alike
                runs[name].append(json.loads(run([program, name, str(launches // threads), str(threads)])))
        plain = median(runs["records of the work"], "launch_ns")
        for name, of in runs.items():
            ns = sorted(r["launch_ns"] for r in of)
            results.append({"variant": name, "threads": threads, "launches": of[0]["launches"] * threads, "launch_ns": median(of, "launch_ns"),
                            "least_ns": ns[0], "most_ns": ns[-1], "more_ns": median(of, "launch_ns") - plain,
                            "records": min(r["records"] for r in of), "attributed": min(r["attributed"] for r in of), "right": min(r["right"] for r in of),
                            "dropped": max(r["dropped"] for r in of), "push_pop_ns": median(of, "push_pop_ns")})
    return results


def run_lines(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.split("\n")[:-1]


def knows_launches(variant):
    return variant in (CALLBACK, EXTERNAL, EXTERNAL_ALL)


def table(results):
    lines = ["| threads | way | ns a launch | from, to | more than records alone | kernels to their operator |", "|---:|---|---:|---:|---:|---:|"]
    for r in results:
        given = f"{r['right']:,} of {r['launches']:,}" if knows_launches(r["variant"]) else "n/a, it has no operators"
        more = "n/a" if r["variant"] == "bare" else f"{r['more_ns']:+.0f}"
        lines.append(f"| {r['threads']} | {r['variant']} | {r['launch_ns']:.0f} | {r['least_ns']:.0f}, {r['most_ns']:.0f} | {more} | {given} |")
    return lines


def choice(results):
    """Which of the ways that give all kernels to their operators costs least, on one thread."""
    one = [r for r in results if r["threads"] == 1 and knows_launches(r["variant"])]
    whole = [r for r in one if r["right"] == r["launches"]]
    if not whole:
        return "no way gives every kernel to its operator"
    best = min(whole, key=lambda r: r["more_ns"])
    rest = ", ".join(f"{r['variant']} {r['more_ns']:+.0f} ns" for r in whole if r is not best)
    lost = [r["variant"] for r in one if r not in whole]
    return f"{best['variant']} {best['more_ns']:+.0f} ns; {rest or 'no other'}" + (f"; not whole: {', '.join(lost)}" if lost else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--launches", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--without-times", action="store_true", help="on the scripted CUDA, where they mean nothing: no table and no facts")
    options = parser.parse_args()
    results = measure(options.build / "launch_cost", options.launches, options.repeats)

    def check(right, what, why):
        print(f"{'PASS' if right else 'FAIL'} launch_cost: {what}{'' if right else ': ' + why}")
        return right

    whole = True
    for r in results:
        # kprof needs the callback's way alone; what the other cannot do is an answer, and in the table.
        if r["variant"] != CALLBACK:
            continue
        whole &= check(r["records"] == r["launches"] and r["dropped"] == 0, f"every kernel has a record, {r['threads']} threads",
                       f"{r['records']} of {r['launches']}, {r['dropped']} dropped")
        whole &= check(r["right"] == r["launches"], f"a callback of the launch gives every kernel to its operator, {r['threads']} threads",
                       f"{r['right']} of {r['launches']}")
    if options.without_times:
        return 0 if whole else 1
    by = {r["variant"]: r for r in results if r["threads"] == 1}
    print(f"FACT cost.launch_callback: {by[CALLBACK]['more_ns']:.0f} ns a launch")
    print(f"FACT cost.api_record: {by[API_RECORD]['more_ns']:.0f} ns a launch")
    print(f"FACT cost.push_pop: {by[EXTERNAL]['push_pop_ns']:.0f} ns")
    print(f"FACT cost.external: {by[EXTERNAL]['more_ns']:.0f} ns a launch, {by[EXTERNAL_ALL]['more_ns']:.0f} ns with records of all the runtime's calls")
    print(f"FACT cost.choice: {choice(results)}")
    options.out.mkdir(parents=True, exist_ok=True)
    lines = ["# What it costs a launch to know its operator", "", *(f"- {line}" for line in machine()), "",
             f"Medians of {options.repeats} runs of {options.launches:,} launches of an empty kernel in two streams a thread, by CUPTI itself, without kprof: the host's time",
             "in the launches. All but the first have records of the work. kprof's way is the callback; an external id needs records of API calls beside it.", "", *table(results), "", f"Least, with every kernel at its operator: {choice(results)}.", ""]
    (options.out / "launch_cost.md").write_text("\n".join(lines))
    (options.out / "launch_cost.json").write_text(json.dumps({"machine": machine(), "ways": results}, indent=1) + "\n")
    print("\n".join(lines))
    return 0 if whole else 1


sys.exit(main())
