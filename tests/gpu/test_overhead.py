#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests overhead.py without a GPU: test_overhead.py BUILD SCRIPTED

Its programs, in the folder BUILD, run on the scripted CUDA in the folder SCRIPTED, which notes
kernels and executes none: the times mean nothing, but what is run, counted and told must be right.
Python's profilers are left out: only real ones can tell how they answer.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections import Counter

build, scripted = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here))
import overhead as script
import overhead_tables as tables

PROGRAMS = ["bare", "idle guards", "scopes only", "kprof, one scope", "kprof"]
KERNELS = {2: 500, 10: 500, 100: 100}
failed = 0


def check(what, right, why=""):
    global failed
    failed += not right
    print(f"{'PASS' if right else 'FAIL'} {what}{'' if right else f': {why}'}")


def check_equal(what, got, wanted):
    check(what, got == wanted, f"is {got}, must be {wanted}")


def start(command, **environment):
    env = (
        os.environ
        | {"LD_LIBRARY_PATH": str(scripted), "KPROF_CUPTI": str(scripted / "libcupti.so.13")}
        | environment
    )
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=200)


def results(folder):
    out = {path.name: path.read_text() for path in (folder / "out").glob("*")}
    return json.loads(out["overhead.json"])["rows"] if out else [], out.get("overhead.md", "")


def overhead(folder, *options, **environment):
    """Runs overhead.py without Python's profilers. Its status, what it printed, what it wrote."""
    command = [sys.executable, here / "overhead.py", "--build", build, "--out", folder / "out"]
    command += ["--kernels", "500", "--cycles-per-us", "1980", *options]
    modules = folder / "modules"
    modules.mkdir(parents=True)
    for name in ("torch", "triton"):
        (modules / f"{name}.py").write_text("raise ImportError('there is none')")
    done = start(command, PYTHONPATH=str(modules), **environment)
    return done.returncode, done.stdout, *results(folder)


def lines_with(text, start):
    return [line for line in text.split("\n") if line.startswith(start)]


def shapes(folder):
    """What the program does, by the records of the scripted CUDA."""
    for shape, streams, nodes, before in (
        ("plain", 1, 1, 0),
        ("streams", 8, 1, 0),
        ("graph", 1, 101, 1),
    ):
        truth = folder / shape
        printed = json.loads(
            start([build / "overhead", "10", "500", shape], SCRIPTED_TRUTH=str(truth)).stdout
        )
        kernels = [line.split() for line in truth.read_text().split("\n") if "spin_kernel" in line]
        of_stream = Counter(k[3] for k in kernels).values()
        check_equal(
            f"{shape}: kernels, streams and nodes",
            (len(kernels), len(of_stream), len({k[4] for k in kernels})),
            (600 + before, streams, nodes),
        )
        check(
            f"{shape}: streams have as many each",
            max(of_stream, default=9) - min(of_stream, default=0) <= 2,
            of_stream,
        )
        check_equal(
            f"{shape}: what it says",
            (printed["launched"], printed["seen"]),
            (600 + before, 600 + before),
        )
    for once, scopes in (([], 600), (["once"], 1)):
        command = [build / "overhead", "10", "500", "plain", *once]
        report = start(command, KPROF="report(details)").stdout
        check(
            f"there is a guard around each launch, or one: {scopes}",
            f"  scopes    {scopes} recorded" in report,
            report[:200],
        )
    start([build / "overhead", "10", "500", "graph"], KPROF_TRANSCRIPT=str(folder / "transcript"))
    told = [line.split()[0] for line in (folder / "transcript").read_text().split("\n") if line]
    check_equal(
        "kprof is at work before a graph is captured",
        [word for word in told if word in ("launch", "node")][:2],
        ["launch", "node"],
    )


def full_size(folder):
    """With graphs, all launches of a run are in flight at once."""
    for name, program, environment, arguments in script.PROGRAMS:
        if name in script.COLLECTING:
            for shape, launched in (("plain", 110_100), ("graph", 110_101)):
                done = start(
                    [build / program, "3960", "100000", shape, *arguments],
                    SCRIPTED_KERNEL_US="2",
                    **environment,
                )
                printed = json.loads(done.stdout)
                check_equal(
                    f"all of 100000 are recorded, {name}, {shape}",
                    [printed[key] for key in ("launched", "seen", "dropped")],
                    [launched, launched, 0],
                )
    memory = {
        name: re.search(r"memory=(\w+)", environment.get("KPROF", ""))
        for name, _, environment, _ in script.PROGRAMS
    }
    check_equal(
        "kprof has as much memory wherever it runs",
        {name: found[1] for name, found in memory.items() if found},
        dict.fromkeys(("scopes only", "kprof, one scope", "kprof"), "256MiB"),
    )
    check(
        "the tables say so",
        "kprof runs with memory=256MiB in place of its default" in tables.CAPTION,
    )


def whole(folder):
    status, printed, rows, table = overhead(folder, "--rounds", "1")
    check_equal("it ends well", status, 0)
    wanted = [
        (shape, length, name)
        for shape in ("plain", "streams", "graph")
        for length in (2, 10, 100)
        for name in [*PROGRAMS, "bare in Python"]
    ]
    wanted += [("python", length, "bare in Python") for length in (2, 10)]
    check_equal(
        "everything is run", [(r["launched"], r["kernel_us"], r["variant"]) for r in rows], wanted
    )
    check("cycles are those of the option", all(r["cycles"] == r["kernel_us"] * 1980 for r in rows))
    check("kernels of 100 us are fewer", all(r["kernels"] == KERNELS[r["kernel_us"]] for r in rows))
    for row in rows:
        for run in row["runs"]:
            sees = row["variant"].startswith("kprof")
            check(
                f"kprof sees all, {row['variant']}, {row['launched']}",
                run["seen"] == (run["launched"] if sees else 0) or "Python" in row["variant"],
                run,
            )
    checks = lines_with(printed, "PASS overhead: every kernel is recorded, ")
    check_equal("every check passes", (len(checks), lines_with(printed, "FAIL")), (18, []))
    check_equal("profilers that are not here are told", len(lines_with(printed, "SKIP")), 2)
    for heading in ("one by one on one stream", "on eight streams in turn", "graphs of 100"):
        check(
            f"there is a table: {heading}",
            len(re.findall(rf"^## Launched .*{heading}", table, re.MULTILINE)) == 1,
        )


def dropped(folder):
    status, printed, rows, _ = overhead(
        folder, "--rounds", "1", "--shapes", "plain", SCRIPTED_DROP="7"
    )
    check_equal("records that are dropped fail", status, 1)
    told = lines_with(printed, "FAIL overhead: every kernel is recorded, plain, 2 us")
    check(
        "and are told",
        len(told) == 2 and all(re.search(r": \d+ of 600, [1-9]\d* dropped", line) for line in told),
        told,
    )


def broken(folder):
    (folder / "out").mkdir()
    for name in ("overhead.md", "overhead.json"):
        (folder / "out" / name).write_text('{"rows": ["of a run before"]}')
    status, printed, rows, table = overhead(folder, "--rounds", "1", SCRIPTED_NO_DRIVER="1")
    check_equal("programs that fail fail", status, 1)
    for name in (*PROGRAMS, "bare in Python"):
        told = lines_with(printed, f"FAIL overhead: it is measured, {name}, plain, ")
        check(
            f"and are told, {name}",
            len(told) == 2
            and all(re.search(r" us: it ended with 1: overhead: \w", line) for line in told),
            told,
        )
    check_equal("and there is no table, nor that of a run before", (rows, table), ([], ""))


def files_are_whole(folder):
    path, write = folder / "file", pathlib.Path.write_bytes

    def half(self, text):
        write(self, text[:1])
        raise OSError("no space")

    path.write_text("old")
    try:
        pathlib.Path.write_bytes = half
        script.write(path, "new")
    except OSError:
        pass
    finally:
        pathlib.Path.write_bytes = write
    check_equal("what is not written whole leaves the old", path.read_text(), "old")
    script.write(path, "new")
    check_equal(
        "what is replaces it", {p.name: p.read_text() for p in folder.glob("*")}, {"file": "new"}
    )


def time_runs_out(folder):
    answer, why = script.attempted(
        [sys.executable, "-c", "import time; time.sleep(60)"], timeout=0.2
    )
    check_equal("what takes too long is ended", (answer, why), (None, "it took more than 0.2 s"))
    them = script.Measurements(
        None, [{"launched": shape, "kernel_us": 2} for shape in ("plain", "graph")]
    )
    them.failures.append({"variant": "Proton", "launched": "plain", "kernel_us": 2, "why": why})
    check_equal(
        "and not started again with this shape",
        [them.given_up("Proton", i) for i in (0, 1)],
        [True, False],
    )


def spreads(folder):
    """What is below the spread, of runs made up."""

    def rows(bare, kprof, **others):
        variants = {"bare": bare, "kprof": kprof, **others}
        runs = {
            (0, name): [{"total_ns": ns, "launch_ns": 1, "end_ms": 0} for ns in of]
            for name, of in variants.items()
        }
        return tables.rows_of(
            [{"launched": "plain", "kernel_us": 2, "cycles": 1, "kernels": 9}], runs
        )

    apart, over, few = (
        rows([10, 11, 12], [13, 15, 14]),
        rows([10, 11, 12], [12, 15, 14]),
        rows([10, 11], [13, 14]),
    )
    check_equal(
        "medians, and the smallest and largest", tables.spread(apart[1], "total_ns"), "14 (13..15)"
    )
    check_equal(
        "a difference beyond the spread", tables.more(apart[1], "total_ns", True), "+3 (+27.3 %)"
    )
    check_equal("a difference below it", tables.more(over[1], "total_ns", True), "~+3 (+27.3 %)")
    check_equal(
        "less, beyond the spread",
        tables.more(rows([13, 14, 15], [10, 11, 12])[1], "total_ns", True),
        "-3 (-21.4 %)",
    )
    check_equal("too few runs for a spread", tables.more(few[1], "total_ns", False), "~+3")
    peers = rows([10], [11], **{"bare in Python": [20], "Proton": [22]})
    check_equal(
        "what runs in Python is compared with what is bare there",
        tables.more(peers[3], "total_ns", False),
        "~+2",
    )
    check_equal("bare is compared with nothing", tables.more(apart[0], "total_ns", True), "")


for test in (
    shapes,
    full_size,
    whole,
    dropped,
    broken,
    files_are_whole,
    time_runs_out,
    spreads,
):
    with tempfile.TemporaryDirectory() as folder:
        test(pathlib.Path(folder))
sys.exit(1 if failed else 0)
