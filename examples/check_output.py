#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs an example and compares its output with what its last comment shows.

    check_output.py [--accept] <source> <program> [arguments]
    check_output.py --self-test <source>

The expected output follows the line "// Output:" at the end of the source; a last line "..." stands
for any rest. What differs from run to run is not compared: durations, rates and shares are masked,
rows may come in any order, and columns that only appear where there is room, what the ceilings of
the machine say, kprof's account of its own cost and the wrapping of lines are left out. Of the
timeline of the devices, the sums and what the devices did while they were busy are compared with a
tolerance: how long a loaded machine lets them wait is not. --accept writes the output into the
source; --self-test sees whether wrong timelines are found.
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
    r"not shown( at width|, n/a in every row)|cut at width|short, so partly|mean above|"
    r"first call far|device: |\u2026 |Complete: |outside all scopes|off the CPU|roof: |"
    r"faster than one thread|impossible, faster|"
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


def device_times(text):
    """The shares in percent of "timeline of the devices": {"device 0": {"busy": 85.9, "idle": 14.1,
    "computing": ...}, "critical": {"computing": 64.6, ...}}.
    """
    section = re.search(r"^timeline of the devices\n((?:.+\n)*)", text + "\n", re.MULTILINE)
    out, device = {}, None
    body = re.sub(r"\n {6,}(?=\S)", " ", section[1]) if section else ""
    line = re.compile(r"^ +(device \d+|idle|critical) +[^:\n]*: (.*)$", re.MULTILINE)
    for key, rest in line.findall(body):
        rest = re.sub(r"\(.*?\)", "", rest)  # what is exposed is part of what stands before it
        found = re.findall(r"([a-z][a-z ]*?) <?([\d.]+)%", rest)
        shares = {what.strip(): float(share) for what, share in found}
        if key == "idle":
            device["idle"] = sum(shares.values())
        else:
            device = out[key] = shares
    return out


ON_DEVICE = ("computing", "communicating", "copying")


def wrong_shares(is_path, want, got):
    """What is wrong in a line. The load of the machine is not: it makes the host slower, so shares
    of the device's own time are compared more strictly.
    """
    if is_path:
        whole, tolerance = "all parts", 30
        of = [sum(shares.get(kind, 0) for kind in ON_DEVICE) for shares in (want, got)]
        sum_of_all = sum(got.values())
    else:
        whole, tolerance = "busy and idle", 12
        of = [shares.get("busy", 0) for shares in (want, got)]
        sum_of_all = got.get("busy", 0) + got.get("idle", 0)
    compared = [(whole, 100, sum_of_all, 1.5)]
    for kind in ON_DEVICE if min(of) >= 5 else ():
        shares = [100 * s.get(kind, 0) / device for s, device in zip((want, got), of)]
        compared.append((f"{kind}, of the time on the device,", *shares, tolerance))
    return [f"{what} {g:.1f}%, not about {w:.1f}%" for what, w, g, t in compared if abs(w - g) > t]


def wrong_device_times(expected, printed):
    want, got = device_times(expected), device_times(printed)
    wrong = [f"no line '{name}'" for name in want if name not in got]
    wrong += [f"a line '{name}' that ought not to be" for name in got if name not in want]
    for name in want.keys() & got.keys():
        found = wrong_shares(name == "critical", want[name], got[name])
        wrong += [f"{name}: {what}" for what in found]
    return wrong


def expected_output(text):
    """The program, the mark and the output that a source shows."""
    program, mark, expected = text.partition("\n" + MARK + "\n")
    return program, mark, re.sub(r"^// ?", "", expected, flags=re.MULTILINE)


def scaled(line, factor, more):
    """Its first share and the others, times the factor; `more` is added to the first."""
    added = [more]
    return re.sub(
        r"([\d.]+)%",
        lambda share: f"{float(share[1]) * factor + (added.pop() if added else 0):.1f}%",
        line,
    )


def self_test(source):
    with open(source, encoding="utf-8") as file:
        right = expected_output(file.read())[2]
    device = r"(?<=timeline of the devices\n)(?:.+\n)+"
    timeline = re.search(device, right)
    if not timeline or wrong_device_times(right, right):
        sys.exit(f"{source}: no timeline of the devices, or what it shows is called wrong")
    lines = timeline[0]
    busy = re.compile("(device 0  .*busy.*)")  # the first line of the section

    broken = {
        "no section": re.sub("timeline of the devices\n" + device, "", right),
        "an empty one": right.replace(lines, ""),
        "no critical path": right.replace(lines, lines[: lines.index("  critical")]),
        "other work than busy": re.sub(r"busy [\d.]+%", "busy 60.0%", right),
        "a device that does not compute": re.sub(r"(device 0.*?) computing [\d.]+%,", r"\1", right),
        "more communication": re.sub(r"communicating [\d.]+% \(", "communicating 60.0% (", right),
        "a path on the host": re.sub(r"(critical.*?)computing [\d.]+%", r"\1computing 1.0%", right),
        "a path that sums to less": re.sub(r"host [\d.]+%", "host 1.0%", right),
        "a second device": right.replace(lines, lines + lines.replace("device 0", "device 1")),
    }
    loaded = busy.sub(lambda line: scaled(line[1], 0.2, 0), right)
    loaded = re.sub(
        r"(  idle [^:\n]*: )(.*)", lambda line: line[1] + scaled(line[2], 0, 82), loaded
    )
    failed = [
        name
        for name, text in broken.items()
        if text == right or not wrong_device_times(right, text)
    ]
    if wrong_device_times(right, loaded):
        failed.append("a loaded machine, which is not wrong")
    if failed:
        sys.exit("not told from the right timeline: " + "; ".join(failed))


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--self-test"] and len(arguments) == 2:
        return self_test(arguments[1])
    accept = arguments[:1] == ["--accept"]
    if accept:
        arguments = arguments[1:]
    if len(arguments) < 2:
        sys.exit(__doc__)
    source, command = arguments[0], arguments[1:]
    with open(source, encoding="utf-8") as file:
        text = file.read()
    program, mark, expected = expected_output(text)

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
    wrong = wrong_device_times(expected, output) if whole else []
    if wrong:
        print(output)
        sys.exit("\n".join([f"the timeline of the devices is not as in {source}:", *wrong]))
    if want != got:
        print(output)
        print("\n".join(difflib.unified_diff(want, got, "expected", "printed", lineterm="")))
        sys.exit(
            f"the output differs from the last comment of {source}; if it is right, run this with "
            "--accept"
        )


main()
