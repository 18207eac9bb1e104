#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs whose descriptors 1 and 2 are something else at the end: check_descriptors.py WRITER"""

import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from writer import check, end, environment, run

program = str(pathlib.Path(sys.argv[1]).resolve())


def run_in(name, how, **more):
    folder = pathlib.Path(name)
    for file in folder.iterdir():
        file.unlink()
    r = run(program, how, folder=name, **more)
    r.files = {f.name: f.read_text() for f in sorted(folder.iterdir())}
    return r


for place in (None, "."):  # not every file system gives a number twice
    with tempfile.TemporaryDirectory(dir=place) as name:
        folder = pathlib.Path(name)
        with open(folder / "out.log", "wb") as out:
            subprocess.run([program, "removes_its_output"], cwd=folder, stdout=out,
                           stderr=subprocess.DEVNULL, env=environment(KPROF="report"), check=False)
        data = (folder / "data.1").read_text()
        check("a file that got the number of a removed one has nothing", data == "data", data)

with tempfile.TemporaryDirectory() as name:
    r = run_in(name, "reuse_1", KPROF="report")
    check("a file that got descriptor 1 has nothing of kprof's", r.files["data.1"] == "data", r)
    check(
        "the report comes on standard error, which says so",
        r.code == 5
        and "kprof: standard output is another file than at the start" in r.err
        and "Complete" in r.err,
        r,
    )
    r = run_in(name, "reuse_1", KPROF="csv,save", closed=(2,))
    check(
        "without a standard error it goes nowhere",
        r.code == 5 and r.files == {"data.1": "data"} and r.out == "",
        (r, r.files),
    )
    r = run_in(name, "reuse_2", KPROF="report(path=/no/such/folder/x)")
    check("a file that got descriptor 2 has no message", r.files == {"data.2": "data"}, r.files)
    r = run_in(name, "error_2")
    check("nor one of a call of report()", r.files == {"data.2": "data"}, r.files)
    r = run_in(name, "reuse_12", KPROF="report,report(path=/dev/stderr),report(path=/dev/fd/1)")
    check(
        "two files that got both have nothing",
        r.code == 5 and r.files == {"data.1": "data", "data.2": "data"} and r.out + r.err == "",
        (r, r.files),
    )
    r = run_in(name, "open_1_and_report", closed=(1,), KPROF="report")
    check(
        "nor has the file of a program that was started without standard output",
        r.said == "not reported" and r.files == {"data.1": "data"},
        (r, r.files),
    )
    check("which is told", "it leads to a file or a connection of the program's own" in r.err, r)
    r = run_in(name, "reuse_1_and_report")
    check(
        "report() does not write to what is surely no standard output",
        r.said == "not reported" and r.files == {"data.1": "data"},
        (r, r.files),
    )
    r = run_in(name, "captured")
    check(
        "but to where the program has its output captured",
        r.said == "reported" and "Complete" in r.files["captured"] and r.out == "",
        (r, r.files),
    )
    r = run_in(name, "log_both", KPROF="report")
    log = r.files["daemon.log"]
    check(
        "the log of a daemon, to which both streams lead, gets the report",
        log.startswith("started\nkprof ") and "Complete" in log,
        r.files,
    )
    with open(pathlib.Path(name) / "out.txt", "w") as out:
        r = run(program, "work", out=out.fileno(), KPROF="report")
    text = (pathlib.Path(name) / "out.txt").read_text()
    check("a file that is standard output from the start gets it too", "Complete" in text, text)
end()
