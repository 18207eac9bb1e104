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
from machine import machine
from table import Table

# Budgets are those of the architecture. The front end's is in relation to Boost.PFR's core, which
# took 50 ms where it was set.
# Rates are those of a machine whose floor of a scope is FLOOR_NS, and scaled by the floor of this.
FLOOR_NS = 17
RECORDS_PER_S = 14e6
SCOPES_PER_S = 40e6  # of few rows; a table of 100,000 of them takes longer than its scopes
MANY_ROWS_PER_S = 5e6
WITHOUT_A_PAUSE = 1.5  # times the floor, folding included
RECORDING, TWO_THREADS, IDLE_NS, LINES, FRONT_END, CODE_BYTES, LINEAR = (
    1.1,
    1.1,
    0.5,
    10_000,
    60 / 50,
    160,
    1.3,
)
# Files to objects, at -O2 and at -O0, in front ends of boost/pfr/core.hpp: where that takes 50 ms,
# all of kprof in one file may take 8 s and 4 s, and half a second where the session is linked.
OBJECT = {
    "nothing but kprof.hpp": (160, 80),
    "nothing but kprof.hpp, with kprof::session linked": (10, 10),
}

# run, row, what it is
GUARD_ROWS = [
    ("guard_cost", "two_counter_reads", "two reads of the processor's counter"),
    ("guard_cost", "floor", "floor: two counter reads, 96 bytes into a thread's buffer"),
    ("guard_cost", "floor_in_memory", "the same through 46 MiB"),
    ("guard_cost", "off", "kprof compiled out (KPROF_ENABLE=0)"),
    ("guard_cost", "idle", "kprof idle: compiled in, no session"),
    ("guard_cost", "idle_region", "kprof idle, region"),
    ("guard_cost", "recording", "kprof recording, 8 int64 fields"),
    ("guard_cost", "recording_from_struct", "kprof recording, the same from a struct at hand"),
    ("guard_cost", "recording_without_fields", "kprof recording, no fields"),
    ("guard_cost", "recording_region", "kprof recording, region with a literal name"),
    ("guard_cost", "recording_saturated", "kprof recording without a pause, folding included"),
    ("guard_cost_nvtx", "recording", "kprof recording, NVTX tool attached"),
    ("guard_cost_nvtx", "recording_region", "kprof recording, NVTX tool attached, region"),
    ("guard_cost", "nvtx", "NVTX push and pop, no tool"),
    ("guard_cost", "nvtx_payload", "NVTX with a payload of 8 fields, no tool"),
    ("guard_cost_nvtx", "nvtx", "NVTX push and pop, tool attached (it does nothing)"),
    ("guard_cost_nvtx", "nvtx_payload", "NVTX with a payload of 8 fields, tool attached"),
    ("guard_cost", "steady_clock", "two std::chrono::steady_clock::now()"),
    ("guard_cost", "lttng", "LTTng-UST tracepoint pair, 8 fields"),
    ("guard_cost", "torch_idle", "PyTorch RecordFunction, 8 inputs, idle"),
    ("guard_cost", "torch", "PyTorch RecordFunction, 8 inputs, profiler on"),
]


def load_guard_cost(folder):
    """{run: {(row, threads): {counter: median}}} and Google Benchmark's custom context."""
    runs, context = {}, {}
    for path in sorted(folder.glob("guard_cost*.json")):
        data = json.loads(path.read_text())
        runs[path.stem] = {}
        if path.stem == "guard_cost":
            context = data["context"]
        for b in data["benchmarks"]:
            if b.get("aggregate_name") == "median":
                runs[path.stem][b["run_name"].split("/")[0], b["threads"]] = {
                    k: b[k] for k in ("ns", "floor_ns", "x_floor", "x_alone") if k in b
                }
    return runs, context


def load_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def number(value):
    value = 0.0 if abs(value) < 0.05 else value
    return f"{value:.1f}" if abs(value) < 99.95 else f"{value:,.0f}"


def add_guards(table, runs, context):
    # The machine is faster at one moment and slower at the next, and rows were measured at
    # different ones. So what is shown of a row is its multiple of the floor beside it, and in
    # nanoseconds that times the floor's median over the whole run.
    floor = {
        (run, t): statistics.median(
            v["floor_ns"] for (_, threads), v in rows.items() if threads == t
        )
        for run, rows in runs.items()
        for t in (1, 2)
    }
    scale = FLOOR_NS / floor["guard_cost", 1]
    table.section("A scope, ns, less the bare loop")
    for run, row, what in GUARD_ROWS:
        if row == "lttng":
            what += ", session running" if context.get("lttng_session") == "yes" else ", no session"
        one, two = (runs.get(run, {}).get((row, threads)) for threads in (1, 2))
        if one is None:
            table.add(what, "not installed")
            continue
        ns = [x["x_floor"] * floor[run, threads] for x, threads in ((one, 1), (two, 2)) if x]
        budget, ok = "", None
        if row.startswith("idle"):
            budget, ok = f"≤ {IDLE_NS} ns", max(ns) <= IDLE_NS
        if (run, row) == ("guard_cost", "recording"):
            budget, ok = f"≤ {RECORDING} ×", one["x_floor"] <= RECORDING
        if (run, row) == ("guard_cost", "recording_saturated"):
            budget, ok = f"≤ {WITHOUT_A_PAUSE} ×", one["x_floor"] <= WITHOUT_A_PAUSE
        table.add(
            what, number(ns[0]), number(ns[1]) if two else "", f"{one['x_floor']:.2f}", budget, ok
        )
    table.section("Two threads at once, as a multiple of one of them alone")
    for row, what in (
        ("floor", "floor"),
        ("recording", "kprof recording, 8 int64 fields"),
        ("recording_region", "kprof recording, region with a literal name"),
        ("recording_saturated", "kprof recording without a pause, folding included"),
    ):
        ratio = runs["guard_cost"][row, 2]["x_alone"]
        has_budget = row in ("recording", "recording_saturated")
        table.add(
            what,
            "",
            f"{ratio:.2f} ×",
            "",
            f"≤ {TWO_THREADS} ×" if has_budget else "",
            ratio <= TWO_THREADS if has_budget else None,
        )
    return scale


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
