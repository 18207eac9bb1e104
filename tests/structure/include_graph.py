#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks which header includes which: include_graph.py [--self-test] [include folder]

- Every header lies in a room: the folder of its name, or the room that FRONT gives a header
  directly in kprof/.
- A header includes its own room or one of an earlier row of ROOMS. Rooms of one row stand beside
  one another and do not include each other.
- report does not reach collect, nor model collect or attribute: not through other headers either.
- A header is public if it lies directly in kprof/ or in a folder of PUBLIC; the list is
  PUBLIC_HEADERS.
- There is no cycle, every kprof header that is included exists, and every header that is not public
  is included.
- op.hpp and guard.hpp reach none of the standard headers in HEAVY by an include of kprof's own.
  What the standard headers include among themselves is measured by preprocessed_size.py.
"""

import pathlib
import re
import sys
import tempfile

# The stages of the data, earliest first.
ROOMS = (
    ("declare",),
    ("attach",),
    ("write",),
    ("guard", "ops"),
    ("registry",),
    ("record", "emit", "collect"),
    ("profile",),
    ("attribute",),
    ("machine",),
    ("model",),
    ("report",),
    ("session",),
    ("bridge",),
)
RANK = {room: rank for rank, row in enumerate(ROOMS) for room in row}
# The room of each header that lies directly in kprof/.
FRONT = {
    "build_options.hpp": "declare",
    "version.hpp": "declare",
    "status.hpp": "declare",
    "op.hpp": "declare",
    "guard.hpp": "guard",
    "registry.hpp": "registry",
    "ops.hpp": "registry",
    "nvtx.hpp": "emit",
    "profile.hpp": "profile",
    "ceilings.hpp": "machine",
    "advice.hpp": "model",
    "tables.hpp": "model",
    "timeline.hpp": "model",
    "settings.hpp": "session",
    "session.hpp": "session",
    "kprof.hpp": "session",
    "measure.hpp": "session",
    "prove.hpp": "session",
    "verbose.hpp": "session",
}
# Folders whose own headers (not those of their subfolders) are public, beside kprof/ itself.
PUBLIC = ("ops", "report", "bridge")
PUBLIC_HEADERS = """
    advice.hpp build_options.hpp ceilings.hpp guard.hpp kprof.hpp measure.hpp nvtx.hpp op.hpp
    ops.hpp profile.hpp prove.hpp registry.hpp session.hpp settings.hpp status.hpp tables.hpp
    timeline.hpp verbose.hpp version.hpp
    ops/activation.hpp ops/adaptive_pool.hpp ops/attention.hpp ops/binary.hpp ops/blas.hpp
    ops/blas3.hpp ops/collective.hpp ops/common.hpp ops/conv.hpp ops/conv_transpose.hpp
    ops/fft.hpp ops/gemm.hpp ops/indexing.hpp ops/lapack.hpp ops/linear.hpp ops/loss.hpp
    ops/moe.hpp ops/movement.hpp ops/network.hpp ops/norm.hpp ops/optimizer.hpp
    ops/pointwise.hpp ops/pool.hpp ops/primitives.hpp ops/quantize.hpp ops/reduction.hpp
    ops/rnn.hpp ops/shape.hpp ops/softmax.hpp ops/sparse.hpp ops/stencil.hpp
    ops/tensor_core_gemm.hpp ops/window.hpp
    report/callgrind.hpp report/csv.hpp report/destination.hpp report/folded.hpp report/gbench.hpp
    report/hatchet.hpp report/html.hpp report/load.hpp report/option.hpp report/options.hpp
    report/output.hpp report/pprof.hpp report/save.hpp report/text.hpp report/trace.hpp
    report/write.hpp
""".split()
UNREACHABLE = (("report", ("collect",)), ("model", ("collect", "attribute", "report")))
# The smallest set: each takes 10,000 lines or more, or has no business in a header that every file
# includes.
HEAVY = set(
    """
    algorithm any array atomic bitset charconv chrono condition_variable deque exception
    filesystem format fstream functional future iomanip ios iosfwd iostream istream iterator
    list locale map memory memory_resource mutex numeric optional ostream queue random ranges
    ratio regex set shared_mutex span sstream stack stdexcept stop_token streambuf string
    string_view system_error thread tuple typeindex unordered_map unordered_set valarray variant
    vector
""".split()
)
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def read(root):
    """Each header's includes, by path below kprof/; kprof headers without their prefix, others with
    angle brackets.
    """
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


def room_of(header):
    return header.split("/")[0] if "/" in header else FRONT.get(header)


def is_public(header):
    parts = header.split("/")
    return len(parts) == 1 or (len(parts) == 2 and parts[0] in PUBLIC)


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


def check_arrows(graph, errors):
    for header, names in graph.items():
        here = room_of(header)
        if here not in RANK:
            errors.append(
                f"{header}: in no room; name its room in FRONT, or move it into the folder of its "
                "stage"
            )
            continue
        for name in names:
            if name.startswith("<"):
                continue
            if name not in graph:
                errors.append(f"{header} includes kprof/{name}, which does not exist")
                continue
            there = room_of(name)
            if there in RANK and (
                RANK[there] > RANK[here] or (RANK[there] == RANK[here] and there != here)
            ):
                errors.append(
                    f"{header} ({here}) includes {name} ({there}), which is not its own room or an "
                    "earlier one"
                )


def check_public(graph, public_headers, errors):
    public = {header for header in graph if is_public(header)}
    for header in sorted(public - set(public_headers)):
        errors.append(
            f"{header} is public by where it lies and not in PUBLIC_HEADERS; add it, or move it to "
            "its stage"
        )
    for header in sorted(set(public_headers) - public):
        errors.append(f"{header} is in PUBLIC_HEADERS, but is no public header of the tree")
    included = {name for names in graph.values() for name in names}
    for header in sorted(set(graph) - public - included):
        errors.append(f"{header}: nobody includes it, and it is not public")


def check(root, public_headers):
    graph, errors = read(root), []
    check_arrows(graph, errors)
    check_public(graph, public_headers, errors)
    for room, forbidden in UNREACHABLE:
        for header in graph:
            if room_of(header) == room:
                for name, way in reached(graph, header).items():
                    if room_of(name) in forbidden:
                        errors.append(f"{room} must not reach {room_of(name)}: " + " -> ".join(way))
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
        "op.hpp": "<kprof/build_options.hpp> <cstdint> <kprof/declare/a.hpp>",
        "build_options.hpp": "",
        "guard.hpp": "<kprof/op.hpp> <kprof/attach/hub.hpp>",
        "declare/a.hpp": "<kprof/declare/b.hpp>",
        "declare/b.hpp": "<utility>",
        "attach/hub.hpp": "<kprof/declare/a.hpp>",
        "record/log.hpp": "<kprof/guard.hpp> <vector>",
        "emit/nvtx.hpp": "<kprof/guard.hpp>",
        "collect/cupti.hpp": "<kprof/op.hpp>",
        "attribute/join.hpp": "<kprof/record/log.hpp> <kprof/collect/cupti.hpp>",
        "profile.hpp": "",
        "model/table.hpp": "<kprof/profile.hpp>",
        "report/text.hpp": "<kprof/model/table.hpp> <kprof/report/text/page.hpp>",
        "report/text/page.hpp": "<string>",
        "session.hpp": "<kprof/report/text.hpp> <kprof/attribute/join.hpp> <kprof/emit/nvtx.hpp>",
    }
    bad = {
        "an arrow against the order": (
            {"op.hpp": "<kprof/guard.hpp>", "guard.hpp": ""},
            "op.hpp (declare) includes guard.hpp (guard)",
        ),
        "an arrow within a row": (
            {"record/log.hpp": "<kprof/emit/nvtx.hpp>"},
            "record/log.hpp (record) includes emit/nvtx.hpp (emit)",
        ),
        "report to collect": (
            {"report/text.hpp": "<kprof/collect/cupti.hpp>"},
            "report must not reach collect",
        ),
        "model to attribute, behind another": (
            {"model/table.hpp": "<kprof/profile.hpp>", "profile.hpp": "<kprof/attribute/join.hpp>"},
            "model must not reach attribute",
        ),
        "model to report": (
            {"model/table.hpp": "<kprof/report/text.hpp>", "report/text.hpp": ""},
            "model must not reach report",
        ),
        "a heavy header": ({"op.hpp": "<string>"}, "op.hpp reaches the heavy header <string>"),
        "a heavy header behind another": (
            {"declare/b.hpp": "<atomic>"},
            "guard.hpp reaches the heavy header <atomic>",
        ),
        "a cycle": (
            {"declare/b.hpp": "<kprof/declare/a.hpp>"},
            "cycle: declare/a.hpp -> declare/b.hpp -> declare/a.hpp",
        ),
        "a missing header": ({"op.hpp": "<kprof/none.hpp>"}, "which does not exist"),
        "a header without a room": ({"new.hpp": ""}, "new.hpp: in no room"),
        "a folder without a room": ({"detail/new.hpp": ""}, "detail/new.hpp: in no room"),
        "a public header that is not listed": (
            {"report/csv.hpp": ""},
            "report/csv.hpp is public by where it lies",
        ),
        "a listed header that is gone": (
            {"profile.hpp": None, "model/table.hpp": ""},
            "no public header of the tree",
        ),
        "a header nobody includes": ({"declare/c.hpp": ""}, "declare/c.hpp: nobody includes it"),
        "an include in quotes": (
            {"op.hpp": '"string"'},
            "op.hpp reaches the heavy header <string>",
        ),
    }
    public = [header for header in good if is_public(header)]

    def run(files):
        with tempfile.TemporaryDirectory() as folder:
            for name, includes in files.items():
                if includes is None:
                    continue
                path = pathlib.Path(folder) / "kprof" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("".join(f"#include {i}\n" for i in includes.split()))
            return check(pathlib.Path(folder), public)

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
        errors = check(pathlib.Path(arguments[0]) if arguments else default, PUBLIC_HEADERS)
    for error in errors:
        print(error)
    print("include graph:", f"{len(errors)} errors" if errors else "in order")
    sys.exit(1 if errors else 0)


main()
