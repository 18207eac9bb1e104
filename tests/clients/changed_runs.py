# SPDX-License-Identifier: MIT
"""Runs that lack something, for record.py: each is train.saved.json with one thing changed."""

import json
import subprocess


def drop(saved):
    saved["complete"]["dropped"] = 57


def forget_formulas(saved):
    for node in saved["nodes"]:
        node.pop("work", None)


def forget_ceilings(saved):
    saved["machine"] = {}


def exaggerate(saved):
    """An operator above its roof, so far that the whole run is above its own."""
    for node in saved["nodes"]:
        if node.get("name") == "Sgd" and "work" in node:
            node["work"]["flops"] = 10_000 * node["work"]["flops"]


def have_no_operator(saved):
    for node in saved["nodes"]:
        if node.get("kind") == "op":
            node["kind"] = "region"
            for member in ("op", "values", "work", "brief"):
                node.pop(member, None)


def have_long_names(saved):
    for thing in [saved, *saved["threads"], *saved["nodes"], *saved["operators"]]:
        for member in ("name", "declared_name", "program"):
            if member in thing and thing[member] in ("Linear", "train", "layer 3"):
                thing[member] = "N" * 100_000 + thing[member]


STATES = {"long_names": have_long_names, "dropped": drop, "no_formulas": forget_formulas,
          "no_ceilings": forget_ceilings, "impossible": exaggerate,
          "no_operator": have_no_operator}


def record(folder, kprof):
    text = (folder / "train.saved.json").read_text()
    for name, change in STATES.items():
        saved = json.loads(text)
        change(saved)
        (folder / f"state_{name}.saved.json").write_text(json.dumps(saved))
        show = [kprof, "show", f"state_{name}.saved.json", "--output",
                f"html(path=state_{name}.html)"]
        subprocess.run(show, cwd=folder, check=True)
