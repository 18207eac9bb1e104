#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs an example and compares its output with what its last comment shows.

    check_output.py [--accept] <source> <program> [arguments]

The expected output follows the line "// Output:" at the end of the source; a last line "..." stands
for any rest. What differs from run to run is not compared: durations, rates and shares are masked,
rows may come in any order, and columns that only appear where there is room, what the ceilings of
the machine say, kprof's account of its own cost and the wrapping of lines are left out. --accept
writes the output into the source.
"""

import difflib
import os
import re
import subprocess
import sys

MARK = "// Output:"
NUMBER = r"<?\d[\d,.]*"
WHERE_THERE_IS_ROOM = {
    *("max", "mean", "median", "min", "total", "share", "self", "GB/s", "FLOP/B"),
    *("GFLOP/s", "TFLOP/s", "TB/s", "FLOPs", "each"),
    *("dev total", "gap", "copies", "kernels", "roof", "bound", "ideal", "lost", "cpu"),
    *("waves", "occupancy"),
}
VARIES = re.compile(
    r"not shown at width|cut at width|short, so partly|mean above|first call far|device: |\u2026 |"
    r"Complete: |outside all scopes|off the CPU|roof: |faster than one thread|impossible, faster|"
    r"by type of numbers|projected|outside the roofline|(\u2264|<=), held against|"
    r"n/a, (this machine's highest|the operator does not say|faster than|no call was long)|"
    r"  (timeline|own cost|memory|clock|sync|collector) |"
    r"  (the first step took |a run without it|steps above the median |backward of |.* a step at )"
)
PARAGRAPH = re.compile(
    r"^((?:Operators|Call tree|Kernels|Copies|Complete:|device:?|outside|cut|first|kprof|roof:?|"
    r"impossible|faster|by|projected:?|[\u2264],|<=,|n/a|off|mean|short|not)[ ,]"
    r"[^\n]*)\n"
    r" {2}(?=\S)",
    re.MULTILINE,
)


def masked(text):
    text = re.sub(r"^kprof · .*?(\d+ threads?) on .*", r"kprof · # · \1", text)
    # Only where this machine's ceilings are known.
    text = re.sub(r"sorted by (lost|self|device)\b", "sorted by #", text)
    text = re.sub(NUMBER + r"( (ns|µs|us|ms|s)\b|%)", "#", text)
    return text.replace(" (run times summed #)", "")  # only where work overlaps


BAR = re.compile(r"[\u2588-\u258f#]+")
WITH_UNIT = re.compile(NUMBER + r" (ns|µs|us|ms|s)|n/a")


def cells(line, headers):
    """A row of a table: its texts, and counts up to the first time, as they are, the rest masked;
    None if it is no row.
    """
    fields = [f for f in re.split(r" {2,}", line.strip()) if f and not BAR.fullmatch(f)]
    if len(fields) < 2 or not any(WITH_UNIT.fullmatch(f) for f in fields):
        return None
    kept = []
    for field in fields:
        if WITH_UNIT.fullmatch(field):
            break
        if "\u2026" in field:  # where it is cut depends on the columns beside it
            field = field[:8] + "\u2026"
        kept.append(field)
    return " | ".join(kept)


def step_line(line):
    """A line of the section "Steps": the head of a table, or of a row what does not vary. None for
    a layer's row, since which layers take most time differs from run to run.
    """
    if line.startswith("    "):
        return None  # of a paragraph, which is wrapped where its numbers have it
    fields = re.split(r" {2,}", line.strip())
    if fields[0] in ("thread", "time", "device time"):
        return " | ".join(fields)
    if len(fields) < 3:
        return masked(line)
    if fields[1].isdigit():
        return " | ".join(fields[:2])
    return fields[0] if fields[0] == "all" else None


def in_fixed_order(rows):
    """Rows and what is below them, sorted by text: their order in the report is by time."""
    groups = []
    for depth, text in rows:
        if groups and depth > groups[-1][0][0]:
            groups[-1].append((depth, text))
        else:
            groups.append([(depth, text)])
    groups.sort(key=lambda group: group[0][1])
    return [line for group in groups for line in [group[0], *in_fixed_order(group[1:])]]


def normalised(text):
    """The lines that a run must reproduce."""
    out, headers, rows, in_footer, in_steps = [], None, [], False, False
    text = re.sub(r"^Do first\n(.+\n)*\n", "", text, flags=re.MULTILINE)
    # What took no time has no part in its sentences.
    text = re.sub(r"^(timeline of the devices)\n(.+\n)*", r"\1\n", text, flags=re.MULTILINE)
    while PARAGRAPH.search(text):
        text = PARAGRAPH.sub(r"\1 ", text)
    lines = [line.rstrip() for line in text.rstrip().splitlines()] + [""]
    for i, line in enumerate(lines):
        below = re.match(r"[│├└─ ]*", line).group()
        if headers and line.strip().startswith("\u2026 "):
            continue  # which rows are small differs from run to run
        row = cells(line[len(below) :], headers) if headers else None
        if row is not None:
            rows.append((len(below), row))
            continue
        out += ["   " * (depth // 3) + row for depth, row in in_fixed_order(rows)]
        rows = []
        if line == "Notes":
            break
        in_steps = bool(line) and (in_steps or line.startswith("Steps"))
        if in_steps and not VARIES.match(line):
            out.append(step_line(line) or "")
            continue
        if i + 1 < len(lines) and re.fullmatch("─+", lines[i + 1]):
            headers = re.split(r" {2,}", line)
            out.append(" | ".join(h for h in headers if h not in WHERE_THERE_IS_ROOM))
        elif re.fullmatch("─+", line):
            continue
        elif in_footer and re.match(r" {4}", line):
            out[-1] += " " + line.strip()  # a wrapped paragraph
        else:
            headers = None
            in_footer = in_footer or line == "Completeness"
            out.append(masked(line))
    return [line for line in out if line and not VARIES.match(line)]


def main():
    arguments = sys.argv[1:]
    accept = arguments[:1] == ["--accept"]
    if accept:
        arguments = arguments[1:]
    if len(arguments) < 2:
        sys.exit(__doc__)
    source, command = arguments[0], arguments[1:]
    with open(source, encoding="utf-8") as file:
        text = file.read()
    program, mark, expected = text.partition("\n" + MARK + "\n")
    expected = re.sub(r"^// ?", "", expected, flags=re.MULTILINE)

    env = {name: value for name, value in os.environ.items() if name != "KPROF"}
    done = subprocess.run(
        command, env=dict(env, COLUMNS="100"), stdout=subprocess.PIPE, encoding="utf-8"
    )
    if done.returncode != 0:
        sys.exit(f"{command[0]} ended with {done.returncode}")
    output = done.stdout
    whole = not expected.rstrip().endswith("\n...")
    if accept:
        if not whole:
            end = "\nComplete" if "\nCall tree" in expected else "\n(?:Call tree|Complete)"
            output = re.split(end, output)[0].rstrip() + "\n..."
        with open(source, "w", encoding="utf-8") as file:
            file.write(
                program
                + "\n"
                + MARK
                + "\n"
                + "".join(f"// {line}".rstrip() + "\n" for line in output.rstrip().splitlines())
            )
        return
    if not mark:
        sys.exit(f'{source} has no line "{MARK}"')
    want, got = normalised(expected), normalised(output)
    if "\u2026 " in expected + output:  # which rows are folded differs from run to run
        want, got = ([l for l in lines if " | " not in l] for lines in (want, got))
    if not whole:
        want = want[: want.index("...")]
        got = got[: len(want)]
    if want != got:
        print(output)
        print("\n".join(difflib.unified_diff(want, got, "expected", "printed", lineterm="")))
        sys.exit(
            f"the output differs from the last comment of {source}; if it is right, run this with "
            "--accept"
        )


main()
