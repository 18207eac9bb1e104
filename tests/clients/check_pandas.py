#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the Python of docs/saved_profiles.md on saved profiles: check_pandas.py FILES PAGE KPROF

What pandas finds is compared with sums made by hand.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def fail(what):
    raise SystemExit(f"FAIL: {what}")


def blocks(page):
    found = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    if len(found) < 2:
        fail(f"{page} has {len(found)} blocks of Python")
    return found


def own_sums(run):
    sums = {}
    for node in run["nodes"]:
        if node.get("kind") == "op":
            calls, ns = sums.get(node["name"], (0, 0))
            sums[node["name"]] = (calls + node.get("calls", 0), ns + node.get("self_ns", 0))
    return sums


def check(name, saved, page):
    run = json.loads(saved.read_text())
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(saved, os.path.join(folder, "run.json"))
        shutil.copy(page.parent / "saved_profile.schema.json", folder)
        os.chdir(folder)
        found = {}
        for block in blocks(page):
            exec(compile(block, str(page), "exec"), found)
        answer = json.loads(subprocess.check_output(["kprof", "query", "run.json", "rows"]))
        os.chdir("/")
    wanted = own_sums(run)
    operators = found["operators"]
    if len(operators) != len(wanted):
        fail(f"{name}: {len(operators)} operators, not {len(wanted)}")
    for op, (calls, ns) in wanted.items():
        seen = operators.loc[op]
        if seen["calls"] != calls or abs(seen["self_ns"] - ns) > 1e-9 * ns:
            fail(f"{name}: {op} is {seen}, not {calls} calls, {ns} ns")
    if len(found["scopes"]) != len(run["timeline"]["rows"]):
        fail(f"{name}: {len(found['scopes'])} scopes")
    rows = found["rows"]
    if list(rows["key"]) != [row["key"] for row in answer["rows"]] or rows["calls"].sum() < 1:
        fail(f"{name}: rows {rows}")
    print(f"{name}: {len(operators)} operators, {len(rows)} rows")


def main():
    files, page, kprof = (pathlib.Path(a).resolve() for a in sys.argv[1:])
    os.environ["PATH"] = f"{kprof.parent}{os.pathsep}{os.environ['PATH']}"
    for name in ("resnet50", "training"):
        check(name, files / f"{name}.saved.json", page)


main()
