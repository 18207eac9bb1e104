#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens files of the output hatchet in Hatchet and in proton-viewer, and compares sums, rates and
the utilisation of the roofline with the profiles: check_hatchet.py FOLDER
"""

import json
import math
import pathlib
import subprocess
import sys

import hatchet

import saved

VIEWER = pathlib.Path(sys.executable).parent / "proton-viewer"


def near(what, seen, wanted, share):
    if not abs(seen - wanted) <= share * abs(wanted):
        raise SystemExit(f"FAIL: {what}: the client has {seen}, the profile {wanted}")
    print(f"{what}: {seen:.6g}, the profile has {wanted:.6g}")


def viewed(metric, file, *options):
    """The number and the name in each line that proton-viewer prints."""
    command = [VIEWER, "-m", metric, *options, file]
    r = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if r.returncode != 0:
        raise SystemExit(f"FAIL: {command}: {r.stderr}")
    lines = [line.lstrip("│├└─ ").split(" ", 1) for line in r.stdout.splitlines()]
    return [(float(line[0]), line[1]) for line in lines if len(line) == 2]


def sums_of(profile):
    """Time, FLOPs and bytes of the whole run; work of an operator in another one counts once."""
    device_ns = sum(w["total_ns"] for w in profile.work)
    host_ns = sum(n.get("self_ns", 0) for n in profile.nodes)
    flops = 0
    for n in profile.nodes:
        around = n.get("parent")
        while around is not None and profile.nodes[around].get("kind") != "op":
            around = profile.nodes[around].get("parent")
        if n.get("kind") == "op" and around is None:
            calls = n.get("calls", 0) - n.get("captured", 0) + n.get("replays", 0)
            flops += calls * n.get("work", {}).get("flops", 0)
    return {"time (ns)": device_ns or host_ns, "cpu_time (ns)": host_ns, "flops": flops}


def number(value):
    return 0 if math.isnan(value) else value


def check_utilisation(file, profile, frame):
    """The viewer's utilisation of each operator, and the same from the numbers in the profile."""
    device = profile.device["devices"][0]
    # What the viewer takes for the highest rate of f8: that of an H100 PCIe, scaled.
    f8_peak = device["multiprocessors"] / 114 * device["clock_hz"] / 1.755e9 * 1513e12
    rows = frame.dataframe[frame.dataframe["device_id"].notna()]
    wanted = []
    for _, row in rows.iterrows():
        seconds = number(row["bytes"]) / device["memory_bytes_per_s"]
        flops_seconds = sum(
            number(row.get(f"flops{width}", 0)) * width / 8 / f8_peak for width in (8, 16, 32, 64)
        )
        wanted.append((max(seconds, flops_seconds) / row["time (ns) (inc)"] * 1e9, row["name"]))
    seen = [line for line in viewed("util", file) if not math.isnan(line[0])]
    if not seen or len(seen) != len(wanted):
        raise SystemExit(f"FAIL: {len(seen)} nodes have a utilisation, not {len(wanted)}")
    for (value, name), (least, of) in zip(sorted(seen, key=by_name), sorted(wanted, key=by_name)):
        if name != of or abs(value - least) > 0.00051:
            raise SystemExit(f"FAIL: {name}: utilisation {value}, not {least} as {of}")
        print(f"util of {name}: {value}")


def by_name(line):
    return line[1], line[0]


def main():
    folder = pathlib.Path(sys.argv[1])
    for run in ("resnet50", "training"):
        print(f"-- {run}")
        profile = saved.Profile(folder / f"{run}.saved.json")
        file = folder / f"{run}.hatchet"
        frame = hatchet.GraphFrame.from_literal(json.loads(file.read_text())[:1])
        frame.update_inclusive_columns()
        root = frame.dataframe.iloc[0]
        sums = sums_of(profile)
        for metric, wanted in sums.items():
            near(f"Hatchet, {metric}", root[f"{metric} (inc)"], wanted, 1e-6)
        print(f"{len(frame.dataframe)} nodes")
        rates = {
            "time/us": sums["time (ns)"] / 1e3,
            "cpu_time/us": sums["cpu_time (ns)"] / 1e3,
            "gflop/s": sums["flops"] / sums["time (ns)"],
        }
        for metric, wanted in rates.items():
            lines = viewed(metric, file)
            near(f"proton-viewer, {metric}", lines[0][0], wanted, 1e-3)
            if len(lines) != len(frame.dataframe):
                raise SystemExit(f"FAIL: proton-viewer shows {len(lines)} nodes")
        if any(value != 0 for value, _ in viewed("time/us", file, "-diff", file)):
            raise SystemExit("FAIL: a profile differs from itself")
        print("no difference from itself")
        if profile.work:
            check_utilisation(file, profile, frame)


main()
