# SPDX-License-Identifier: MIT
"""What a scope costs: reads what guard_cost measured and makes its sections of the table."""

import json
import statistics

# Budgets are those of the architecture.
FLOOR_NS = 17  # of the machine that rates are given for
WITHOUT_A_PAUSE = 1.5  # times the floor, folding included
RECORDING = TWO_THREADS = 1.1
IDLE_NS = 0.5

# run, row, what it is
GUARD_ROWS = [
    ("guard_cost", "two_counter_reads", "two reads of the processor's counter"),
    ("guard_cost", "floor", "floor: two counter reads, 96 bytes into a thread's buffer"),
    ("guard_cost", "floor_in_memory", "the same through 46 MiB"),
    ("guard_cost", "off", "kprof compiled out (KPROF_ENABLE=0)"),
    ("guard_cost", "idle", "kprof idle: compiled in, no session"),
    ("guard_cost", "idle_region", "kprof idle, region"),
    ("guard_cost", "idle_in_library", "kprof idle, guards in a shared library"),
    ("guard_cost", "recording", "kprof recording, 8 int64 fields"),
    ("guard_cost", "recording_from_struct", "kprof recording, the same from a struct at hand"),
    ("guard_cost", "recording_without_fields", "kprof recording, no fields"),
    ("guard_cost", "recording_region", "kprof recording, region with a literal name"),
    ("guard_cost", "recording_saturated", "kprof recording without a pause, folding included"),
    ("guard_cost", "recording_in_library", "kprof recording, guards in a shared library"),
    ("guard_cost_library", "recording", "kprof recording, session in a shared library"),
    ("guard_cost_library", "recording_in_library", "kprof recording, each in a shared library"),
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
    add_libraries(table, runs)
    return scale


def add_libraries(table, runs):
    table.section("A scope of shared libraries, as a multiple of one in the executable")
    for run, row, what in GUARD_ROWS:
        if row != "recording_in_library" and run != "guard_cost_library":
            continue
        ratios = [
            f"{runs[run][row, t]['x_floor'] / runs['guard_cost']['recording', t]['x_floor']:.2f} ×"
            for t in (1, 2)
            if (row, t) in runs.get(run, {})
        ]
        table.add(what, *(ratios or ["not installed"]))
