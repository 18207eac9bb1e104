#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lets each call that kprof makes of CUPTI and of the driver fail: check_failures.py PROGRAM CUPTI
MISSING NOT_CUPTI

The libraries are those of check_programs.py. Each call fails always, the first time only, and from
the middle of a run on; with SHORT in the environment, always only. The program must end as it does
otherwise, and the report must have all work, or say that some is missing.
"""

import collections
import concurrent.futures
import os
import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True
from programs import check, failures, numbers, run

# What the second recording of the program does, by the path of the launching scope.
DONE = {
    "Op n=1: _Z6kernelPf": 3,
    "Op n=2: copy": 3,
    "Op n=4/graph/Op n=3: _Z6kernelPf": 4,
    "Op n=4/graph/Op n=7: _Z6kernelPf": 2,
    "Op n=5: _Z6kernelPf": 1,
    ": _Z6kernelPf": 1,
}
RECORDS, LATER_RECORDS = sum(DONE.values()), 2
LAUNCHES = 11
# Kernels that still run when the report is made, and a version that the report has no note about.
FIRST = {"KERNEL_US": 2000, "VERSION": 130200}


def calls():
    """The functions that kprof looks up in libcupti and libcuda, by the headers that name them."""
    root = pathlib.Path(__file__).parents[2] / "include/kprof"
    named = collections.defaultdict(set)
    for room in ("collect", "machine"):
        for header in (root / room).glob("*.hpp"):
            text = re.sub("//.*", "", header.read_text())
            if "dlsym(" in text or " find(driver" in text:
                for name in re.findall(r'"(cu(?:pti)?[A-Z]\w+)"', text):
                    named[name].add(room)
    return named


# What the report says where these always fail.
TOLD = {
    "cuptiGetTimestamp": "does not tell the time",
    "cuptiActivityGetNumDroppedRecords": "how many records it has dropped",
    "cuptiUnsubscribe": "did not end kprof's subscription",
    "cuptiGetGraphNodeId": "nodes of graphs",
}


# Where these always fail, kprof asks to be CUPTI's only client.
FALL_BACK = {"cuptiSubscribe_v2", "cuptiActivityRegisterCallbacks_v2", "cuptiActivityEnable_v2"}


def conditions(name, rooms):
    """What it takes for kprof to make the call."""
    switches = dict(FIRST)
    if name.startswith("cupti") and name.endswith("_v2"):
        switches["VERSION"] = 130400
    if "EnableRuntimeApi" in name or "EnableDriverApi" in name:
        switches["CORRELATION"] = "api"
    if "NumDroppedRecords" in name:
        switches["DROP"] = 3
    if name == "cuptiGetTimestamp":
        switches["CLOCK"] = "monotonic"
    if name == "cuptiGetResultString":
        switches["BUSY"] = 1
    if name == "cuGetErrorName":
        switches["NO_DRIVER"] = 1
    kprof = "report(details)"
    if "collect" not in rooms:
        kprof += ",ceilings=measure"
    return kprof, switches


def complaint(r, switches):
    """What is wrong with a run; "" if nothing is."""
    if r.returncode != 7:
        return f"it ends with {r.returncode}"
    if "misuse" in r.stdout + r.stderr or "terminate" in r.stderr:
        return "it misuses CUDA"
    found = numbers(r)
    report = " ".join(re.split(r"^did \d+$", r.stdout + r.stderr, flags=re.M)[-1].split())
    if "kprof" not in report:
        return "there is no report"
    if "NO_DRIVER" not in switches and "captured cudaSuccess" not in r.stdout:
        return "a capture of the program's is broken"
    if re.search(r"[1-9]\d* unaccounted", report):
        return "the report does not add up"
    complete = re.search(r"Complete: nothing was lost of \S+ scopes(?: and (\S+) records)?", report)
    if "collecting 1" not in r.stdout:
        state = re.search(r"^state (.+)", r.stdout, re.M)
        if not state or state[1][:40] not in report:
            return "it does not say why it collects nothing"
        return ""
    if complete and int(complete[1] or 0) != RECORDS + LATER_RECORDS:
        return f"the report calls {complete[1]} records complete"
    if found["did"] != RECORDS:
        return f"the program did {found['did']}, not {RECORDS}"
    if found["launches"] != found["attributed"] + found["outside"] + found["open"]:
        return "launches do not add up"
    work = collections.Counter()
    for line in found.get("work", []):
        where, count = re.fullmatch(r"(.*) (\d+) (?:un)?timed", line).groups()
        work[where] += int(count)
    if sum(work.values()) != found["records"]:
        return "records do not add up"
    notes = " ".join(found.get("notes", []))
    graphs = "nodes of graphs" in notes  # whose rates may be wrong
    doubts = found["dropped"] or found["cut"] or "CUPTI" in notes
    if found["records"] + found["dropped"] < RECORDS and not (doubts or found["open"]):
        return "records are missing without a word"
    if found["launches"] < LAUNCHES and not (found["unknown"] or "CUPTI" in notes):
        return "launches are missing without a word"
    for where, count in work.items():
        if where not in DONE and not where.startswith("unknown") and not found["foreign_graphs"]:
            return f"work of a wrong owner: {where}"
        if where in DONE and count > DONE[where] and not (found["foreign_graphs"] or graphs):
            return f"too much work: {where}"
    for where, count in DONE.items():
        n = where.split(":")[0].rsplit("/", 1)[-1].removeprefix("Op ")
        may_be_known = n == "" or (graphs and "graph" in where) or work[where] == count
        if not may_be_known and found.get("rates", {}).get(n) == "known":
            return f"a rate of {n}, whose work is not all there"
    return ""


def try_call(name, rooms):
    kprof, switches = conditions(name, rooms)
    out = []
    whiches = [name] if "SHORT" in os.environ else [f"{name}:1-1", name]
    for which in whiches:
        r = run("works_in_every_way", kprof=kprof, FAIL=which, **switches)
        # How often kprof reads buffers depends on time, so the middle of one run may lie behind the
        # end of the next.
        first = int(re.search(r":(\d+)", which + ":1")[1])
        if which == f"{name}:1-1":
            whiches += [f"{name}:{r.calls // 2 + 1}"] if r.calls > 1 else []
            if "GraphNodeId" in name:  # the last ones are of an update
                whiches += [f"{name}:{n}-{n}" for n in range(2, r.calls + 1)]
        if r.calls == 0 or (r.made_to_fail == 0 and r.calls >= first):
            out.append((which, "kprof does not make this call", r))
        out.append((which, complaint(r, switches), r))
        said = " ".join(numbers(r).get("notes", []))
        if which == name and name in FALL_BACK and "collecting 1" not in r.stdout:
            out.append((which, "kprof does not collect by the other set of calls", r))
        if which == name and TOLD.get(name.removesuffix("_v2"), "") not in said:
            out.append((which, "the report does not say so", r))
    return out


if __name__ == "__main__":
    folder = tempfile.TemporaryDirectory()
    os.environ["XDG_CACHE_HOME"] = folder.name  # where measured ceilings are kept
    only = os.environ.get("ONLY")
    wanted = {n: rooms for n, rooms in calls().items() if not only or re.fullmatch(only, n)}
    if not only:
        assert len(wanted) > 40, wanted
        r = run("works_in_every_way", kprof="report(details)", **FIRST)
        found = numbers(r)
        holds = complaint(r, {}) == "" and found["records"] == RECORDS and "notes" not in found
        check("nothing fails", holds, r)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for result in pool.map(try_call, wanted, wanted.values()):
            for which, wrong, r in result:
                check(f"{which} fails: {wrong}", wrong == "", r)
    folder.cleanup()
    print(f"{len(wanted)} calls, {len(failures)} failures")
    sys.exit(1 if failures else 0)
