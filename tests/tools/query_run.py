# SPDX-License-Identifier: MIT
"""Runs `kprof query`, and reads its answers with a parser that takes nothing but JSON."""

import csv
import json
import os
import subprocess

MEMBERS = ["schema", "command", "trust", "error", "totals", "cut", "rows"]


def environment():
    return {k: v for k, v in os.environ.items() if k not in ("KPROF", "COLUMNS")}


def no_twins(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError(f"a member stands twice: {pairs}")
    return members


def no_constant(word):
    raise ValueError(f"{word} is no JSON")


def parse(text):
    return json.loads(text, object_pairs_hook=no_twins, parse_constant=no_constant)


class Kprof:
    """The program, the schema of its answers, and what was wrong so far."""

    def __init__(self, path, schema=None):
        self.path = path
        self.failures = []
        self.validator = None
        if schema is None:
            return
        try:
            import jsonschema
        except ImportError:
            print("no jsonschema: answers are not held against docs/query.schema.json; "
                  "install python3-jsonschema")
            return
        jsonschema.Draft202012Validator.check_schema(schema)
        self.validator = jsonschema.Draft202012Validator(schema)

    def check(self, name, holds, seen=""):
        if not holds:
            self.failures.append(name)
            print(f"FAILED: {name}\n  {str(seen)[:2000]}")

    def run(self, *arguments):
        return subprocess.run([self.path, *arguments], env=environment(), capture_output=True,
                              timeout=60)

    def text(self, *arguments, code=0):
        """What is printed, which is an answer whatever it says."""
        done = self.run("query", *arguments)
        name = " ".join(map(str, arguments))[:200]
        self.check(f"{name}: exit status {code}", done.returncode == code, done)
        self.check(f"{name}: nothing on standard error", done.stderr == b"", done.stderr)
        return done.stdout.decode()

    def ask(self, *arguments, code=0):
        text = self.text(*arguments, code=code)
        answer = parse(text)
        name = " ".join(map(str, arguments))[:200]
        members = [m for m in answer if m != "json_schema"]
        self.check(f"{name}: has the members of every answer", members == MEMBERS, members)
        self.check(f"{name}: an error and the exit status go together",
                   (answer["error"] is None) == (code == 0), answer["error"])
        if self.validator is not None:
            for wrong in list(self.validator.iter_errors(answer))[:3]:
                self.check(f"{name}: as its schema has it", False,
                           (list(wrong.path), wrong.message, [c.message for c in wrong.context]))
        return answer

    def table(self, profile, folder, options):
        """The lines of an output csv of the profile."""
        path = folder / "table.csv"
        wanted = f"csv(path={path}{options})"
        done = self.run("show", profile, "--output", wanted)
        self.check(f"csv of {profile}", done.returncode == 0, done)
        with open(path, newline="", encoding="utf-8", errors="surrogateescape") as file:
            return list(csv.DictReader(file))

    def report(self, profile, options=""):
        return self.run("show", profile, "--output", f"report(width=120{options})").stdout.decode()
