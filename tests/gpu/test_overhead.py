#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests overhead.py without a GPU: test_overhead.py BUILD SCRIPTED

Its programs, in the folder BUILD, run on the scripted CUDA in the folder SCRIPTED, which notes kernels and executes none: the
times mean nothing, but what is run, counted and told must be right. Stand-ins for PyTorch and Triton, which see what they are
told to see, show how other profilers are asked and reported.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import types
from collections import Counter

build, scripted = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here))
import overhead as script

PROGRAMS = ["bare", "idle guards", "scopes only", "kprof, one scope", "kprof"]
PEERS = ["bare in Python", "torch.profiler", "Proton"]
KERNELS = {2: 500, 10: 500, 100: 100}
KPROF_ROWS = [
    (shape, length, name)
    for shape in ("plain", "streams", "graph")
    for length in (2, 10, 100)
    for name in PROGRAMS
]
failed = 0

TORCH = """
import types
__version__ = "of a test"
class Event:
    def __init__(self, name): self.text = name
    def name(self): return self.text
class Scope:
    entered = 0
    def __init__(self, name): pass
    def __enter__(self): Scope.entered += 1
    def __exit__(self, *exception): pass
class Profile:
    def __init__(self, activities): assert activities == ["cpu", "cuda"]
    def start(self): Scope.entered = 0
    def stop(self):
        # A kernel less than there are in the loop with one scope; as many as there are scopes else.
        kernels = ["(anonymous namespace)::spin_kernel(long long)"] * (599 if Scope.entered == 1 else Scope.entered)
        events = [Event(name) for name in ["cudaLaunchKernel", *kernels]]
        self.profiler = types.SimpleNamespace(kineto_results=types.SimpleNamespace(events=lambda: events))
profiler = types.SimpleNamespace(record_function=Scope, profile=Profile, ProfilerActivity=types.SimpleNamespace(CPU="cpu", CUDA="cuda"))
cuda = types.SimpleNamespace(is_available=lambda: True, init=lambda: None)
"""
PROTON = """
import contextlib, json
def start(name, backend):
    assert backend == "cupti"
    return name
def finalize(session):
    tree = {"children": [{"metrics": {"count": 250}, "children": [{"metrics": {"count": 350}, "children": []}]}], "metrics": {"count": 0}}
    open(session + ".hatchet", "w").write(json.dumps([tree, {"CUDA": {}}]))
scope = contextlib.nullcontext
"""
NO_MODULE = "raise ImportError('there is none')"
# At the start of a stand-in: each process notes what it is asked for, in a file that LOG names.
ASKED = """
import json, os, sys, time
settings = [(s["launched"], s["kernel_us"]) for s in json.loads(sys.argv[3])]
with open(os.environ["LOG"], "a") as file: file.write(json.dumps([sys.argv[1], settings]) + chr(10))
with open(os.environ["LOG"]) as file: times = [json.loads(line) for line in file].count([sys.argv[1], [list(s) for s in settings]])
"""


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


def command_for(folder, *options, torch=NO_MODULE, proton=NO_MODULE, programs=build):
    """With stand-ins in `folder`, and what is set in the environment for them."""
    modules = folder / "modules"
    (modules / "triton").mkdir(parents=True)
    (modules / "torch.py").write_text(torch)
    (modules / "triton" / "__init__.py").write_text('__version__ = "of a test"')
    (modules / "triton" / "profiler.py").write_text(proton)
    command = [
        sys.executable,
        here / "overhead.py",
        "--build",
        programs,
        "--out",
        folder / "out",
        "--kernels",
        "500",
        *options,
    ]
    return command, {"PYTHONPATH": str(modules), "LOG": str(folder / "log")}


def results(folder):
    out = {path.name: path.read_text() for path in (folder / "out").glob("*")}
    return json.loads(out["overhead.json"])["rows"] if out else [], out.get("overhead.md", "")


def overhead(folder, *options, torch=NO_MODULE, proton=NO_MODULE, programs=build, **environment):
    """Runs it in `folder`. Its status, what it printed, and what it wrote, if it did."""
    command, wanted = command_for(folder, *options, torch=torch, proton=proton, programs=programs)
    done = start(command, **wanted, **environment)
    return done.returncode, done.stdout, *results(folder)


def stopped(folder, *options, **others):
    """The same, killed when there is a file "now" in `folder`. What it had printed and written."""
    command, wanted = command_for(folder, "--cycles-per-us", "1980", *options, **others)
    env = (
        os.environ
        | {
            "LD_LIBRARY_PATH": str(scripted),
            "KPROF_CUPTI": str(scripted / "libcupti.so.13"),
            "NOW": str(folder / "now"),
        }
        | wanted
    )
    env.pop("PYTHONUNBUFFERED", None)  # what it prints must come without
    with open(folder / "printed", "w") as printed:
        process = subprocess.Popen(command, env=env, stdout=printed, start_new_session=True)
    until = time.monotonic() + 60
    while not (folder / "now").exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    check("it is at work when it is killed", process.poll() is None)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return (folder / "printed").read_text(), *results(folder)


def programs_with(folder, **bodies):
    """The programs, some of them behind lines of a shell."""
    programs = folder / "programs"
    programs.mkdir(parents=True)
    for name in ("overhead", "overhead_bare", "libspin.so"):
        if name in bodies:
            (programs / name).write_text(
                f'#!/bin/sh\necho "$KPROF $*" >> "$LOG"\n{bodies[name]}\nexec {build / name} "$@"\n'
            )
            (programs / name).chmod(0o755)
        else:
            (programs / name).symlink_to(build / name)
    return programs


def runs_of(rows):
    return {(r["launched"], r["kernel_us"], r["variant"]): len(r["runs"]) for r in rows}


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
    for once, scopes in (([], "600 scopes"), (["once"], "1 scope")):
        report = start([build / "overhead", "10", "500", "plain", *once], KPROF="report").stdout
        check(
            f"there is a guard around each launch, or one: {scopes}",
            f" · {scopes}\n" in report,
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
        "kprof runs with memory=256MiB in place of its default" in script.CAPTION,
    )


def whole(folder):
    status, printed, rows, table = overhead(
        folder, "--rounds", "2", "--cycles-per-us", "1980", torch=TORCH, proton=PROTON
    )
    check_equal("it ends well", status, 0)
    wanted = [
        (shape, length, name)
        for shape in ("plain", "streams", "graph")
        for length in (2, 10, 100)
        for name in PROGRAMS + PEERS
    ]
    wanted += [("python", length, name) for length in (2, 10) for name in PEERS]
    check_equal(
        "everything is run", [(r["launched"], r["kernel_us"], r["variant"]) for r in rows], wanted
    )
    check("every variant runs in each round", all(len(r["runs"]) == 2 for r in rows))
    check("cycles are those of the option", all(r["cycles"] == r["kernel_us"] * 1980 for r in rows))
    check("kernels of 100 us are fewer", all(r["kernels"] == KERNELS[r["kernel_us"]] for r in rows))
    launched = {(r["kernels"], r["launched"], run["launched"]) for r in rows for run in r["runs"]}
    wanted_launched = {
        (kernels, shape, kernels // 10 // 100 * 100 + 100 + kernels + (shape == "graph"))
        for shape in ("plain", "streams", "graph")
        for kernels in (500, 100)
    }
    check_equal(
        "those that warm up are counted, and that before a graph's capture",
        launched,
        wanted_launched | {(500, "python", 550)},
    )
    seen = {
        name: {
            run["seen"] - (run["launched"] if name.startswith("kprof") else 0)
            for r in rows
            if r["variant"] == name
            for run in r["runs"]
        }
        for name in PROGRAMS
    }
    check_equal(
        "kprof sees all; without it there is nothing to see", seen, {name: {0} for name in PROGRAMS}
    )
    checks = lines_with(printed, "PASS overhead: every kernel is recorded, ")
    check_equal(
        "every check passes",
        (len(checks), lines_with(printed, "FAIL"), lines_with(printed, "SKIP")),
        (18, [], []),
    )
    for heading in (
        "one by one on one stream",
        "on eight streams in turn",
        "graphs of 100 kernels",
        "from a loop in Python",
    ):
        check(
            f"there is a table: {heading}",
            len(re.findall(rf"^## Launched .*{heading}", table, re.MULTILINE)) == 1,
        )
    check_equal(
        "the tables have all rows",
        len(lines_with(table, "| 500 of ")) + len(lines_with(table, "| 100 of ")),
        len(wanted),
    )
    check(
        "the versions are told",
        all(text in table for text in ("- PyTorch of a test", "- Triton of a test", "- CUPTI 13")),
    )
    check_equal(
        "two runs are no spread",
        {bool(r[key]) for r in rows for key in ("clear_total_ns", "clear_launch_ns")},
        {False},
    )
    others_see(rows, table)


def others_see(rows, table):
    seen = {
        (r["launched"], r["kernel_us"], r["variant"]): {run["seen"] for run in r["runs"]}
        for r in rows
    }
    check_equal("one record_function is around the loop", seen["plain", 2, "torch.profiler"], {599})
    check_equal(
        "one is around each launch of a loop in Python", seen["python", 2, "torch.profiler"], {550}
    )
    check_equal("Proton's tree is summed up", seen["graph", 10, "Proton"], {600})
    check("the table tells that kernels are missing", "| **599 of 600** |" in table)
    for name, number in (("torch.profiler", 550), ("Proton", 600)):
        check(
            f"the table tells that none is missing, {name}",
            bool(re.search(rf"\| {name} \|.*\| all {number} \|", table)),
        )


def absent(folder):
    status, printed, rows, table = overhead(
        folder,
        "--rounds",
        "1",
        proton=PROTON.replace("return name", "raise RuntimeError('no luck')"),
    )
    check_equal("without other profilers it ends well", status, 0)
    check("cycles are measured without the option", all(r["cycles"] > 0 for r in rows))
    check(
        "what is not installed is told",
        "SKIP overhead: torch.profiler: there is none" in printed
        and "torch.profiler has no runs" in table,
    )
    why = "it ended with 1: RuntimeError: no luck"
    places = [
        (shape, length) for shape in ("plain", "streams", "graph", "python") for length in (2, 10)
    ]  # and not a third time
    told = [f"SKIP overhead: Proton, {shape}, {length} us: {why}" for shape, length in places]
    check_equal("what fails is told", lines_with(printed, "SKIP overhead: Proton"), told)
    together = ", ".join(f"{shape} {length} µs" for shape, length in places)
    check_equal(
        "and above the tables",
        lines_with(table, "Proton failed"),
        [f"Proton failed: {why} ({together})."],
    )
    check_equal("and has no rows", {r["variant"] for r in rows}, {*PROGRAMS, "bare in Python"})


def time_is_limited(folder):
    _, _, rows, _ = overhead(
        folder,
        "--rounds",
        "3",
        "--seconds",
        "0",
        "--cycles-per-us",
        "1980",
        "--shapes",
        "plain,python",
    )
    check_equal(
        "one round is run however little time there is", {len(r["runs"]) for r in rows}, {1}
    )


def dropped(folder):
    status, printed, rows, _ = overhead(
        folder, "--rounds", "1", "--cycles-per-us", "1980", "--shapes", "plain", SCRIPTED_DROP="7"
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
    status, printed, rows, table = overhead(
        folder, "--rounds", "1", "--cycles-per-us", "1980", SCRIPTED_NO_DRIVER="1"
    )
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
    status, printed, _, _ = overhead(folder / "again", "--rounds", "1", SCRIPTED_NO_DRIVER="1")
    told = "FAIL overhead: the GPU's clock is measured: it ended with 1: overhead: "
    check(
        "without a clock there is nothing to do", status == 1 and printed.startswith(told), printed
    )


def some_fail(folder):
    """One program always with one shape, another in its third run of a setting: that much is missing, and no more."""
    body = """case "$KPROF $*" in
  "memory=256MiB "*" plain") echo "no luck" >&2; exit 3 ;;
  "cupti=off,memory=256MiB "*" 100 graph") [ "$(grep -c '^cupti=off.* 100 graph$' "$LOG")" -lt 3 ] || exit 4 ;;
esac"""
    options = ("--rounds", "3", "--cycles-per-us", "1980", "--shapes", "plain,graph")
    status, printed, rows, table = overhead(
        folder, *options, programs=programs_with(folder, overhead=body)
    )
    check_equal("what fails at times fails", status, 1)
    lost = {("plain", length, "kprof"): 0 for length in (2, 10, 100)} | {
        ("graph", 100, "scopes only"): 2
    }
    runs = {key: number for key, number in runs_of(rows).items() if key[2] in PROGRAMS}
    check_equal(
        "all else is run",
        runs,
        {key: lost.get(key, 3) for key in KPROF_ROWS if key[0] != "streams" and lost.get(key, 3)},
    )
    check_equal(
        "what failed twice is not started again",
        len(re.findall("^memory=.* plain$", (folder / "log").read_text(), re.MULTILINE)),
        2,
    )
    check_equal(
        "each failure is told",
        lines_with(printed, "FAIL"),
        [
            "FAIL overhead: it is measured, kprof, plain, 2 us: it ended with 3: no luck",
            "FAIL overhead: it is measured, kprof, plain, 10 us: it ended with 3: no luck",
            "FAIL overhead: it is measured, scopes only, graph, 100 us: it ended with 4",
        ],
    )
    for line in (
        "kprof failed: it ended with 3: no luck (plain 2 µs, plain 10 µs).",
        "scopes only failed: it ended with 4 (graph 100 µs).",
        "What failed twice in a table, or once for lack of time, was not started again for it.",
    ):
        check(f"above the tables too: {line}", f"\n{line}\n" in table.partition("\n## ")[0])
    of_python = {len(r["runs"]) for r in rows if r["variant"] == "bare in Python"}
    check_equal("with nothing to compare it with, Python's loop has one round", of_python, {1})


def killed(folder):
    """Leaves the rounds that were done, and has told what failed."""
    hang = """if [ "$(grep -c . "$LOG")" -gt 9 ]; then touch "$NOW"; exec sleep 100; fi"""
    programs = programs_with(folder, overhead_bare=hang)
    (programs / "overhead").unlink()
    (programs / "overhead").write_text(
        f'#!/bin/sh\n[ "$KPROF $3" != "off streams" ] || exit 6\nexec {build / "overhead"} "$@"\n'
    )
    (programs / "overhead").chmod(0o755)
    printed, rows, table = stopped(folder, programs=programs)
    check_equal(
        "a round of programs is written",
        runs_of(rows),
        {key: 1 for key in KPROF_ROWS if key[0] + key[2] != "streamsidle guards"},
    )
    check(
        "as a table",
        len(lines_with(table, "| 500 of ")) + len(lines_with(table, "| 100 of ")) == len(rows),
    )
    check_equal(
        "what failed has been told",
        len(lines_with(printed, "FAIL overhead: it is measured, idle guards, streams, ")),
        2,
    )

    second = folder / "second"
    hang = ASKED + 'if times == 2: open(os.environ["NOW"], "w").close(); time.sleep(100)\n'
    printed, rows, _ = stopped(
        second, "--rounds", "2", "--shapes", "graph,python", torch=hang + TORCH
    )
    of_peers = {
        (shape, 2, name): number
        for shape in ("graph", "python")
        for name, number in (("bare in Python", 2), ("torch.profiler", 1))
    }
    runs = {key: number for key, number in runs_of(rows).items() if key[1] == 2}
    check_equal(
        "so are rounds of other profilers",
        runs,
        dict.fromkeys([("graph", 2, name) for name in PROGRAMS], 2) | of_peers,
    )
    check_equal(
        "what was checked has been told",
        len(lines_with(printed, "PASS overhead: every kernel is recorded, ")),
        6,
    )


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


def processes_of_peers(folder):
    """Proton fails with one setting, once; torch.profiler with all in one process."""
    torch = ASKED + TORCH.replace(
        "def start(self): ",
        """def start(self):
        Profile.started = getattr(Profile, "started", 0) + 1
        if Profile.started == 3: os._exit(5)
        """,
    )
    proton = ASKED + 'if times == 1 and settings == [("streams", 10)]: os._exit(4)\n' + PROTON
    options = ("--rounds", "2", "--cycles-per-us", "1980", "--shapes", "streams,python")
    settings = [("streams", 2), ("streams", 10), ("streams", 100), ("python", 2), ("python", 10)]
    status, printed, rows, table = overhead(folder, *options, torch=torch, proton=proton)
    check_equal("others that fail are no failure", status, 0)
    asked = [json.loads(line) for line in (folder / "log").read_text().split("\n") if line]
    of = {
        name: [[tuple(setting) for setting in its] for who, its in asked if who == name]
        for name in ("torch.profiler", "Proton")
    }
    one_each = [[setting] for setting in settings] * 2
    check_equal("Proton has a process for each setting", of["Proton"], one_each)
    check_equal(
        "torch.profiler has one for all until that fails",
        of["torch.profiler"],
        [settings, *one_each],
    )
    wanted = {(*setting, name): 2 for setting in settings for name in PEERS} | {
        ("streams", 10, "Proton"): 1
    }
    check_equal(
        "only what failed is missing",
        {key: number for key, number in runs_of(rows).items() if key[2] in PEERS},
        wanted,
    )
    check_equal(
        "and is told",
        lines_with(printed, "SKIP"),
        [
            "SKIP overhead: torch.profiler, all in one process: it ended with 5",
            "SKIP overhead: Proton, streams, 10 us: it ended with 4",
        ],
    )
    check(
        "above the tables too",
        "\nProton failed: it ended with 4 (streams 10 µs).\n" in table.partition("\n## ")[0],
    )


def chosen_shapes(folder):
    options = ("--rounds", "1", "--cycles-per-us", "1980")
    _, _, rows, table = overhead(
        folder / "graph", *options, "--shapes", "graph", torch=TORCH, proton=PROTON
    )
    check_equal(
        "one table",
        set(runs_of(rows)),
        {("graph", length, name) for length in (2, 10, 100) for name in PROGRAMS + PEERS},
    )
    check_equal("and no other", len(lines_with(table, "## ")), 1)
    programs = programs_with(folder, overhead="exit 1", overhead_bare="exit 1")
    status, printed, rows, _ = overhead(
        folder / "python",
        *options,
        "--shapes",
        "python",
        torch=TORCH,
        proton=PROTON,
        programs=programs,
    )
    check_equal("Python's loop needs no program", (status, lines_with(printed, "FAIL")), (0, []))
    check_equal(
        "and is a table of its own",
        set(runs_of(rows)),
        {("python", length, name) for length in (2, 10) for name in PEERS},
    )
    check_equal(
        "several",
        {r["launched"] for r in overhead(folder / "two", *options, "--shapes", "streams,plain")[2]},
        {"plain", "streams"},
    )
    done = start(
        [
            sys.executable,
            here / "overhead.py",
            "--build",
            build,
            "--out",
            folder,
            "--shapes",
            "plain,round",
        ]
    )
    check(
        "an unknown one is refused",
        done.returncode == 2 and "of plain, streams, graph, python" in done.stderr,
        done.stderr,
    )


def time_is_shared(folder):
    """With a clock of its own, and rounds that take as long as they are said to."""
    clock, ran = [0], []

    class Rounds(script.Measurements):
        def round_of_programs(self):
            clock[0] += 60
            ran.append("programs")
            return True

        def round_of_peers(self):
            clock[0] += 40
            ran.append("peers")
            return True

    real = script.Measurements, script.time
    script.Measurements, script.time = Rounds, types.SimpleNamespace(monotonic=lambda: clock[0])
    for shapes, rounds, wanted in (
        (list(script.SHAPES), 9, {"programs": 4, "peers": 5}),
        (["plain"], 3, {"programs": 3, "peers": 3}),
        (["python"], 20, {"peers": 11}),
    ):
        clock[0], ran[:] = 0, []
        script.measure(
            argparse.Namespace(
                cycles_per_us=1980, shapes=shapes, kernels=500, rounds=rounds, seconds=450
            )
        )
        check_equal(
            f"rounds of both kinds have their time: {', '.join(shapes)}", dict(Counter(ran)), wanted
        )
        check("programs come first", ran == sorted(ran, reverse=True), ran)
    script.Measurements, script.time = real


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


def no_library(folder):
    programs = programs_with(folder)
    (programs / "libspin.so").unlink()
    options = ("--rounds", "1", "--cycles-per-us", "1980", "--shapes", "plain")
    status, printed, rows, _ = overhead(
        folder, *options, torch=TORCH, proton=PROTON, programs=programs
    )
    check_equal(
        "without libspin.so kprof is measured",
        (status, {r["variant"] for r in rows}),
        (0, set(PROGRAMS)),
    )
    check_equal(
        "and that is told",
        lines_with(printed, "SKIP"),
        [f"SKIP overhead: {name}: there is no libspin.so" for name in PEERS],
    )
    (programs / "libspin.so").write_text("no library")
    status, printed, _, _ = overhead(folder / "again", *options, programs=programs)
    told = lines_with(
        printed, "FAIL overhead: it is measured, bare in Python, all in one process: "
    )
    check("a broken libspin.so fails", status == 1 and len(told) == 1, printed)


def spreads(folder):
    """What is below the spread, of runs made up."""

    def rows(bare, kprof, **others):
        variants = {"bare": bare, "kprof": kprof, **others}
        runs = {
            (0, name): [{"total_ns": ns, "launch_ns": 1, "end_ms": 0} for ns in of]
            for name, of in variants.items()
        }
        return script.rows_of(
            [{"launched": "plain", "kernel_us": 2, "cycles": 1, "kernels": 9}], runs
        )

    apart, over, few = (
        rows([10, 11, 12], [13, 15, 14]),
        rows([10, 11, 12], [12, 15, 14]),
        rows([10, 11], [13, 14]),
    )
    check_equal(
        "medians, and the smallest and largest", script.spread(apart[1], "total_ns"), "14 (13..15)"
    )
    check_equal(
        "a difference beyond the spread", script.more(apart[1], "total_ns", True), "+3 (+27.3 %)"
    )
    check_equal("a difference below it", script.more(over[1], "total_ns", True), "~+3 (+27.3 %)")
    check_equal(
        "less, beyond the spread",
        script.more(rows([13, 14, 15], [10, 11, 12])[1], "total_ns", True),
        "-3 (-21.4 %)",
    )
    check_equal("too few runs for a spread", script.more(few[1], "total_ns", False), "~+3")
    peers = rows([10], [11], **{"bare in Python": [20], "Proton": [22]})
    check_equal(
        "what runs in Python is compared with what is bare there",
        script.more(peers[3], "total_ns", False),
        "~+2",
    )
    check_equal("bare is compared with nothing", script.more(apart[0], "total_ns", True), "")


for test in (
    shapes,
    full_size,
    whole,
    absent,
    time_is_limited,
    dropped,
    broken,
    some_fail,
    killed,
    files_are_whole,
    processes_of_peers,
    chosen_shapes,
    time_is_shared,
    time_runs_out,
    no_library,
    spreads,
):
    with tempfile.TemporaryDirectory() as folder:
        test(pathlib.Path(folder))
sys.exit(1 if failed else 0)
