# SPDX-License-Identifier: MIT
"""The tables of overhead.py: what is compared, and how the runs are summed up."""

import statistics

# what kprof needs where all launches of a run are in flight at once, as graphs' can be
MEMORY = "memory=256MiB"
PROGRAMS = [  # name, program, what is set in the environment, further arguments
    ("bare", "overhead_bare", {}, []),
    ("idle guards", "overhead", {"KPROF": "off"}, []),
    ("scopes only", "overhead", {"KPROF": f"cupti=off,{MEMORY}"}, []),
    ("kprof, one scope", "overhead", {"KPROF": MEMORY}, ["once"]),
    ("kprof", "overhead", {"KPROF": MEMORY}, []),
]
COLLECTING = ("kprof, one scope", "kprof")
LENGTHS_US = (2, 10, 100)
SHAPES = {  # as launched: the heading of its table
    "plain": "Launched one by one on one stream",
    "streams": "Launched one by one on eight streams in turn",
    "graph": "Launched as graphs of 100 kernels, on one stream",
    "python": "Launched one by one from a loop in Python, on one stream",
}
TIMES = ("total_ns", "launch_ns", "end_ms")
PEERS = ("bare in Python", "torch.profiler", "Proton")  # of overhead_peers.py
OTHERS = {"torch.profiler", "Proton"}
# Proton calls cuptiFinalize at the end of a session, and CUPTI before that of CUDA 13.1 Update 1
# gives launches of graphs wrong ids in the sessions after the first.
ONE_SESSION = {"Proton"}

CAPTION = f"""\
Medians of all runs, with the smallest and the largest. "ns a kernel" is the loop with its final
wait, divided by its kernels; "ns to launch" is the host's part of it, which a full queue can hold
up. "more" is against the bare loop in the same kind of process, and "~" before it says that it is
below the spread: some run was no slower, or no faster, than some run of the bare loop, or there are
fewer than three runs. "seen" are the kernels that the profiler told of afterwards, of those
launched, in the run with the fewest; those that warm up, and the one before a graph is captured,
are among them. kprof runs with {MEMORY} in place of its default of 64 MiB: in graphs, up to all
launches of a run are in flight at once, and each takes some of that memory until its record has
come.

- bare: guards are compiled out (KPROF_ENABLE=0).
- idle guards: compiled in, nobody listens (KPROF=off).
- scopes only: a guard with two parameters around each launch, or replay of a graph; the device's
  work is not collected (KPROF=cupti=off,{MEMORY}).
- kprof, one scope: the device's work is collected (KPROF={MEMORY}); one guard around the whole
  loop, as the profilers below have it.
- kprof: the device's work is collected (KPROF={MEMORY}), and a guard is around each launch, or
  replay. "end" is snapshot(), which makes the profile.
- bare in Python: the bare loop, in C++ as well, in a process of Python's (libspin.so), which does
  all rows one after the other.
- torch.profiler: the same with PyTorch's profiler for CPU and CUDA around it and one
  record_function. "end" is stop(); events are not yet made into Python's.
- Proton: the same with a session of Triton's Proton around it (CUPTI, a tree) and one scope. "end"
  is finalize(), which writes its file. Each row has processes of its own, as Proton finalizes CUPTI
  with its session.

Launched from a loop in Python, each launch has a record_function or a scope of Proton's around it,
which is to be compared with kprof's guard around each launch of the loop in C++; the bare loop has
neither."""


# ---- rounds


def rows_of(settings, runs):
    rows = []
    for i, setting in enumerate(settings):
        for name in [name for name, _, _, _ in PROGRAMS] + list(PEERS):
            if (i, name) not in runs:
                continue
            mine, bare = runs[i, name], runs.get(
                (i, "bare in Python" if name in PEERS else "bare"), []
            )
            row = {**setting, "variant": name, "runs": mine}
            for key in TIMES:
                values, others = [r[key] for r in mine], [r[key] for r in bare]
                row[key] = statistics.median(values)
                row["least_" + key], row["most_" + key] = min(values), max(values)
                row["more_" + key] = (
                    row[key] - statistics.median(others) if others and mine is not bare else None
                )
                row["clear_" + key] = min(len(values), len(others)) >= 3 and (
                    min(values) > max(others) or max(values) < min(others)
                )
            rows.append(row)
    return rows


def spread(row, key, digits=0):
    return (
        f"{row[key]:.{digits}f} ({row['least_' + key]:.{digits}f}..{row['most_' + key]:.{digits}f})"
    )


def more(row, key, percent):
    value = row["more_" + key]
    if value is None:
        return ""
    text = f"{'' if row['clear_' + key] else '~'}{value:+.0f}"
    return text + (
        f" ({100 * value / (row[key] - value):+.1f} %)" if percent and row[key] != value else ""
    )


def seen(row):
    if row["variant"] not in (*COLLECTING, *OTHERS):
        return ""
    fewest = min(row["runs"], key=lambda r: r["seen"] - r["launched"])
    return (
        f"all {fewest['seen']}"
        if fewest["seen"] == fewest["launched"]
        else f"**{fewest['seen']} of {fewest['launched']}**"
    )


def table(rows):
    lines = [
        "| kernels | variant | runs | ns a kernel | more | ns to launch | more | end, ms | seen |",
        "|---|---|" + "---:|" * 7,
    ]
    for r in rows:
        cells = [
            f"{r['kernels']} of {r['kernel_us']} µs",
            r["variant"],
            str(len(r["runs"])),
            spread(r, "total_ns"),
            more(r, "total_ns", True),
            spread(r, "launch_ns"),
            more(r, "launch_ns", False),
            spread(r, "end_ms", 1),
            seen(r),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def told(absent, failures):
    """Lines about what has no runs, or fewer."""
    lines = [f"{name} has no runs, or no further ones: {why}." for name, why in absent.items()]
    places = {}
    for f in failures:
        places.setdefault((f["variant"], f["why"]), {})[
            f["launched"] + (f" {f['kernel_us']} µs" if f["kernel_us"] else "")
        ] = True
    lines += [f"{name} failed: {why} ({', '.join(of)})." for (name, why), of in places.items()]
    return lines + [
        "What failed twice in a table, or once for lack of time, was not started again for it."
    ] * bool(failures)


def written(rows, absent, failures, facts):
    states = {
        r["runs"][-1].get(key)
        for r in rows
        if r["variant"] in (*COLLECTING, *PEERS)
        for key in ("state", "version")
    }
    facts = [*facts, *sorted(filter(None, states))]
    lines = [
        "# What kprof costs a program that launches kernels",
        "",
        *(f"- {fact}" for fact in facts),
        "",
        CAPTION,
        "",
    ]
    for line in told(absent, failures):
        lines += [line, ""]
    for shape, heading in SHAPES.items():
        of_shape = [r for r in rows if r["launched"] == shape]
        if of_shape:
            lines += [f"## {heading}", "", *table(of_shape), ""]
    return "\n".join(lines)
