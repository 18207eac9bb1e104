#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks which header includes which: include_graph.py [--self-test] [include folder]

A header includes its own stage or an earlier one:

    declare < guard < registry < record, emit, collect < model < report < session

- The stage of a header is the folder it lies in, or for those directly in kprof/ what STAGE_OF says.
- A header in detail/ belongs to the earliest stage that includes it, so its own includes must not lie later than that;
  when stages that stand beside one another share it, to what comes before all of them.
- record, emit and collect stand beside one another and do not include each other. report does not include collect, and
  model includes neither collect nor report: not directly, and not through other headers.
- There is no cycle, and every kprof header that is included exists.
- op.hpp and guard.hpp reach none of the standard headers in HEAVY by an include of kprof's own. (What the standard
  headers include among themselves is measured by preprocessed_size.py.)
"""

import pathlib
import re
import sys
import tempfile

ORDER = {
    "declare": 0,
    "ops": 1,
    "guard": 1,
    "registry": 2,
    "record": 3,
    "emit": 3,
    "collect": 3,
    "model": 4,
    "report": 5,
    "session": 6,
}
BESIDE = {"record", "emit", "collect"}
STAGE_OF = {
    "config.hpp": "declare",
    "version.hpp": "declare",
    "dtype.hpp": "declare",
    "fixed_string.hpp": "declare",
    "op.hpp": "declare",
    "status.hpp": "declare",  # how anything set up or written tells of a failure; it includes nothing of kprof
    "guard.hpp": "guard",
    "registry.hpp": "registry",
    "ops.hpp": "registry",
    "settings.hpp": "session",
    "session.hpp": "session",
    "kprof.hpp": "session",
}
# The smallest set: each takes 10,000 lines or more, or has no business in a header that every file
# includes.
HEAVY = {
    "algorithm",
    "any",
    "array",
    "atomic",
    "bitset",
    "charconv",
    "chrono",
    "condition_variable",
    "deque",
    "exception",
    "filesystem",
    "format",
    "fstream",
    "functional",
    "future",
    "iomanip",
    "ios",
    "iosfwd",
    "iostream",
    "istream",
    "iterator",
    "list",
    "locale",
    "map",
    "memory",
    "memory_resource",
    "mutex",
    "numeric",
    "optional",
    "ostream",
    "queue",
    "random",
    "ranges",
    "ratio",
    "regex",
    "set",
    "shared_mutex",
    "span",
    "sstream",
    "stack",
    "stdexcept",
    "stop_token",
    "streambuf",
    "string",
    "string_view",
    "system_error",
    "thread",
    "tuple",
    "typeindex",
    "unordered_map",
    "unordered_set",
    "valarray",
    "variant",
    "vector",
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def read(root):
    """Each header's includes, by path below kprof/; kprof headers without their prefix, others with angle brackets."""
    graph = {}
    for path in sorted((root / "kprof").rglob("*.hpp")):
        found = INCLUDE.findall(path.read_text())
        graph[path.relative_to(root / "kprof").as_posix()] = [
            name[len("kprof/") :] if name.startswith("kprof/") else "<" + name + ">"
            for name in found
        ]
    return graph


def reached(graph, start):
    """Every header that `start` includes, with the way there."""
    ways, queue = {start: [start]}, [start]
    while queue:
        header = queue.pop(0)
        for name in graph.get(header, []):
            if name not in ways:
                ways[name] = ways[header] + [name]
                queue.append(name)
    return ways


def stages(graph, errors):
    known = {}
    for header in graph:
        folder = header.split("/")[0] if "/" in header else ""
        if folder == "detail":
            continue
        stage = STAGE_OF.get(header) if not folder else folder
        if stage not in ORDER:
            errors.append(
                f"{header}: not in the list of stages; add it to STAGE_OF or move it into the folder of its stage"
            )
            continue
        known[header] = stage
    # The includers of a detail header may be detail headers too: go on until nothing changes.
    changed = True
    while changed:
        changed = False
        for header in graph:
            if not header.startswith("detail/"):
                continue
            by = [
                known[other] for other, names in graph.items() if header in names and other in known
            ]
            earliest = min(by, key=ORDER.get, default=None)
            if earliest in BESIDE and len(BESIDE & set(by)) > 1:
                earliest = "registry"  # shared by stages that do not include each other: it comes before them
            if earliest is not None and (
                header not in known or ORDER[earliest] < ORDER[known[header]]
            ):
                known[header] = earliest
                changed = True
    for header in graph:
        if header.startswith("detail/") and header not in known:
            errors.append(f"{header}: nobody includes it")
    return known


def find_cycle(graph):
    done, path = set(), []

    def visit(header):
        if header in path:
            return path[path.index(header) :] + [header]
        if header in done:
            return None
        path.append(header)
        for name in graph.get(header, []):
            cycle = visit(name)
            if cycle:
                return cycle
        path.pop()
        done.add(header)
        return None

    for header in graph:
        cycle = visit(header)
        if cycle:
            return cycle
    return None


def check(root):
    graph, errors = read(root), []
    stage = stages(graph, errors)
    for header, names in graph.items():
        for name in names:
            if name.startswith("<"):
                continue
            if name not in graph:
                errors.append(f"{header} includes kprof/{name}, which does not exist")
                continue
            if header not in stage or name not in stage:
                continue
            here, there = stage[header], stage[name]
            if ORDER[there] > ORDER[here] or (ORDER[there] == ORDER[here] and there != here):
                errors.append(
                    f"{header} ({here}) includes {name} ({there}), which is not its own stage or an earlier one"
                )
    for folder, forbidden in (("report", ["collect"]), ("model", ["collect", "report"])):
        for header in graph:
            if header.startswith(folder + "/"):
                for name, way in reached(graph, header).items():
                    if name.split("/")[0] in forbidden:
                        errors.append(
                            f"{folder} must not reach {name.split('/')[0]}: " + " -> ".join(way)
                        )
    for light in ("op.hpp", "guard.hpp"):
        if light not in graph:
            errors.append(f"{light} is missing")
            continue
        for name, way in reached(graph, light).items():
            if name.strip("<>") in HEAVY:
                errors.append(f"{light} reaches the heavy header {name}: " + " -> ".join(way))
    cycle = find_cycle(graph)
    if cycle:
        errors.append("cycle: " + " -> ".join(cycle))
    return errors


def self_test():
    """Feeds the checks one bad tree for each rule; each must be refused for its own reason."""
    good = {
        "op.hpp": "<kprof/config.hpp> <cstdint> <kprof/detail/a.hpp>",
        "config.hpp": "",
        "guard.hpp": "<kprof/op.hpp>",
        "detail/a.hpp": "<kprof/detail/b.hpp>",
        "detail/b.hpp": "<utility>",
        "record/log.hpp": "<kprof/guard.hpp> <kprof/detail/shared.hpp> <vector>",
        "detail/shared.hpp": "<kprof/op.hpp>",
        "emit/nvtx.hpp": "<kprof/guard.hpp> <kprof/detail/shared.hpp>",
        "collect/cupti.hpp": "<kprof/op.hpp>",
        "model/profile.hpp": "<kprof/record/log.hpp>",
        "report/text.hpp": "<kprof/model/profile.hpp>",
        "session.hpp": "<kprof/report/text.hpp> <kprof/collect/cupti.hpp>",
    }
    bad = {
        "an arrow against the order": (
            {"op.hpp": "<kprof/guard.hpp>", "guard.hpp": ""},
            "op.hpp (declare) includes guard.hpp (guard)",
        ),
        "an arrow within a rank": (
            {"record/log.hpp": "<kprof/emit/nvtx.hpp>"},
            "record/log.hpp (record) includes emit/nvtx.hpp (emit)",
        ),
        "report to collect": (
            {"report/text.hpp": "<kprof/collect/cupti.hpp>"},
            "report must not reach collect",
        ),
        "model to collect": (
            {"model/profile.hpp": "<kprof/collect/cupti.hpp>"},
            "model must not reach collect",
        ),
        "model to report": (
            {"model/profile.hpp": "<kprof/report/text.hpp>", "report/text.hpp": ""},
            "model must not reach report",
        ),
        "a detail header of an early stage that includes a late one": (
            {"detail/b.hpp": "<kprof/model/profile.hpp>"},
            "detail/b.hpp (declare) includes model/profile.hpp (model)",
        ),
        "a detail header that two stages beside one another share and that includes a third": (
            {"detail/shared.hpp": "<kprof/collect/cupti.hpp>"},
            "detail/shared.hpp (registry) includes collect/cupti.hpp (collect)",
        ),
        "a heavy header": ({"op.hpp": "<string>"}, "op.hpp reaches the heavy header <string>"),
        "a heavy header behind another": (
            {"detail/b.hpp": "<atomic>"},
            "guard.hpp reaches the heavy header <atomic>",
        ),
        "a cycle": (
            {"detail/b.hpp": "<kprof/detail/a.hpp>"},
            "cycle: detail/a.hpp -> detail/b.hpp -> detail/a.hpp",
        ),
        "a missing header": ({"op.hpp": "<kprof/none.hpp>"}, "which does not exist"),
        "a header without a stage": ({"new.hpp": ""}, "new.hpp: not in the list of stages"),
        "a detail header nobody includes": (
            {"detail/c.hpp": ""},
            "detail/c.hpp: nobody includes it",
        ),
        "an include in quotes": (
            {"op.hpp": '"string"'},
            "op.hpp reaches the heavy header <string>",
        ),
    }

    def run(files):
        with tempfile.TemporaryDirectory() as folder:
            for name, includes in files.items():
                path = pathlib.Path(folder) / "kprof" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("".join(f"#include {i}\n" for i in includes.split()))
            return check(pathlib.Path(folder))

    failures = [f"the good tree is refused: {e}" for e in run(good)]
    for what, (change, expected) in bad.items():
        errors = run({**good, **change})
        if not any(expected in e for e in errors):
            failures.append(f"{what} is not found; errors: {errors}")
    return failures


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--self-test"]:
        errors = self_test()
    else:
        default = pathlib.Path(__file__).resolve().parents[2] / "include"
        errors = check(pathlib.Path(arguments[0]) if arguments else default)
    for error in errors:
        print(error)
    print("include graph:", f"{len(errors)} errors" if errors else "in order")
    sys.exit(1 if errors else 0)


main()
