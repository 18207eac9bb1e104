#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds saved profiles against docs/saved_profile.schema.json: check_schema.py SCHEMA REPOSITORY

SCHEMA is the program that prints the schema, which must be that of the file; `SCHEMA >
docs/saved_profile.schema.json` writes it anew. Without Python's jsonschema the rest is left out,
and the exit status is 77.
"""

import copy
import gzip
import json
import pathlib
import subprocess
import sys

LEFT_OUT = 77
failures = []


def check(name, holds, seen=""):
    if not holds:
        failures.append(name)
        print(f"FAILED: {name}\n  {str(seen)[:1000]}")


def recorded(repository):
    for path in sorted((repository / "tests/profiles").glob("*.json*")):
        data = path.read_bytes()
        yield path.name, json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


def strict(schema):
    """The same schema, in which members that it does not know are wrong."""
    if isinstance(schema, list):
        return [strict(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    out = {k: strict(v) for k, v in schema.items()}
    if isinstance(out.get("properties"), dict) and out.get("type") == "object":
        out["additionalProperties"] = False
    return out


def without_version(run):
    del run["kprof_profile"]


def set_member(*path_and_value):
    *path, last, value = path_and_value

    def damage(run):
        at = run
        for step in path:
            at = at[step]
        at[last] = value
    return damage


# What kprof::load refuses too. The reader looks at references as well, which no schema does.
DAMAGE = {
    "no version": without_version,
    "version 0": set_member("kprof_profile", 0),
    "a newer version": set_member("kprof_profile", 2),
    "a text for a number": set_member("wall_ns", "long"),
    "a number for a text": set_member("program", 7),
    "a negative count": set_member("nodes", 1, "calls", -1),
    "a fraction of a call": set_member("nodes", 1, "calls", 1.5),
    "a number above 32 bits": set_member("nodes", 1, "line", 2**32),
    "a word that is none": set_member("nodes", 1, "kind", "regime"),
    "an object for a list": set_member("nodes", {}),
    "a node that is none": set_member("nodes", 2, 5),
    "a truth for a number": set_member("clock", "ns_per_tick", True),
    "a number for a truth": set_member("recording", 1),
    "null": set_member("threads", None),
    "bytes above U+00FF": set_member("program", {"bytes": "\u0100"}),
    "a histogram of fractions": set_member("nodes", 1, "durations", [1, 0.5]),
    "two blocks of three": set_member("device", {"work": [{"grid": [1, 2]}]}),
    "a timeline of pairs": set_member("timeline", {"columns": ["node", "start", "duration"],
                                                   "rows": [[0, 1]]}),
}
GOOD = {
    "what is no number": set_member("wall_ns", "-inf"),
    "bytes": set_member("program", {"bytes": "\u00ff\u0000"}),
    "a member that is not known": set_member("later", [1, {}]),
    "an empty list": set_member("notes", []),
    "a plain timeline": set_member("timeline", {"columns": ["node", "start", "duration"],
                                                "rows": [[0, -5, 7]]}),
}


def main():
    program, repository = sys.argv[1], pathlib.Path(sys.argv[2])
    text = (repository / "docs/saved_profile.schema.json").read_text()
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    check("docs/saved_profile.schema.json is what saved_schema prints", text == printed,
          "write it anew: saved_schema > docs/saved_profile.schema.json")
    try:
        import jsonschema
    except ImportError:
        print("left out: profiles are not held against the schema without python3-jsonschema")
        sys.exit(1 if failures else LEFT_OUT)
    schema = json.loads(text)
    make = jsonschema.Draft202012Validator
    make.check_schema(schema)
    validator, exact = make(schema), make(strict(schema))
    profiles = dict(recorded(repository))
    check("there are profiles", len(profiles) >= 6, profiles.keys())
    for name, run in profiles.items():
        wrong = [(list(e.path), e.message[:200]) for e in exact.iter_errors(run)]
        check(name, not wrong, wrong[:5])
    for name, change in {**DAMAGE, **GOOD}.items():
        run = copy.deepcopy(profiles["transformer.json"])
        change(run)
        check(f"{name} is {'good' if name in GOOD else 'refused'}",
              validator.is_valid(run) == (name in GOOD))
    print("schema of saved profiles:", f"{len(failures)} failed" if failures else "in order")
    sys.exit(1 if failures else 0)


main()
