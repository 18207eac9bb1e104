#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests overhead.py without a GPU: test_overhead.py BUILD SCRIPTED

Its programs, in the folder BUILD, run on the scripted CUDA in the folder SCRIPTED, which notes kernels and executes none: the
times mean nothing, but what is run, counted and told must be right. Stand-ins for PyTorch and Triton, which see what they are
told to see, show how other profilers are asked and reported.
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
PROGRAMS = ["bare", "idle guards", "scopes only", "kprof, one scope", "kprof"]
PEERS = ["bare in Python", "torch.profiler", "Proton"]
KERNELS = {2: 500, 10: 500, 100: 100}
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


def check(what, right, why=""):
    global failed
    failed += not right
    print(f"{'PASS' if right else 'FAIL'} {what}{'' if right else f': {why}'}")


def check_equal(what, got, wanted):
    check(what, got == wanted, f"is {got}, must be {wanted}")


def start(command, **environment):
    env = os.environ | {"LD_LIBRARY_PATH": str(scripted), "KPROF_CUPTI": str(scripted / "libcupti.so.13")} | environment
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=200)


def overhead(folder, *options, torch=NO_MODULE, proton=NO_MODULE, programs=build, **environment):
    """Runs it in `folder`. Its status, what it printed, and what it wrote, if it did."""
    modules = folder / "modules"
    (modules / "triton").mkdir(parents=True)
    (modules / "torch.py").write_text(torch)
    (modules / "triton" / "__init__.py").write_text('__version__ = "of a test"')
    (modules / "triton" / "profiler.py").write_text(proton)
    done = start([sys.executable, here / "overhead.py", "--build", programs, "--out", folder / "out", "--kernels", "500", *options],
                 PYTHONPATH=str(modules), **environment)
    out = {path.name: path.read_text() for path in (folder / "out").glob("*")}
    return done.returncode, done.stdout, json.loads(out["overhead.json"])["rows"] if out else [], out.get("overhead.md", "")


def lines_with(text, start):
    return [line for line in text.split("\n") if line.startswith(start)]


def shapes(folder):
    """What the program does, by the records of the scripted CUDA."""
    for shape, streams, nodes in (("plain", 1, 1), ("streams", 8, 1), ("graph", 1, 100)):
        truth = folder / shape
        printed = json.loads(start([build / "overhead", "10", "500", shape], SCRIPTED_TRUTH=str(truth)).stdout)
        kernels = [line.split() for line in truth.read_text().split("\n") if "spin_kernel" in line]
        of_stream = Counter(k[3] for k in kernels).values()
        check_equal(f"{shape}: kernels, streams and nodes", (len(kernels), len(of_stream), len({k[4] for k in kernels})), (600, streams, nodes))
        check(f"{shape}: streams have as many each", max(of_stream, default=9) - min(of_stream, default=0) <= 2, of_stream)
        check_equal(f"{shape}: what it says", (printed["launched"], printed["seen"]), (600, 600))
    for once, scopes in (([], "600 scopes"), (["once"], "1 scope")):
        report = start([build / "overhead", "10", "500", "plain", *once], KPROF="report").stdout
        check(f"there is a guard around each launch, or one: {scopes}", f" · {scopes}\n" in report, report[:200])


def whole(folder):
    status, printed, rows, table = overhead(folder, "--rounds", "2", "--cycles-per-us", "1980", torch=TORCH, proton=PROTON)
    check_equal("it ends well", status, 0)
    wanted = [(shape, length, name) for shape in ("plain", "streams", "graph") for length in (2, 10, 100) for name in PROGRAMS + PEERS]
    wanted += [("python", length, name) for length in (2, 10) for name in PEERS]
    check_equal("everything is run", [(r["launched"], r["kernel_us"], r["variant"]) for r in rows], wanted)
    check("every variant runs in each round", all(len(r["runs"]) == 2 for r in rows))
    check("cycles are those of the option", all(r["cycles"] == r["kernel_us"] * 1980 for r in rows))
    check("kernels of 100 us are fewer", all(r["kernels"] == KERNELS[r["kernel_us"]] for r in rows))
    launched = {(r["kernels"], r["launched"] == "python", run["launched"]) for r in rows for run in r["runs"]}
    check_equal("those that warm up are counted", launched, {(500, False, 600), (100, False, 200), (500, True, 550)})
    seen = {name: {run["seen"] - (run["launched"] if name.startswith("kprof") else 0) for r in rows if r["variant"] == name for run in r["runs"]}
            for name in PROGRAMS}
    check_equal("kprof sees all; without it there is nothing to see", seen, {name: {0} for name in PROGRAMS})
    checks = lines_with(printed, "PASS overhead: every kernel is recorded, ")
    check_equal("every check passes", (len(checks), lines_with(printed, "FAIL"), lines_with(printed, "SKIP")), (18, [], []))
    for heading in ("one by one on one stream", "on eight streams in turn", "graphs of 100 kernels", "from a loop in Python"):
        check(f"there is a table: {heading}", len(re.findall(rf"^## Launched .*{heading}", table, re.MULTILINE)) == 1)
    check_equal("the tables have all rows", len(lines_with(table, "| 500 of ")) + len(lines_with(table, "| 100 of ")), len(wanted))
    check("the versions are told", all(text in table for text in ("- PyTorch of a test", "- Triton of a test", "- CUPTI 13")))
    check_equal("two runs are no spread", {bool(r[key]) for r in rows for key in ("clear_total_ns", "clear_launch_ns")}, {False})
    others_see(rows, table)


def others_see(rows, table):
    seen = {(r["launched"], r["kernel_us"], r["variant"]): {run["seen"] for run in r["runs"]} for r in rows}
    check_equal("one record_function is around the loop", seen["plain", 2, "torch.profiler"], {599})
    check_equal("one is around each launch of a loop in Python", seen["python", 2, "torch.profiler"], {550})
    check_equal("Proton's tree is summed up", seen["graph", 10, "Proton"], {600})
    check("the table tells that kernels are missing", "| **599 of 600** |" in table)
    for name, number in (("torch.profiler", 550), ("Proton", 600)):
        check(f"the table tells that none is missing, {name}", bool(re.search(rf"\| {name} \|.*\| all {number} \|", table)))


def absent(folder):
    status, printed, rows, table = overhead(folder, "--rounds", "1", proton=PROTON.replace("return name", "raise RuntimeError('no luck')"))
    check_equal("without other profilers it ends well", status, 0)
    check("cycles are measured without the option", all(r["cycles"] > 0 for r in rows))
    check("what is not installed is told", "SKIP overhead: torch.profiler: there is none" in printed and "torch.profiler has no runs" in table)
    for text, start_of_line, end in ((printed, "SKIP overhead: Proton: ", ""), (table, "Proton has no runs", ".")):
        told = lines_with(text, start_of_line)
        check(f"what fails is told, {start_of_line}", len(told) == 1 and told[0].endswith("it ended with 1: RuntimeError: no luck" + end), told)
    check_equal("and has no rows", {r["variant"] for r in rows}, {*PROGRAMS, "bare in Python"})


def time_is_limited(folder):
    _, _, rows, _ = overhead(folder, "--rounds", "3", "--seconds", "0", "--cycles-per-us", "1980")
    check_equal("one round is run however little time there is", {len(r["runs"]) for r in rows}, {1})


def dropped(folder):
    status, printed, rows, _ = overhead(folder, "--rounds", "1", "--cycles-per-us", "1980", SCRIPTED_DROP="7")
    check_equal("records that are dropped fail", status, 1)
    told = lines_with(printed, "FAIL overhead: every kernel is recorded, plain, 2 us")
    check("and are told", len(told) == 2 and all(re.search(r": \d+ of 600, [1-9]\d* dropped", line) for line in told), told)


def broken(folder):
    status, printed, _, table = overhead(folder, "--rounds", "1", "--cycles-per-us", "1980", SCRIPTED_NO_DRIVER="1")
    check_equal("a program that fails fails", status, 1)
    check("and is told", bool(re.search(r"^FAIL overhead: it is measured: .*overhead_bare.* ended with 1: overhead: ", printed, re.MULTILINE)))
    check_equal("and there is no table", table, "")


def no_library(folder):
    programs = folder / "programs"
    programs.mkdir()
    for name in ("overhead", "overhead_bare"):
        (programs / name).symlink_to(build / name)
    status, printed, rows, _ = overhead(folder, "--rounds", "1", "--cycles-per-us", "1980", torch=TORCH, proton=PROTON, programs=programs)
    check_equal("without libspin.so kprof is measured", (status, {r["variant"] for r in rows}), (0, set(PROGRAMS)))
    check_equal("and that is told", lines_with(printed, "SKIP"), [f"SKIP overhead: {name}: there is no libspin.so" for name in PEERS])
    (programs / "libspin.so").write_text("no library")
    status, printed, _, _ = overhead(folder / "again", "--rounds", "1", "--cycles-per-us", "1980", programs=programs)
    check("a broken libspin.so fails", status == 1 and bool(lines_with(printed, "FAIL overhead: it is measured: bare in Python: ")), printed)


def spreads(folder):
    """What is below the spread, of runs made up."""
    import overhead as it

    def rows(bare, kprof, **others):
        variants = {"bare": bare, "kprof": kprof, **others}
        runs = {(0, name): [{"total_ns": ns, "launch_ns": 1, "end_ms": 0} for ns in of] for name, of in variants.items()}
        return it.rows_of([{"launched": "plain", "kernel_us": 2, "cycles": 1, "kernels": 9}], runs)

    apart, over, few = rows([10, 11, 12], [13, 15, 14]), rows([10, 11, 12], [12, 15, 14]), rows([10, 11], [13, 14])
    check_equal("medians, and the smallest and largest", it.spread(apart[1], "total_ns"), "14 (13..15)")
    check_equal("a difference beyond the spread", it.more(apart[1], "total_ns", True), "+3 (+27.3 %)")
    check_equal("a difference below it", it.more(over[1], "total_ns", True), "~+3 (+27.3 %)")
    check_equal("less, beyond the spread", it.more(rows([13, 14, 15], [10, 11, 12])[1], "total_ns", True), "-3 (-21.4 %)")
    check_equal("too few runs for a spread", it.more(few[1], "total_ns", False), "~+3")
    peers = rows([10], [11], **{"bare in Python": [20], "Proton": [22]})
    check_equal("what runs in Python is compared with what is bare there", it.more(peers[3], "total_ns", False), "~+2")
    check_equal("bare is compared with nothing", it.more(apart[0], "total_ns", True), "")


for test in (shapes, whole, absent, time_is_limited, dropped, broken, no_library, spreads):
    with tempfile.TemporaryDirectory() as folder:
        test(pathlib.Path(folder))
sys.exit(1 if failed else 0)
