#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes one table of what run.sh measured, prints it, and writes it with the machine's description.

usage: results.py FOLDER_WITH_MEASUREMENTS FOLDER_FOR_RESULTS

Exits with 1 when a budget is missed.
"""

import json
import pathlib
import re
import statistics
import sys

sys.dont_write_bytecode = True
from ceilings import add_ceilings
from guards import add_guards, load_guard_cost
from machine import machine
from table import Table

# Budgets are those of the architecture. The front end's is in relation to Boost.PFR's core, which
# took 50 ms where it was set.
# Rates are those of a machine whose floor of a scope is guards.FLOOR_NS, and scaled by the floor of
# this.
RECORDS_PER_S = 14e6
SCOPES_PER_S = 40e6  # of few rows; a table of 100,000 of them takes longer than its scopes
MANY_ROWS_PER_S = 5e6
LINES, FRONT_END, CODE_BYTES, LINEAR = (10_000, 60 / 50, 160, 1.3)
# Files to objects, at -O2 and at -O0, in front ends of boost/pfr/core.hpp: where that takes 50 ms,
# all of kprof in one file may take 8 s and 4 s, and half a second where the session is linked.
OBJECT = {
    "nothing but kprof.hpp": (160, 80),
    "nothing but kprof.hpp, with kprof::session linked": (10, 10),
}

def load_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def add_scale(table, lines, scale):
    table.section("Snapshot and report, with all folding")
    cases = {}
    for line in lines:
        cases.setdefault((line["scopes"], line["rows"], line["memory_mib"]), []).append(line)
    seconds = {}
    for (scopes, rows, memory), all_runs in cases.items():
        # With little memory most was folded while recording; folding_s has that too.
        took = statistics.median(
            max(r["folding_s"], r["snapshot_s"]) + r["report_s"] for r in all_runs
        )
        seconds[scopes, rows, memory] = took / scopes
        peak = max(r["peak_mib"] for r in all_runs)
        least = scale * (SCOPES_PER_S if rows <= 1000 else MANY_ROWS_PER_S)
        table.add(
            f"{scopes:,} scopes, {rows:,} rows; peak {peak:,.0f} of {memory:,} MiB",
            f"{scopes / took / 1e6:.1f} M/s",
            "",
            "",
            f"≥ {least / 1e6:.0f} M/s",
            scopes / took >= least,
        )
    if (10**6, 16, 2048) in seconds and (10**7, 16, 2048) in seconds:
        ratio = seconds[10**7, 16, 2048] / seconds[10**6, 16, 2048]
        table.add(
            "time a scope, at 10,000,000 by that at 1,000,000",
            f"{ratio:.2f} ×",
            "",
            "",
            f"≤ {LINEAR} ×",
            ratio <= LINEAR,
        )


def add_device(table, lines, scale):
    table.section("Records of devices read and attributed, with the folding of their launches")
    cases = {}
    for line in lines:
        cases.setdefault(line["records"], []).append(line)
    each = {}
    for records, all_runs in cases.items():
        rate = statistics.median(r["records_per_s"] for r in all_runs)
        each[records] = 1 / rate
        least = scale * RECORDS_PER_S
        table.add(
            f"{records:,} records; peak {max(r['peak_mib'] for r in all_runs):,.0f} MiB",
            f"{rate / 1e6:.1f} M/s",
            "",
            "",
            f"≥ {least / 1e6:.1f} M/s" if records > 10**6 else "",
            rate >= least if records > 10**6 else None,
        )
    if len(each) == 3:
        _, middle, most = sorted(each)
        ratio = each[most] / each[middle]
        table.add(
            f"time a record, at {most:,} by that at {middle:,}",
            f"{ratio:.2f} ×",
            "",
            "",
            f"≤ {LINEAR} ×",
            ratio <= LINEAR,
        )


def add_soak(table, lines):
    table.section("Soak, two threads; counts exact, memory bounded")
    for s in lines:
        merged = (
            f", {s['merged_calls'] / s['scopes']:.0%} of calls merged" if s["merged_calls"] else ""
        )
        table.add(
            f"{s['scopes']:,} scopes, memory={s['memory_mib']}MiB{merged}, in {s['seconds']:.0f} s",
            "",
            f"{s['ns_a_scope_and_thread']:.0f} ns",
        )
        table.add(
            f"  own account {s['account_mib']:.1f} MiB, resident {s['peak_mib']:.1f}, grown "
            f"{s['grown_mib']:.1f}",
            "",
            "",
            "",
            f"≤ {s['memory_mib']} MiB",
            s["ok"],
        )


def add_includes(table, by_compiler):
    for compiler, data in by_compiler.items():
        table.section(f"Headers, {compiler}: front end, preprocessed lines")
        headers = data["headers"]
        pfr = headers["boost/pfr/core.hpp"]
        for name, cost in headers.items():
            if cost is None:
                table.add(name, "not installed")
                continue
            relative = cost["front_end_ms"] / pfr["front_end_ms"]
            has_budget = name == "op.hpp + guard.hpp"
            ok = cost["lines"] <= LINES and relative <= FRONT_END if has_budget else None
            table.add(
                name,
                f"{cost['front_end_ms']:,.0f} ms",
                f"{cost['lines']:,}",
                f"{relative:.2f} PFR",
                f"≤ {FRONT_END:.1f} PFR, {LINES:,}" if has_budget else "",
                ok,
            )
        table.section(f"A file to its object, {compiler}: CPU time at -O2, at -O0")
        for name, seconds in data["object_s"].items():
            budget = OBJECT.get(name)
            times = [seconds[level] for level in ("-O2", "-O0")]
            ratios = [t and t / pfr["front_end_ms"] * 1000 for t in times]
            table.add(
                name,
                *("n/a" if t is None else f"{t:.2f} s" for t in times),
                "" if None in ratios else f"{ratios[0]:.0f}, {ratios[1]:.0f} PFR",
                f"≤ {budget[0]}, {budget[1]} PFR" if budget else "",
                all(r <= b for r, b in zip(ratios, budget)) if budget and all(ratios) else None,
            )
        table.section(f"Code a scope adds at its call site, {compiler} -O2")
        for name, size in data["code_bytes"].items():
            has_budget = name.startswith("kprof operator")
            table.add(
                name,
                "not installed" if size is None else f"{size} B",
                "",
                "",
                f"≤ {CODE_BYTES} B" if has_budget else "",
                size <= CODE_BYTES if has_budget else None,
            )


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    raw, results = map(pathlib.Path, sys.argv[1:])
    runs, context = load_guard_cost(raw)
    scale, device, soak, ceilings = (
        load_lines(raw / f"{name}.json") for name in ("scale", "device", "soak", "ceilings")
    )
    includes = {
        p.stem.removeprefix("include_cost_"): json.loads(p.read_text())
        for p in sorted(raw.glob("include_cost_*.json"), reverse=True)
    }

    table = Table()
    speed = add_guards(table, runs, context)
    add_scale(table, scale, speed)
    add_device(table, device, speed)
    add_ceilings(table, ceilings)
    add_soak(table, soak)
    add_includes(table, includes)
    print(f"\n{table}\n")
    about = machine(context)
    slug = re.sub(
        r"[^a-z0-9.]+", "-", re.sub(r"\(r\)|\(tm\)|processor|cpu|@", "", about["processor"].lower())
    ).strip("-")
    results.mkdir(parents=True, exist_ok=True)
    path = results / f"{about['date']}-{slug}"
    lines = [
        f"# Benchmarks, {about['date']}, {about['processor']}",
        "",
        "Written by `bench/run.sh`. Nanoseconds belong to this machine and its load; ratios "
        "travel: each burst of a row",
        "stands beside one of the floor and one of the bare loop. Shown are medians of those "
        "ratios; ns are ratios times the floor's median.",
        "",
    ]
    lines += [f"- {key}: {value}" for key, value in about.items()]
    lines += ["", "```text", str(table), "```", ""]
    path.with_name(path.name + ".md").write_text("\n".join(lines))
    guards = {
        run: {f"{row}/{threads}": values for (row, threads), values in rows.items()}
        for run, rows in runs.items()
    }
    figures = {
        "machine": about,
        "guards": guards,
        "scale": scale,
        "device": device,
        "soak": soak,
        "ceilings": ceilings,
        "includes": includes,
    }
    path.with_name(path.name + ".json").write_text(json.dumps(figures, indent=1) + "\n")
    print(f"written: {path}.md and .json")
    missed = table.failures()
    for what in missed:
        print(f"budget missed: {what.strip()}")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
