#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens collapsed stacks in gprof2dot, callgrind files in callgrind_annotate and gprof2dot, and
pprof files in go tool pprof, and compares sums with the profiles: check_stacks.py FOLDER
"""

import os
import pathlib
import re
import subprocess
import sys

import saved

GPROF2DOT = pathlib.Path(sys.executable).parent / "gprof2dot"


def output(*command, text=None):
    r = subprocess.run(
        list(map(str, command)),
        input=text,
        capture_output=True,
        text=True,
        env={**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod"},
    )
    said = [s for s in r.stderr.splitlines() if "Main binary filename" not in s]
    if r.returncode != 0 or (said and command[0] != "go"):
        raise SystemExit(f"FAIL: {command}: {r.stderr}")
    return r.stdout


def near(what, seen, wanted, most):
    if abs(seen - wanted) > most:
        raise SystemExit(f"FAIL: {what}: the client has {seen}, the profile {wanted}")
    print(f"{what}: {seen}, the profile has {wanted:.0f}")


def drawn(form, file):
    """Nodes that gprof2dot and dot draw."""
    dot = output(GPROF2DOT, "-n", "0", "-e", "0", "-f", form, file)
    nodes = output("dot", "-Tsvg", text=dot).count('class="node"')
    if nodes == 0:
        raise SystemExit(f"FAIL: gprof2dot draws nothing of {file}")
    print(f"{file.name}: {nodes} nodes drawn")


def check_folded(folder, run, host_ns, device_ns, nodes):
    for file, wanted in ((f"{run}.folded", host_ns), (f"{run}.device.folded", device_ns)):
        lines = (folder / file).read_text().splitlines()
        for line in lines:
            if not re.fullmatch(r"[^;]+(;[^;]+)* \d+", line):
                raise SystemExit(f"FAIL: {file}: {line!r}")
        near(f"{file}", sum(int(line.rsplit(" ", 1)[1]) for line in lines), wanted, nodes)
        if lines:
            drawn("collapse", folder / file)


def check_callgrind(folder, run, profile, host_ns, device_ns, nodes):
    file = folder / f"{run}.callgrind"
    said = output("callgrind_annotate", "--threshold=100", "--auto=no", "--tree=calling", file)
    if "WARNING" in said:
        raise SystemExit(f"FAIL: {said}")
    totals = re.search(r"^(.*)PROGRAM TOTALS", said, re.M)[1]
    values = [int(v.replace(",", "")) for v in re.sub(r"\(.*?\)", "", totals).split()]
    near("callgrind, host", values[0], host_ns, nodes)
    near("callgrind, devices", values[1], device_ns, nodes)
    lines = file.read_text().splitlines()
    without = folder / f"{run}.without.callgrind"
    without.write_text("\n".join(x for x in lines if not x.startswith("totals")) + "\n")
    again = output("callgrind_annotate", "--threshold=100", "--auto=no", without)
    if re.search(r"^(.*)PROGRAM TOTALS", again, re.M)[1] != totals:
        raise SystemExit(f"FAIL: totals are not the sum of the lines: {again}")
    for name in {n["name"] for n in profile.nodes if n.get("kind") == "op" and n.get("calls")}:
        if f":{name}" not in said:
            raise SystemExit(f"FAIL: no function {name}: {said}")
    drawn("callgrind", file)


def check_pprof(folder, run, profile, host_ns, device_ns, nodes):
    file = folder / f"{run}.pb.gz"
    for kind, wanted in (("time", host_ns), ("device", device_ns)):
        said = output("go", "tool", "pprof", f"-sample_index={kind}", "-unit=ns",
                      "-nodefraction=0", "-top", file)
        total = re.search(r"of ([\d.e+]+)(?:ns)? total", said)
        near(f"pprof, {kind}", float(total[1]) if total else 0, wanted, nodes)
    if profile.operators():
        tags = output("go", "tool", "pprof", "-tags", file)
        if "dtype: Total" not in tags and " dtype" not in tags:
            raise SystemExit(f"FAIL: no label dtype: {tags}")
    diff = output("go", "tool", "pprof", "-unit=ns", "-top", f"-diff_base={file}", file)
    if not re.search(r"Showing nodes accounting for 0", diff):
        raise SystemExit(f"FAIL: a profile differs from itself: {diff}")
    print("pprof: no difference from itself")


def main():
    folder = pathlib.Path(sys.argv[1])
    for run in ("resnet50", "training"):
        print(f"-- {run}")
        profile = saved.Profile(folder / f"{run}.saved.json")
        host_ns = sum(n.get("self_ns", 0) for n in profile.nodes)
        device_ns = sum(w.get("total_ns", 0) for w in profile.work)
        sums = (host_ns, device_ns, len(profile.nodes))
        check_folded(folder, run, *sums)
        check_callgrind(folder, run, profile, *sums)
        check_pprof(folder, run, profile, *sums)


main()
