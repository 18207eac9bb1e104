#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a saved profile with `kprof show`: check_show.py KPROF PROFILE"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

kprof, profile = sys.argv[1:]
failures = []


def run(folder, *arguments):
    env = {k: v for k, v in os.environ.items() if k not in ("KPROF", "COLUMNS")}
    return subprocess.run(
        [kprof, *arguments],
        env=env,
        cwd=folder,
        text=True,
        capture_output=True,
        timeout=60,
    )


def show(folder, *arguments):
    return run(folder, "show", *arguments)


def check(name, holds, result):
    if not holds:
        failures.append(name)
        print(f"FAILED: {name}\n{result}")


def check_outputs(folder):
    r = show(folder, profile)
    check("it shows the report", r.returncode == 0 and "Operators, sorted" in r.stdout, r)
    check("and nothing else", r.stderr == "" and r.stdout.startswith("kprof · "), r)
    r = show(folder, profile, "--output", "report(top=1,columns=operator+calls)")
    check("with options", "operator  " in r.stdout and "self" not in r.stdout.split("More:")[0], r)
    r = show(folder, profile, "--output", "report(table=off,path=q.txt)")
    text = (folder / "q.txt").read_text() if (folder / "q.txt").exists() else ""
    check("into a file", r.stdout + r.stderr == "" and text.startswith("kprof · "), r)
    check("without a table", "Operators, sorted" not in text, text)
    r = show(folder, profile, "--output", "report(width=60),report(width=90)")
    widths = [max(map(len, t.splitlines())) for t in r.stdout.split("kprof · ")[1:]]
    check("two reports", len(widths) == 2 and widths[0] <= 60 < widths[1] <= 90, r)

    wanted = "trace(path=a.json),folded(path=a.folded)"
    r = show(folder, profile, "--output", wanted, "--output", "csv(path=a.csv)")
    check("it writes several files", r.returncode == 0 and r.stdout + r.stderr == "", r)
    check("a trace", "traceEvents" in json.loads((folder / "a.json").read_text()), "")
    check("stacks", (folder / "a.folded").read_text().count("\n") > 5, "")
    check("a table", (folder / "a.csv").read_text().startswith("operator,"), "")
    r = show(folder, profile, "--output", "save(path=b.json)")
    check("it saves again", r.returncode == 0, r)
    again = show(folder, "b.json").stdout
    check("without loss", again == show(folder, profile).stdout, again)

    for name in ("b.json", "c.json.gz"):
        r = show(folder, profile, "--output", f"save(path={name})")
        r = show(folder, name, "--html")
        page = name[0] + ".html"
        check(f"a page beside {name}", (r.returncode, r.stdout) == (0, f"wrote {page}\n"), r)
        check("which is one", "</html>" in (folder / page).read_text()[-20:], "")
    r = show(folder, "b.json", "--html", "--output", "report(top=1)")
    said = r.stdout.endswith("wrote b.html\n") and r.stdout.startswith("kprof · ")
    check("beside a report", r.returncode == 0 and said, r)


def check_mistakes(folder):
    r = show(folder, "nowhere.json")
    check(
        "a file that is not there is told",
        r.returncode == 1
        and r.stderr.startswith('kprof show: "nowhere.json" cannot be read (No such file'),
        r,
    )
    with open(folder / "large.json", "wb") as large:
        large.truncate(5 << 30)
    for command in ("show", "query", "compare"):
        words = {"show": [], "query": ["rows"], "compare": ["--with", profile]}[command]
        r = run(folder, command, "large.json", *words)
        told = 'is larger than 4 GiB, the most that kprof reads' in r.stderr + r.stdout
        check(f"kprof {command} refuses one of 5 GiB", r.returncode == 1 and told, r)
    (folder / "large.json").unlink()
    (folder / "half.json").write_text(pathlib.Path(profile).read_text()[:5000])
    r = show(folder, "half.json")
    check("as is a damaged one", r.returncode == 1 and "save the profile again" in r.stderr, r)
    r = show(folder, profile, "--output", "sketch(path=x)")
    known = "unknown output 'sketch'" in r.stderr
    check("an unknown output is told", r.returncode == 2 and known, r)
    (folder / "run.html").write_text(pathlib.Path(profile).read_text())
    r = show(folder, "run.html", "--html")
    kept = (folder / "run.html").read_text().startswith("{")
    told = "is what the page would be named" in r.stderr
    check("a page never replaces the profile", (r.returncode, kept, told) == (2, True, True), r)
    for output, wrong in (("csv", "by=bogus"), ("gbench", "by=op+bogus"), ("csv", "fold=bogus")):
        r = show(folder, profile, "--output", f"{output}({wrong},path=wrong)")
        said = f'kprof: {output}: {wrong}: no operator of this run has a field "bogus"; fields: '
        told = r.stderr.startswith(said) and r.stderr.count("\n") == 1
        check("so is a field that no operator has", r.returncode == 0 and told, r)
        check("the file is there", (folder / "wrong").stat().st_size > 0, r)
        (folder / "wrong").unlink()
    stepless = pathlib.Path(profile).with_name("hpcg.json")
    r = show(folder, stepless, "--output", "csv(by=op+step,path=wrong)")
    check("and steps that are not there", "kprof: csv: by=op+step: no steps were" in r.stderr, r)
    r = show(folder, profile, "--output", "off")
    check("as is none", r.returncode == 2 and "asks for no output" in r.stderr, r)
    r = show(folder, profile, "--output", "trace(path=no/x.json),trace(path=c.json)")
    check(
        "a file that cannot be written is told",
        r.returncode == 1
        and 'kprof show: trace: cannot write to "no/x.json": the folder does not exist' in r.stderr,
        r,
    )
    check("which stops no other", (folder / "c.json").exists(), r)
    r = show(folder)
    check("a file is asked for", r.returncode == 2 and "file is required" in r.stderr, r)


def check_words(folder):
    """Each wrong word of the command line is named, with those that it may be."""
    for words, told in (
        (["frob"], 'kprof: there is no command "frob"; commands: run, ceilings, show, query, '),
        (["sho", "a.json"], 'kprof: there is no command "sho"; did you mean show? Commands: run, '),
        (["frob", "show", "a.json"], 'kprof: there is no command "frob"; commands: run, '),
        (["--versio"], 'kprof: there is no option "--versio"; did you mean --version? Options: '),
        (
            ["show", profile, "--outpt", "x"],
            'kprof show: there is no option "--outpt"; did you mean --output? Options: --help, ',
        ),
        (["show", "--outpt=x"], 'kprof show: there is no option "--outpt=x"; did you mean --outp'),
        (["show", "a", "b"], 'kprof show: "b" is not expected; kprof show --help says what it ta'),
        (["show", "a", "--output"], "kprof show: --output: "),
        (["compare", "a", "--threshold", "x"], "kprof compare: Could not convert: --threshold"),
        (["compare", "a", "--gat"], 'kprof compare: there is no option "--gat"; did you mean --g'),
        (["ceilings", "--sav"], 'kprof ceilings: there is no option "--sav"; did you mean --save'),
        (["run", "--frob"], "kprof run: --frob is not expected before --: "),
        ([], "kprof: profiles the operators of C++ and CUDA programs\nUsage: kprof [OPTIONS] SUB"),
    ):
        r = run(folder, *words)
        right = r.returncode == 2 and r.stdout == "" and r.stderr.startswith(told)
        check(f"wrong words are told: kprof {' '.join(words)}", right, r)
    for word, told in (("--version", ".0\n"), ("--help", "Usage: kprof ")):
        r = run(folder, word)
        check(f"{word} is answered", r.returncode == 0 and told in r.stdout, r)


with tempfile.TemporaryDirectory() as name:
    check_outputs(pathlib.Path(name))
    check_mistakes(pathlib.Path(name))
    check_words(pathlib.Path(name))
if failures:
    sys.exit(f"{len(failures)} failed")
