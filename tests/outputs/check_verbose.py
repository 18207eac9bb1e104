#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads the lines of KPROF=verbose back: check_verbose.py PROGRAM

Every call has one line, none is torn, and the parameters are those of the call.
"""

import collections
import csv
import os
import re
import resource
import struct
import subprocess
import sys
import tempfile
import time

HEADER = ("kprof_verbose,op,pass,parameters,time_ns,gflop_per_s,gbyte_per_s,flops,bytes,thread,"
          "end_ns,part").split(",")
TAGS = [b"plain", b'a "b" \\c', b"comma, n=7", b"two\nlines\r", b"\xff\x80 }", b"\xc3\xa9\xc2\x85"]
MIXED = re.compile(
    r"n=(-?\d+) x=([^ ]+) shape=\[(-?\d+),(-?\d+),(-?\d+)\] type=unknown"
    r' epilogue=\{bias=false scale=([^ ]+)\} tag="((?:[^"\\]|\\.)*)"')


def expect(what, seen, wanted):
    if seen != wanted:
        raise SystemExit(f"FAIL: {what}: {seen}, not {wanted}")


def run(program, setting, *arguments):
    environment = {**os.environ, "KPROF": setting}
    # The thread sanitizer sleeps for a second at the end of each process.
    options = [environment.get("TSAN_OPTIONS", ""), "atexit_sleep_ms=0"]
    environment["TSAN_OPTIONS"] = ":".join(filter(None, options))
    done = subprocess.run([program, *arguments], env=environment, capture_output=True, check=True)
    # The leak sanitizer may come while kprof's own thread ends.
    return re.sub(rb"==\d+==Running thread \d+ was not suspended[^\n]*\n", b"", done.stderr)


def plain(text):
    """The bytes of a text between quotes."""
    def one(found):
        return bytes([int(found[2], 16)]) if found[2] else found[1]
    return re.sub(rb"\\(x([0-9a-f]{2})|.)", one, text.encode())


def calls_in(output):
    """The rows of the calls, and how many scopes were lost."""
    lines = output.decode().split("\n")
    expect("the end", lines.pop(), "")
    expect("the header", lines[0], ",".join(HEADER))
    lost = [int(line.split(",")[1]) for line in lines if line.startswith("kprof_verbose_lost,")]
    rows = list(csv.reader(line for line in lines[1:] if not line.startswith("kprof_verbose_lost")))
    for row in rows:
        expect(f"fields of {row}", (len(row), row[0]), (len(HEADER), "kprof_verbose"))
    return [dict(zip(HEADER, row)) for row in rows], (lost or [0])[-1]


def wanted_calls(threads, calls):
    scale = struct.unpack("f", struct.pack("f", 0.1))[0]
    return collections.Counter(
        (i % 5 + 1000 * t, i % 7 / 3, (0, -(i % 5), 0), scale, TAGS[i % 6])
        for t in threads for i in range(calls))


def check_rows(rows, wanted):
    seen, inner = collections.Counter(), 0
    ends = collections.defaultdict(int)
    for row in rows:
        expect("order of ends", ends[row["thread"]] <= int(row["end_ns"]), True)
        ends[row["thread"]] = int(row["end_ns"])
        if row["op"] == "Plain":
            inner += 1
            expect("FLOPs of an operator without any", (row["flops"], row["gflop_per_s"]), ("", ""))
            continue
        found = MIXED.fullmatch(row["parameters"])
        if not found:
            raise SystemExit(f"FAIL: parameters {row['parameters']}")
        n, x, a, b, c, scale, tag = found.groups()
        scale = struct.unpack("f", struct.pack("f", float(scale)))[0]
        seen[int(n), float(x), (int(a), int(b), int(c)), scale, plain(tag)] += 1
        ns = int(row["time_ns"])
        expect("FLOPs", int(row["flops"]), 2 * int(n))
        if ns > 1000:  # of a shorter one the time has too few digits
            rate = int(row["flops"]) / ns
            expect("rate", abs(float(row["gflop_per_s"]) - rate) <= 2e-3 * rate, True)
    expect("calls", seen - wanted, collections.Counter())
    expect("calls", wanted - seen, collections.Counter())
    expect("inner calls", inner, sum(wanted.values()))


def check_what_is_no_file(program, folder):
    """A pipe that nobody reads, or whose reader takes nothing, and standard output."""
    pipe = f"{folder}/pipe"
    os.mkfifo(pipe)
    began = time.monotonic()
    report = subprocess.run([program, "2", "50"], stdout=subprocess.PIPE, check=True, timeout=60,
                            env={**os.environ, "KPROF": f"verbose={pipe},report"}).stdout
    expect("a pipe without a reader is told", b"nobody reads from it" in report, True)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    run(program, f"verbose={pipe}", "2", "20000")
    expect("some of it is there", len(os.read(reader, 4096)) > 0, True)
    os.close(reader)
    expect("no wait for ever", time.monotonic() - began < 60, True)

    for setting, wanted in (("verbose=/dev/full", 0), ("verbose=/dev/full,report", 1)):
        full = subprocess.run([program, "2", "20000"], capture_output=True, check=True,
                              env={**os.environ, "KPROF": setting})
        told = b'cannot write to "/dev/full": no space left'
        expect("lines that are lost are told once", full.stderr.count(told), 1)
        expect("lines that are lost in the report", full.stdout.count(told), wanted)

    log = f"{folder}/log"
    with open(log, "w") as file:
        file.write("printed before\n")
        file.flush()
        subprocess.run([program, "2", "50"], stdout=file, check=True,
                       env={**os.environ, "KPROF": "verbose=/dev/stdout"})
    with open(log, "rb") as file:
        expect("what a program printed before", file.readline(), b"printed before\n")
        expect("lines", len(calls_in(file.read())[0]), 2 * 2 * 50)


def check_many_threads(program):
    """A thread that ends prints its own calls alone: reading all threads' took 13 s and more."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    rows, lost = calls_in(run(program, "verbose=on", "1000", "1"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    expect("calls of many threads", (len(rows), lost), (2 * 1000, 0))
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    expect(f"little time for many threads: {spent:.1f} s", spent < 6, True)


def main():
    program = sys.argv[1]
    expect("nothing unasked", run(program, "on", "2", "100"), b"")
    rows, lost = calls_in(run(program, "verbose=on", "4", "8000"))
    expect("lost", lost, 0)
    check_rows(rows, wanted_calls(range(4), 8000))
    print(f"{len(rows)} lines")

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/calls.csv"
        expect("a file", run(program, f"verbose={path}", "2", "50", "fork"), b"")
        with open(path, "rb") as file:
            rows, lost = calls_in(file.read())
        child = [r for r in rows if "n=900" in r["parameters"] or r["op"] == "Plain"][-10:]
        expect("the child's calls", sum("n=900" in r["parameters"] for r in child), 5)
        expect("lines", (len(rows), lost), (2 * 2 * 50 + 10, 0))
        run(program, f"verbose={path}", "1", "1", "forks")
        with open(path, "rb") as file:
            rows, _ = calls_in(file.read())
        expect("calls of children whose threads end at once", len(rows), 2 * (1 + 4 * 100))
        for setting in ("verbose=/no/folder/x.csv,report", "verbose=/no/folder/x.csv"):
            expect("no file", run(program, setting, "1", "1").count(b"/no/folder"), 1)
        check_what_is_no_file(program, folder)
    check_many_threads(program)

    # What is recycled before it is printed is counted: three scopes a call, one of them a region.
    rows, lost = calls_in(run(program, "verbose=on,memory=1MiB", "2", "100000"))
    missing = 2 * 2 * 100000 - len(rows)
    expect("some are lost", lost > 0, True)
    expect("all are told of", missing <= lost <= 2 * missing, True)
    print(f"{len(rows)} lines, {lost} scopes lost")

    # Lines come while the program runs.
    process = subprocess.Popen([program, "1", "10", "wait"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env={**os.environ, "KPROF": "verbose=on"})
    process.stdout.readline()
    time.sleep(0.3)
    os.set_blocking(process.stderr.fileno(), False)
    early = process.stderr.read() or b""
    rest = process.communicate(b"x")[1]
    expect("lines before the end", (len(calls_in(early)[0]), rest), (20, b""))


main()
