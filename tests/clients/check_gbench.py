#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens files of the output gbench in Google Benchmark's compare.py, and compares times with the
profiles: check_gbench.py FOLDER [COMPARE]
"""

import json
import pathlib
import re
import subprocess
import sys

import saved

COMPARE = sys.argv[2] if len(sys.argv) > 2 else "/usr/share/benchmark/compare.py"


def compare(old, new):
    """What compare.py says of each row, by its name; the printed table has the same rows."""
    dump = new.with_suffix(".difference")
    command = [sys.executable, COMPARE, "--no-color", "-d", dump, "benchmarks", old, new]
    r = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if r.returncode != 0 or r.stderr:
        raise SystemExit(f"FAIL: {command}: {r.stderr}")
    rows = {row["name"]: row["measurements"] for row in json.loads(dump.read_text())}
    for name in rows:
        if f"\n{name} " not in r.stdout:
            raise SystemExit(f"FAIL: the table lacks {name}: {r.stdout}")
    return rows


def near(what, seen, wanted, share=1e-6):
    if abs(seen - wanted) > share * abs(wanted):
        raise SystemExit(f"FAIL: {what}: the client has {seen}, the profile {wanted}")
    print(f"{what}: {seen:.0f}, the profile has {wanted:.0f}")


def host_times(profile):
    """Time of the calls of each operator."""
    sums = {}
    for n in profile.nodes:
        if n.get("kind") == "op":
            sums[n["name"]] = sums.get(n["name"], 0) + n.get("total_ns", 0)
    return sums


def device_times(profile):
    """Time of the work that each operator launched itself."""
    sums = {}
    for work in profile.work:
        node = work.get("scope")
        while node is not None and profile.nodes[node].get("kind") != "op":
            node = profile.nodes[node].get("parent")
        if node is not None:
            name = profile.nodes[node]["name"]
            sums[name] = sums.get(name, 0) + work["total_ns"]
    return sums


def main():
    folder = pathlib.Path(sys.argv[1])
    for run in ("resnet50", "training"):
        print(f"-- {run}")
        profile = saved.Profile(folder / f"{run}.saved.json")
        file = folder / f"{run}.gbench.json"
        whole = json.loads(file.read_text())
        calls = {b["name"]: b["iterations"] for b in whole["benchmarks"]}
        same = compare(file, file)
        if set(same) != set(calls) | {"OVERALL_GEOMEAN"} or len(calls) != len(whole["benchmarks"]):
            raise SystemExit(f"FAIL: compare.py has the rows {list(same)}, the file {list(calls)}")
        host, device = {}, {}
        for name, (m,) in same.items():
            if m["time"] != 0 or m["cpu"] != 0:
                raise SystemExit(f"FAIL: {name} differs from itself: {m}")
            if name not in calls:
                continue
            sums = device if name.endswith("/device") else host
            op = re.match(r"[^/]*", name)[0]
            sums[op] = sums.get(op, 0) + m["real_time"] * calls[name]
        for sums, wanted in ((host, host_times(profile)), (device, device_times(profile))):
            for op, ns in sums.items():
                near(op, ns, wanted[op])
        print(f"{len(calls)} rows, none differs from itself")

        changed = file.with_suffix(".slower.json")
        for b in whole["benchmarks"]:
            b["real_time"] *= 1.25
        changed.write_text(json.dumps(whole))
        for name, (m,) in compare(file, changed).items():
            if abs(m["time"] - 0.25) > 1e-9 or abs(m["cpu"]) > 1e-9:
                raise SystemExit(f"FAIL: {name} got slower by a quarter, and the client has {m}")
        print("a quarter more is a quarter more")


main()
