#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Asks a program with an output of its own for several outputs, and reads them: check_outputs.py
PROGRAM
"""

import json
import os
import pathlib
import pty
import subprocess
import sys
import tempfile

failures = []


def run(folder, kprof, *arguments):
    env = {k: v for k, v in os.environ.items() if k not in ("KPROF", "COLUMNS")}
    if kprof is not None:
        env["KPROF"] = kprof
    return subprocess.run(
        [sys.argv[1], *arguments], env=env, cwd=folder, capture_output=True, text=True, timeout=60
    )


def run_in_terminal(folder, kprof):
    """What a terminal shows, and the exit status."""
    here, terminal = pty.openpty()
    env = {k: v for k, v in os.environ.items() if k != "COLUMNS"} | {"KPROF": kprof}
    process = subprocess.Popen(
        [sys.argv[1]], env=env, cwd=folder, stdin=terminal, stdout=terminal, stderr=terminal
    )
    os.close(terminal)
    shown = b""
    try:
        while more := os.read(here, 4096):
            shown += more
    except OSError:  # the other end is closed
        pass
    os.close(here)
    return shown.decode(errors="replace"), process.wait(60)


def check(what, holds, seen):
    if not holds:
        failures.append(f"{what}\n  seen: {seen}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def text(file):
            return (folder / file).read_text() if (folder / file).exists() else "(no such file)"

        r = run(folder, "report(path=a.txt,top=20),calls(path=b.txt),calls(least=4,prefix=>)")
        check("the program runs on", r.returncode == 5 and r.stderr == "", r)
        check(
            "the report is in its file", "Operators, sorted" in text("a.txt"), text("a.txt")
        )
        calls = sorted(text("b.txt").split("\n"))
        check(
            "an own output is written",
            calls == ["", *["Scale 1"] * 3, "Work 1", *["Work 1"] * 3],
            calls,
        )

        r = run(folder, "calls(path=b.txt),report(path=b.txt),calls(lest=4),cals,sketch(path=x)")
        for line in (
            'KPROF: another output writes to "b.txt" already; choose another path',
            "KPROF: unknown option 'lest=4' of calls; did you mean least? Valid: path=FILE, "
            "least=CALLS, prefix=TEXT",
            "KPROF: unknown setting 'cals'; did you mean calls? Valid: on, off, ",
            "KPROF: unknown output 'sketch'; this program has: callgrind(...), calls(...), ",
            "report(...)",
        ):
            check(f"says: {line}", line in r.stderr, r.stderr)
        check("mistakes harm nothing", r.returncode == 5 and "Work" in text("b.txt"), r)

        (folder / "link.txt").symlink_to("d.txt")
        for other in ("./d.txt", "link.txt", f"{folder}/d.txt"):
            r = run(folder, f"report(path=d.txt),calls(path={other})")
            check(
                f"{other} is d.txt",
                f'another output writes to "{other}" already' in r.stderr,
                r.stderr,
            )
            check("and keeps the first", "Operators, sorted" in text("d.txt"), text("d.txt"))

        r = run(folder, "trace(path=%p.json)")
        traces = list(folder.glob("*.json"))
        check("a trace is written when the program ends", len(traces) == 1, traces)
        slices = [e for e in json.loads(traces[0].read_text())["traceEvents"] if e["ph"] == "X"]
        check("it has the single scopes", len(slices) >= 4, slices)

        r = run(folder, "trace(path=/dev/full)")
        check("a full disk is told", "no space left" in r.stderr, r.stderr)
        check("and harms nothing", r.returncode == 5, r)
        r = run(folder, "trace(path=nowhere/run.json.gz),trace(path=e.json)")
        check("as is a folder that is not there", "the folder does not exist" in r.stderr, r)
        check("which stops no other trace", "traceEvents" in text("e.json"), text("e.json"))

        r = run(folder, "calls(path=/nonexistent/x),calls(path=c.txt)")
        check(
            "a file that cannot be written is told",
            'kprof: calls: cannot write to "/nonexistent/x": the folder does not exist' in r.stderr,
            r.stderr,
        )
        check("and the next output written", "Work" in text("c.txt"), text("c.txt"))

        r = run(folder, None, "start")
        check("the program's own requests", "Work" in text("started.txt"), text("started.txt"))
        check("are printed as settings::report says", "Operators" in r.stdout, r.stdout)
        check("at its width", max(map(len, r.stdout.split("\n"))) <= 60, r.stdout)
        check("what they get wrong is told", "kprof: calls: unknown option 'x=y'" in r.stderr, r)

        r = run(folder, "report(tree),calls(path=d.txt)", "start")
        check(
            "KPROF's report takes the place of the program's",
            r.stdout.count("Complete") == 1,
            r,
        )
        check("and is as KPROF says", "Call tree" in r.stdout, r.stdout)
        check("both ask for outputs", "Work" in text("d.txt") and "Work" in text("started.txt"), r)

        r = run(folder, "report,report(path=e.txt)", "report")
        check("what was printed is left out at the end", r.stdout.count("Complete") == 1, r)
        check("another report is not", "Complete" in text("e.txt"), text("e.txt"))

        r = run(folder, None, "write")
        check(
            "write() writes to standard output", r.stdout.count("Work 1") == 4 and not r.stderr, r
        )

        shown, status = run_in_terminal(folder, "html,trace,pprof,save,calls")
        for ending, begin in (
            ("html", b"<!doctype html>"),
            ("trace.json", b"{"),
            ("pb", b"*\x08"),
            ("kprof.json", b"{"),
        ):
            files = list(folder.glob(f"*.{ending}"))
            files = [f for f in files if f.name.split(".", 2)[2:] == [ending]]
            check(f"a terminal gets a file instead of {ending}", len(files) == 1, files)
            if files:
                content = files[0].read_bytes()
                check(f"{ending} is whole", content[: len(begin)].lower() == begin, content[:40])
                check(f"and {files[0].name} is told", f"is in {files[0].name};" in shown, shown)
        check("nothing of them is shown", "<" not in shown and "{" not in shown, shown[:400])
        check("what people read is", "Work 1" in shown and status == 5, shown)
        shown, status = run_in_terminal(folder, "html,html(slices=0)")
        check(
            "two of one kind are two files",
            len(list(folder.glob("*-2.html"))) == 1 and shown.count(".html;") == 2,
            shown,
        )
        before = set(folder.iterdir())
        r = run(folder, "save")
        check("a pipe gets the output itself", r.stdout.startswith("{"), r.stdout[:80])
        check("and no file is made", set(folder.iterdir()) == before, before)

    for failure in failures:
        print(failure)
    print("outputs:", f"{len(failures)} failures" if failures else "in order")
    sys.exit(1 if failures else 0)


main()
