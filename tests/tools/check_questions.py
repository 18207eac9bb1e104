#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Asks the twenty questions of docs/query.md: check_questions.py KPROF REPOSITORY

Each command of the page runs on recorded profiles, and its answer is compared with the output csv,
the report or the saved profile. Without jq the exit status is 77.
"""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import query_run

LEFT_OUT = 77
repository = pathlib.Path(sys.argv[2])
kprof = query_run.Kprof(str(pathlib.Path(sys.argv[1]).resolve()))


def questions():
    """The questions of the page and their commands, by number."""
    page = (repository / "docs/query.md").read_text()
    block = re.search(r"## Twenty questions.*?```sh\n(.*?)```", page, re.DOTALL)[1]
    found = re.split(r"^# (\d+)\. (.*)\n", block, flags=re.MULTILINE)[1:]
    return {int(n): (text, command.strip()) for n, text, command in
            zip(found[::3], found[1::3], found[2::3])}


def number(line, column):
    return None if line[column] == "" else float(line[column])


def same(a, b):
    """Equal, numbers to nine digits."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, (int, float)) and isinstance(b, (int, float)) and not isinstance(a, bool):
        return abs(a - b) <= 1e-9 * max(abs(a), abs(b))
    return a == b


class Run:
    """What the other outputs say of the profile run.json in a folder."""

    def __init__(self, folder):
        profile = str(folder / "run.json")
        self.saved = json.loads((folder / "run.json").read_text())
        self.rows = kprof.table(profile, folder, "")
        self.before = {line["key"]: line
                       for line in kprof.table(str(folder / "before.json"), folder, "")}
        self.by_op = kprof.table(profile, folder, ",by=op")
        self.kernels = kprof.table(profile, folder, ",table=kernels")
        self.steps = kprof.table(profile, folder, ",table=steps")
        self.report = " ".join(kprof.report(profile).split())
        uses_device = any(number(line, "device [ns]") for line in self.rows)
        self.time = "device [ns]" if uses_device else "self [ns]"

    def keys(self, holds):
        return {line["key"] for line in self.rows if holds(line)}

    def largest(self, column, lines=None):
        lines = self.rows if lines is None else lines
        known = [number(line, column) for line in lines if line[column] != ""]
        return max(known, default=None)

    def of(self, key, column):
        return number(next(line for line in self.rows if line["key"] == key), column)

    def sums(self, column, by, other=""):
        out = collections.defaultdict(float)
        for line in self.rows:
            out[line[by] or other] += number(line, column)
        return dict(out)

    def above(self, line, column, other, factor):
        a, b = number(line, column), number(line, other)
        return a is not None and b is not None and a > factor * b


def check_advice(run, answer):
    """The report has the same sentences in this order, each followed by its rule and what it saves
    in its first line."""
    section = run.report.split("Do first")[1].split("Operators, sorted")[0] if answer else ""
    section = re.sub(r"at most +[\d.]+ \S?s +[\d.<]+%", "", section)
    section = " ".join(section.split())
    at = 0
    for row in answer:
        at = section.find(f"{row['sentence']} [{row['id']}]", at)
        if at < 0 or not (row["gain_ns"] is None or row["gain_ns"] > 0):
            return False
        at += 1
    return section.count("[") == len(answer)


def check_steps(run, answer):
    """As the line of the report's steps has it: thread, steps, median, p99, jitter, min, max."""
    if not run.steps:
        return answer is None
    units = {"ns": 1, "\u00b5s": 1e3, "ms": 1e6, "s": 1e9}
    line = run.report.split("jitter min max first ")[1]
    median, _, _, longest = [float(value) * units[unit] for value, unit in re.findall(
        r"([\d.]+) ([nm\u00b5]?s)\b", line)[:4]]
    return all(abs(seen - shown) <= 0.01 * shown for seen, shown in (
        (answer["median_ns"], median), (answer["max_ns"], longest)))


def outside(run):
    return sum(max(0, t.get("wall_ns", 0) - t.get("in_scopes_ns", 0))
               for t in run.saved["threads"])


def biggest(run, answer, column):
    most = run.largest(column)
    return answer["key"] is None if most is None else same(run.of(answer["key"], column), most)


def spread(line):
    median = number(line, "median [ns]")
    return number(line, "p99 [ns]") / median if median else 0


def largest_share(run):
    times = sorted((number(line, run.time) for line in run.rows), reverse=True)
    return sum(times[:5]) / sum(times)


def why(line):
    return re.search(r"(?:^|; )gflops: ([^;]*)", line["not known"])[1]


EXPECTED = {
    1: lambda r, a: a is ("Complete: nothing was lost" in r.report),
    2: lambda r, a: biggest(r, a, r.time)
       and any(line["key"] == a["key"] and line["operator"] == a["operator"]
               and line["parameters"] == a["parameters"] for line in r.rows),
    3: lambda r, a: same(a, largest_share(r)),
    4: lambda r, a: same(a, {line["operator"]: number(line, "self [ns]") for line in r.by_op}),
    5: lambda r, a: same(a, {line["operator"]: number(line, "calls") for line in r.by_op}),
    6: lambda r, a: biggest(r, a, "lost [ns]") and same(a["lost_ns"], r.largest("lost [ns]")),
    7: lambda r, a: same(a, r.sums("self [ns]", "bound", "not known")),
    8: lambda r, a: set(a) == r.keys(lambda line: line["roof"] != "" and float(line["roof"]) < 0.1),
    9: lambda r, a: a == {line["key"]: why(line) for line in r.rows
                          if line["gflops [GFLOP/s]"] == ""},
    10: lambda r, a: same(a, {line["key"]: number(line, "flops [FLOP]") / number(line, "calls")
                              for line in r.rows if line["flops [FLOP]"] != ""}),
    11: lambda r, a: same(a["ratio"], max(map(spread, r.rows)))
        and any(line["key"] == a["key"] and same(spread(line), a["ratio"]) for line in r.rows),
    12: lambda r, a: set(a) == r.keys(lambda line: r.above(line, "first [ns]", "median [ns]", 10)),
    13: lambda r, a: set(a) == r.keys(lambda line: line["cpu"] != "" and float(line["cpu"]) < 0.5),
    14: lambda r, a: same(a, outside(r)),
    15: lambda r, a: same(a, {line["key"]: number(line, "total [ns]") for line in sorted(
        r.kernels, key=lambda line: -number(line, "total [ns]"))[:3]}),
    16: lambda r, a: a == sorted({line["operator"] or "none" for line in r.kernels}),
    17: check_steps,
    18: lambda r, a: a["duration_ns"] == r.largest("duration [ns]", r.steps)
        and (a["step"] is None or any(int(s["step"]) == a["step"] and number(s, "duration [ns]")
                                      == a["duration_ns"] for s in r.steps)),
    19: check_advice,
    20: lambda r, a: set(a) == r.keys(lambda line: number(line, "mean [ns]")
                                      > 1.1 * number(r.before[line["key"]], "mean [ns]")) != set(),
}


def write_before(folder):
    """An earlier run, in which calls that no threads share took half the time."""
    run = json.loads((folder / "run.json").read_text())
    for node in run["nodes"]:
        if node.get("kind") == "op" and "shared" not in node and "total_ns" in node:
            node["total_ns"] /= 2
    (folder / "before.json").write_text(json.dumps(run))


def main():
    if shutil.which("jq") is None:
        print("left out: install jq")
        sys.exit(LEFT_OUT)
    asked = questions()
    kprof.check("there are twenty questions", list(asked) == list(range(1, 21)) == list(EXPECTED),
                list(asked))
    path = os.pathsep.join([str(pathlib.Path(kprof.path).parent), os.environ["PATH"]])
    told = set()  # questions that some run has an answer to
    for recorded in ("transformer", "resnet50", "hpcg", "threads", "device"):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            shutil.copy(repository / f"tests/profiles/{recorded}.json", folder / "run.json")
            write_before(folder)
            run = Run(folder)
            for n, (text, command) in asked.items():
                done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True,
                                      text=True, timeout=60,
                                      env={**query_run.environment(), "PATH": path})
                kprof.check(f"{recorded}: {n}. {text}: runs",
                            done.returncode == 0 and done.stderr == "", done)
                answer = json.loads(done.stdout) if done.stdout else None
                kprof.check(f"{recorded}: {n}. {text}", EXPECTED[n](run, answer), done.stdout)
                told |= {n} if answer else set()
    kprof.check("each question has an answer in some run", told == set(asked), set(asked) - told)
    print("questions:", f"{len(kprof.failures)} failed" if kprof.failures else "in order")
    sys.exit(1 if kprof.failures else 0)


main()
