#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares saved profiles with `kprof compare`: check_compare.py KPROF REPOSITORY

The runs are made of a recorded one: each has a speed of its own, and some are slower as a whole.
"""

import json
import pathlib
import random
import re
import sys
import tempfile

import query_run

repository = pathlib.Path(sys.argv[2])
schema = json.loads((repository / "docs/query.schema.json").read_text())
kprof = query_run.Kprof(sys.argv[1], schema)
check = kprof.check
WIDTH = 100


def scaled(node, factor):
    for member in ("total_ns", "self_ns", "min_ns", "max_ns", "first_ns"):
        if member in node:
            node[member] *= factor


def run_of(recorded, number, slow=1.0, noise=0.002, program=None):
    """A run with another clock: its histograms count ticks, which are longer then."""
    rng = random.Random(number)
    run = json.loads(json.dumps(recorded))
    run["clock"]["start_realtime_ns"] = 10**18 + number * 10**9
    speed = 1 + rng.gauss(0, noise)
    run["clock"]["ns_per_tick"] = run["clock"].get("ns_per_tick", 1) * speed * slow
    run["wall_ns"] *= speed * slow
    for node in run["nodes"]:
        scaled(node, speed * slow)
    if program:
        run["program"] = program
    return run


class Runs:
    def __init__(self, folder):
        self.folder = folder
        self.recorded = json.loads((repository / "tests/profiles/transformer.json").read_text())

    def write(self, name, numbers, **how):
        paths = []
        for i in numbers:
            path = self.folder / f"{name}_{i}.json"
            path.write_text(json.dumps(run_of(self.recorded, i, **how)))
            paths.append(str(path))
        return paths


def lines_fit(name, text):
    long = [line for line in text.splitlines() if len(line) > WIDTH]
    check(f"{name}: lines have {WIDTH} columns at most", not long, long)


def compare(name, *arguments, code=0):
    done = kprof.run("compare", *arguments)
    check(f"{name}: exit status {code}", done.returncode == code, done)
    return done.stdout.decode(), done.stderr.decode()


def check_table(before, after, slower):
    text, _ = compare("the same", *before, "--with", *after)
    lines_fit("the same", text)
    check("the same run is the same", "A step takes the same time" in text, text)
    check("interleaved runs are told", "4 runs against 4, made in turns" in text, text)
    rows = [line for line in text.splitlines() if re.search(r"  same$", line)]
    check("rows are the same", len(rows) > 3, text)
    check("names are those of the program", "Linear" in text, text)

    text, _ = compare("slower", *before, "--with", *slower)
    lines_fit("slower", text)
    check("a slower run is told", "A step is slower: it takes " in text, text)
    check("and its rows, as what they have in common",
          re.search(r"All rows together take (9|10)\.\d% more time", text), text)
    compare("slower, with a gate", *before, "--with", *slower, "--gate", code=3)
    compare("faster, with a gate", *slower, "--with", *before, "--gate")
    compare("the same, with a gate", *before, "--with", *after, "--gate")
    compare("a change that is allowed", *before, "--with", *slower, "--gate", "--threshold", "30")

    text, _ = compare("one run", before[0], "--with", slower[0], "--gate")
    check("one run has no verdict",
          "whether by chance cannot be told from 1 run against 1" in text, text)
    check("and says what it takes", "Verdicts take 3 runs a side" in text, text)


def check_json(before, after, slower):
    for name, other, is_slower in (("the same", after, False), ("slower", slower, True)):
        text, _ = compare(f"json, {name}", *before, "--with", *other, "--json")
        answer = query_run.parse(text)
        check(f"json, {name}: has the members of every answer",
              list(answer) == query_run.MEMBERS, list(answer))
        check(f"json, {name}: says whether it is slower",
              answer["totals"]["is_slower"] == is_slower, answer["totals"])
        check(f"json, {name}: has rows", len(answer["rows"]) == answer["totals"]["rows"] > 3, "")
        if kprof.validator is not None:
            wrong = [(list(e.path), e.message) for e in kprof.validator.iter_errors(answer)]
            check(f"json, {name}: as its schema has it", not wrong, wrong[:3])
        for row in answer["rows"]:
            lies_in = row["low"] <= row["change"] <= row["high"]
            check("its change lies in its interval", lies_in, row)
    keys = {row["key"] for row in kprof.ask(before[0], "rows")["rows"]}
    check("keys are those of kprof query", {row["key"] for row in answer["rows"]} <= keys, keys)


def check_mistakes(folder, before, after):
    _, error = compare("no --with", *before, code=2)
    check("--with is asked for", "name the runs to compare with" in error, error)
    _, error = compare("not there", "nowhere.json", "--with", *after, code=1)
    check("a file that is not there is told", error.startswith(
        'kprof compare: "nowhere.json" cannot be read (No such file'), error)
    (folder / "half.json").write_text(pathlib.Path(before[0]).read_text()[:5000])
    _, error = compare("damaged", *before, "--with", folder / "half.json", code=1)
    check("as is a damaged one", "save the profile again" in error, error)
    _, error = compare("twice", *before, "--with", *after, before[1], code=2)
    check("a run given twice is told", "are the same run" in error, error)
    _, error = compare("threshold", *before, "--with", *after, "--threshold", "0", code=2)
    check("a threshold of 0 is refused", "--threshold takes percent above 0" in error, error)
    text, error = compare("json", "nowhere.json", "--with", *after, "--json", code=1)
    check("as JSON too", "cannot be read" in query_run.parse(text)["error"]["message"], text)
    check("and nowhere else", error == "", error)


def check_page(folder, before, after):
    """That the page has the sentence of the table; nothing is written where a file is wrong."""
    page = folder / "page.html"
    wanted = f"html(path={page},against={before[0].replace('_0', '_*')},also={'+'.join(after[1:])})"
    done = kprof.run("show", after[0], "--output", wanted)
    check("a page is written", done.returncode == 0, done)
    sentence = compare("of the page", *before, "--with", *after)[0].splitlines()[2]
    text = page.read_text(encoding="utf-8")
    check("it has the sentence of the table", sentence in text, sentence)
    for option, error in ((f"against={folder}/nowhere.json", "cannot be read (No such file"),
                          (f"against={folder}/half.json", "save the profile again"),
                          (f"against={after[0]}", "are the same run"),
                          (f"also={after[1]}", "add against=FILE")):
        path = folder / "wrong.html"
        done = kprof.run("show", after[0], "--output", f"html(path={path},{option})")
        check(f"{option}: is told", done.returncode == 1 and error in done.stderr.decode(), done)
        check(f"{option}: no page is written", not path.exists(), "")


def check_hostile(runs):
    name = "a\x1b[31m\u202e</script>"
    before = runs.write("hostile", range(20, 24), program=name)
    text, _ = compare("hostile", *before, "--with", *runs.write("other", range(30, 34)))
    check("names obey no terminal", "\x1b" not in text and "\u202e" not in text, text)
    check("another program is told", "Not the same in all runs: program" in text, text)
    lines_fit("hostile", text)


with tempfile.TemporaryDirectory() as name:
    runs = Runs(pathlib.Path(name))
    before, after = runs.write("before", range(0, 8, 2)), runs.write("after", range(1, 9, 2))
    slower = runs.write("slower", range(11, 19, 2), slow=1.1)
    check_table(before, after, slower)
    check_json(before, after, slower)
    check_mistakes(pathlib.Path(name), before, after)
    check_page(pathlib.Path(name), before, after)
    check_hostile(runs)
if kprof.failures:
    sys.exit(f"{len(kprof.failures)} failed")
