#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What kprof costs a program that launches kernels, as a table: overhead.py --build FOLDER --out FOLDER [--long]

The same loop is run without kprof (compiled out), with idle guards (KPROF=off), with scopes only (KPROF=cupti=off) and with
the device's work collected, one after another and many times over; the table shows medians. Where PyTorch is there, its
profiler is measured in the same way on a loop of its own. Writes overhead.md and overhead.json.
"""

import argparse
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import time

VARIANTS = [   # name, program, what is set in the environment
    ("bare", "overhead_bare", {}),
    ("idle guards", "overhead", {"KPROF": "off"}),
    ("scopes only", "overhead", {"KPROF": "cupti=off"}),
    ("kprof", "overhead", {}),
]
LENGTHS_US = (2, 10, 100)
# What `nvidia-smi -q` says of interest.
ALONE = {"Driver Version", "CUDA Version", "Product Name", "Persistence Mode", "Performance State", "Compute Mode"}
IN_SECTIONS = {"mig mode/current", "ecc mode/current", "clocks/sm", "clocks/memory", "max clocks/sm", "max clocks/memory", "applications clocks/graphics",
               "gpu power readings/current power limit"}


def run(command, environment=None, timeout=120):
    env = {k: v for k, v in os.environ.items() if k != "KPROF"} | (environment or {})
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=timeout)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout.strip().split("\n")[-1]


def machine():
    """Lines that say what was measured on."""
    lines = []
    try:
        text = subprocess.run(["nvidia-smi", "-q", "-i", "0"], capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired):
        text = ""
    section = ""
    for line in text.split("\n"):
        key, colon, value = (part.strip() for part in line.partition(" : "))
        if not colon:
            section = key   # "Clocks", for instance; what has no section of interest is found by its key alone
        elif key in ALONE:
            lines.append(f"{key}: {value}")
        elif f"{section}/{key}".lower() in IN_SECTIONS:
            lines.append(f"{section}, {key}: {value}")
    if not lines:
        lines.append("nvidia-smi tells nothing")
    try:
        model = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        lines.append(f"Processor: {model[1] if model else platform.machine()}, {os.cpu_count()} CPUs")
    except OSError:
        pass
    lines.append(f"Kernel: {platform.release()}")
    return lines


def median(runs, key):
    return statistics.median(r[key] for r in runs)


def measure(build, repeats, kernels, cycles_per_us):
    results = []
    for shape in ("plain", "graph"):
        for length in LENGTHS_US:
            cycles = round(length * cycles_per_us)
            n = max(1000, round(kernels * min(1, 10 / length)))
            runs = {name: [] for name, _, _ in VARIANTS}
            for _ in range(repeats):
                for name, program, environment in VARIANTS:   # in turn, so that a drift of clocks meets all alike
                    runs[name].append(json.loads(run([build / program, str(cycles), str(n), shape], environment)))
            base = median(runs["bare"], "total_ns"), median(runs["bare"], "launch_ns")
            for name in runs:
                results.append({"kernel_us": length, "launched": shape, "variant": name, "kernels": n,
                                "total_ns": median(runs[name], "total_ns"), "launch_ns": median(runs[name], "launch_ns"),
                                "more_total_ns": median(runs[name], "total_ns") - base[0], "more_launch_ns": median(runs[name], "launch_ns") - base[1],
                                "snapshot_ms": median(runs[name], "snapshot_ms"), "records": median(runs[name], "records"),
                                "dropped": max(r["dropped"] for r in runs[name]), "memory": max(r["memory"] for r in runs[name]), "state": runs[name][-1]["state"]})
    return results


TORCH_VARIANTS = ("bare", "torch.profiler")


def torch_child(cycles, kernels, shape, profiled):
    """In a process of its own: one loop, with or without PyTorch's profiler."""
    import torch
    from torch.profiler import ProfilerActivity, profile
    nodes = 100
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(cycles)
        graph = None
        if shape == "graph":
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                for _ in range(nodes):
                    torch.cuda._sleep(cycles)

        def loop(n):
            if graph is None:
                for _ in range(n):
                    torch.cuda._sleep(cycles)
            else:
                for _ in range(n // nodes):
                    graph.replay()

        def timed():
            loop(kernels // 10 // nodes * nodes + nodes)
            torch.cuda.synchronize()
            begin = time.perf_counter()
            loop(kernels)
            launched = time.perf_counter()
            torch.cuda.synchronize()
            return begin, launched, time.perf_counter()

        if profiled:
            with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):
                begin, launched, done = timed()
            ended = time.perf_counter()
        else:
            begin, launched, done = timed()
            ended = done
    print(json.dumps({"launch_ns": (launched - begin) * 1e9 / kernels, "total_ns": (done - begin) * 1e9 / kernels, "snapshot_ms": (ended - done) * 1e3}))


def measure_torch(repeats, kernels, cycles_per_us):
    try:
        import torch
        if not torch.cuda.is_available():
            return [], "PyTorch sees no GPU"
        version = f"PyTorch {torch.__version__}"
    except ImportError:
        return [], "PyTorch is not installed"
    results = []
    for shape in ("plain", "graph"):
        for length in LENGTHS_US:
            cycles = round(length * cycles_per_us)
            n = max(1000, round(kernels * min(1, 10 / length))) // 100 * 100
            runs = {name: [] for name in TORCH_VARIANTS}
            for _ in range(repeats):
                for name in TORCH_VARIANTS:
                    runs[name].append(json.loads(run([sys.executable, __file__, "--torch-child", str(cycles), str(n), shape, name], timeout=300)))
            for name in runs:
                results.append({"kernel_us": length, "launched": shape, "variant": name, "kernels": n,
                                **{key: median(runs[name], key) for key in ("total_ns", "launch_ns", "snapshot_ms")},
                                "more_total_ns": median(runs[name], "total_ns") - median(runs["bare"], "total_ns"),
                                "more_launch_ns": median(runs[name], "launch_ns") - median(runs["bare"], "launch_ns")})
    return results, version


def table(results, last_column):
    lines = ["| launched | kernel | variant | ns a kernel | more | ns to launch | more | " + last_column + " |", "|---|---:|---|---:|---:|---:|---:|---:|"]
    for r in results:
        percent = 100 * r["more_total_ns"] / (r["total_ns"] - r["more_total_ns"])
        lines.append(f"| {r['launched']} | {r['kernel_us']} µs | {r['variant']} | {r['total_ns']:.0f} | {r['more_total_ns']:+.0f} ({percent:+.1f} %) "
                     f"| {r['launch_ns']:.0f} | {r['more_launch_ns']:+.0f} | {r['snapshot_ms']:.1f} |")
    return lines


def main():
    if sys.argv[1:2] == ["--torch-child"]:
        cycles, kernels, shape, name = sys.argv[2:6]
        return torch_child(int(cycles), int(kernels), shape, name != "bare")
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--long", action="store_true")
    options = parser.parse_args()
    repeats, kernels = (9, 200_000) if options.long else (5, 50_000)
    cycles_per_us = float(run([options.build / "overhead_bare", "--calibrate"]))
    results = measure(options.build, repeats, kernels, cycles_per_us)
    torch_results, torch_version = measure_torch(max(1, repeats // 2), kernels // 5, cycles_per_us)

    lines = ["# What kprof costs a program that launches kernels", "", *(f"- {line}" for line in machine()), f"- {results[-1]['state']}", "",
             f"Medians of {repeats} runs. \"ns a kernel\" is the loop with its final wait, divided by its kernels; \"ns to launch\" is the host's part of it,",
             "which a full queue can hold up. \"more\" is against the same loop without guards.", "", *table(results, "snapshot, ms"), ""]
    if torch_results:
        lines += [f"{torch_version}'s profiler, on the same loop in Python:", "", *table(torch_results, "end of profile, ms"), ""]
    else:
        lines += [f"{torch_version}: its profiler is not in this table.", ""]
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "overhead.md").write_text("\n".join(lines))
    (options.out / "overhead.json").write_text(json.dumps({"machine": machine(), "kprof": results, "torch": torch_results}, indent=1) + "\n")
    print("\n".join(lines))

    def check(right, what, why=""):
        print(f"{'PASS' if right else 'FAIL'} overhead: {what}{'' if right else ': ' + why}")
        return right

    whole = True
    for r in results:
        if r["variant"] != "kprof":
            continue
        name = f"{r['launched']}, {r['kernel_us']} us"
        expected = r["kernels"] + r["kernels"] // 10 // 100 * 100 + 100
        whole = check(r["records"] == expected and r["dropped"] == 0, f"every kernel is recorded, {name}", f"{r['records']:.0f} of {expected}, {r['dropped']} dropped") and whole
    return 0 if whole else 1


sys.exit(main())
