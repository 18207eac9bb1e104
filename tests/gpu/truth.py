#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The catalogue's FLOPs and bytes against hardware counters, as a table:

  truth.py --build FOLDER --out OUT [--ncu PATH] [--case-seconds N] [--only REGEX]
  truth.py --saved FOLDER --out OUT [--only REGEX]

Runs each case of the programs truth, truth_cublas and truth_cudnn under ncu, which counts the
instructions and the memory traffic of
one call, and compares with what kprof's operator declares. A difference above one percent fails,
unless
truth_explanations.txt says why it is there. Writes truth.md and truth.json, anew after each case,
and into OUT/ncu all that
ncu said: the second form reads such a folder, and needs neither ncu nor a GPU.
"""

import argparse
import json
import pathlib
import re
import shutil
import signal
import sys
import traceback

sys.dont_write_bytecode = True
from counter_tables import (
    METRICS,
    NEWER,
    SECTOR,
    NoPermission,
    Skipped,
    Unmeasured,
    last_line,
    measure,
    measured,
)
from counters import Counting, Saved, list_cases
from measuring import write

TOLERANCE = 0.01  # a difference above it wants an explanation
# one from here on may have one: what is near one percent may be above it on one GPU and below on
# another
NEGLIGIBLE = 0.005
WHATS = ("flops", "bytes_read", "bytes_written", "transcendentals")


# ---- comparison


def read_explanations(path):
    """{(case, what): text}, and what is wrong with the file."""
    explanations, wrong = {}, []
    for n, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = re.fullmatch(r"(\S+) (\w+): (.+)", line)
        if not parts or parts[2] not in WHATS:
            wrong.append(f"{path.name}:{n}: not `CASE WHAT: TEXT`, what being {', '.join(WHATS)}")
        elif parts.group(1, 2) in explanations:
            wrong.append(f"{path.name}:{n}: a second line for {parts[1]} {parts[2]}")
        else:
            explanations[parts.group(1, 2)] = parts[3]
    return explanations, wrong


def compare(case, result, explanations, file):
    """A row of the table for each number, with the word and the text for the line that tells of
    it."""
    rows = []
    for what in WHATS:
        declared, explanation = result["declared"][what], explanations.get((case, what), "")
        if declared == 0:
            continue  # no ratio; what is counted is in the second table
        value, why = measured(result, what)
        row = {
            "what": what,
            "declared": declared,
            "measured": value,
            "ratio": None,
            "explanation": explanation,
        }
        if value is None:
            # What a GPU cannot count is no fault; what it should have counted is one.
            word, text = ("SKIP" if why.startswith("this GPU") else "FAIL"), f"n/a, {why}"
            row["explanation"] = why
        else:
            row["ratio"] = value / declared
            difference = abs(row["ratio"] - 1)
            word = (
                "PASS"
                if (difference >= NEGLIGIBLE if explanation else difference <= TOLERANCE)
                else "FAIL"
            )
            text = f"measured {value:,} is {row['ratio']:.4f} of the declared {declared:,}"
            if explanation:
                text += (
                    ", as explained"
                    if word == "PASS"
                    else f": there is nothing to explain, drop the line in {file}"
                )
            elif word == "FAIL":
                row["explanation"] = "not explained"
                text += f": mend the operator, or explain it in {file}"
        rows.append(row | {"word": word, "text": text})
    return rows


# ---- output


def shown(value):
    return "n/a" if value is None else f"{value:,}"


def page(about, results):
    lines = [
        "# What the catalogue declares, and what the GPU counts",
        "",
        *(f"- {line}" for line in about),
        "",
        "One call each, counted by ncu, with empty caches before it. \"flops\" are `fadd + fmul + "
        "2 ffma` of all threads whose predicate",
        "holds, and for tensor cores their operations besides; bytes are those of DRAM; "
        "\"transcendentals\" are thread instructions of the",
        "unit that does them, which also converts.",
        f"A difference above {TOLERANCE:.0%} wants an explanation; one from {NEGLIGIBLE:.1%} on "
        f"may have one.",
        "",
        "| case | what | declared | measured | measured / declared | explanation |",
        "|---|---|---:|---:|---:|---|",
    ]
    for case, result in results.items():
        for row in result["rows"]:
            ratio = "n/a" if row["ratio"] is None else f"{row['ratio']:.4f}"
            lines.append(
                f"| {case} | {row['what']} | {shown(row['declared'])} | {shown(row['measured'])} | "
                f"{ratio} | {row['explanation']} |"
            )
    lines += [
        "",
        "What else was counted: thread instructions, operations of tensor cores, and bytes between "
        "L2 and the multiprocessors.",
        "",
        "| case | fadd | fmul | ffma | other f32 | special | tf32 | bf16 | f16 | L2 read | L2 "
        "written |",
        "|---|" + "---:|" * 10,
    ]
    for case, result in results.items():
        c = {what: result["counted"].get(what) for what in METRICS}
        parts = [c[what] for what in ("fp32", "fadd", "fmul", "ffma")]
        others = (
            None
            if None in parts
            else parts[0] - sum(parts[1:]) - sum(c[what] or 0 for what in NEWER)
        )
        l2 = [None if c[what] is None else c[what] * SECTOR for what in ("l2_read", "l2_written")]
        columns = [*parts[1:], others, c["xu"], c["tf32"], c["bf16"], c["f16"], *l2]
        lines.append(f"| {case} | " + " | ".join(map(shown, columns)) + " |")
    lines += ["", "The calls, and their kernels:", ""]
    for case, result in results.items():
        d = result["declared"]
        lines.append(
            f"- {case}: `{d['operator']} {d['parameters']}`, {len(result['kernels'])} "
            f"kernel{'s' if len(result['kernels']) > 1 else ''}: "
            + ", ".join(f"`{name[:100]}`" for name in result["kernels"])
        )
    return lines + [""]


class Teller:
    """Prints the lines that run.sh reads, and knows whether any of them failed."""

    def __init__(self):
        self.words = []

    def __call__(self, word, text):
        self.words.append(word)
        print(f"{word} truth: {text}", flush=True)


def measure_all(tell, source, cases, explanations, options):
    """All that can be measured; the files are whole after each case, as a run may be cut off."""
    machine, version = source.about()
    about, results = [*machine, "ncu: " + last_line(version.out)], {}
    for program, case in cases:
        if not re.search(options.only, f"truth.{case}"):
            continue
        try:
            result = results[case] = measure(source.count(program, case))
            result["rows"] = compare(case, result, explanations, options.explanations.name)
            write(
                options.out / "truth.json",
                json.dumps({"machine": about, "cases": results}, indent=1) + "\n",
            )
            write(options.out / "truth.md", "\n".join(page(about, results)))
        except NoPermission as why:
            tell("FAIL", str(why))
            break
        except Skipped as why:
            tell("SKIP", f"{case}: {why}")
            continue
        except (
            Exception
            # whatever is wrong, also here: the other cases are counted, and --saved reads this one
            # again
        ) as why:
            results.pop(case, None)
            if not isinstance(why, Unmeasured):
                traceback.print_exc()
                why = f"{type(why).__name__}: {why}"
            kept = source.folder / f"{case}.txt"
            tell(
                "FAIL",
                f"{case}: {why}"
                + (f"; see {source.folder.name}/{kept.name}" if kept.exists() else ""),
            )
            continue
        for row in result["rows"]:
            tell(row["word"], f"{case} {row['what']}: {row['text']}")


def judged(figures, file):
    """A run's truth.json anew, with the explanations that there are now: its page, and the lines
    that tell of it."""
    explanations, wrong = read_explanations(file)
    lines = [f"FAIL truth: {text}" for text in wrong]
    for case, result in figures["cases"].items():
        result["rows"] = compare(case, result, explanations, file.name)
        lines += [
            f"{row['word']} truth: {case} {row['what']}: {row['text']}" for row in result["rows"]
        ]
    return "\n".join(page(figures["machine"], figures["cases"])), lines


def compare_all(tell, source, options):
    cases, missing = list_cases(source)
    for program, why in missing.items():
        tell("SKIP", f"{program}: {why}")
    for name in ("truth.md", "truth.json"):  # there are others to come
        (options.out / name).unlink(missing_ok=True)
    explanations, wrong = read_explanations(options.explanations)
    for text in wrong:
        tell("FAIL", text)
    if not missing:
        for case in sorted({case for case, _ in explanations} - {case for _, case in cases}):
            tell("FAIL", f"{options.explanations.name} explains {case}, which is no case")
    measure_all(tell, source, cases, explanations, options)


def command_line():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=pathlib.Path, help="where the programs are")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--ncu", default="ncu")
    parser.add_argument(
        "--case-seconds", type=float, default=90, help="how long a case may take; default 90"
    )
    parser.add_argument(
        "--saved",
        type=pathlib.Path,
        help="the folder ncu of an earlier run's OUT, in place of ncu and the programs",
    )
    parser.add_argument(
        "--only", default="", help="cases that match this regular expression, as truth.CASE"
    )
    parser.add_argument(
        "--explanations",
        type=pathlib.Path,
        default=pathlib.Path(__file__).resolve().parent / "truth_explanations.txt",
    )
    options = parser.parse_args()
    if options.build is None and options.saved is None:
        parser.error("one of --build and --saved is needed")
    return options


def main():
    options = command_line()
    for number in (signal.SIGTERM, signal.SIGHUP):  # or ncu, in its own session, would go on
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    tell = Teller()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.saved is None and shutil.which(options.ncu) is None:
        tell(
            "SKIP",
            f"there is no {options.ncu}: it is Nsight Compute's, and comes with the CUDA Toolkit",
        )
        return 0
    try:
        compare_all(tell, Saved(options) if options.saved else Counting(options), options)
    except Unmeasured as why:
        tell("FAIL", str(why))
    return 1 if "FAIL" in tell.words else 0


if __name__ == "__main__":
    sys.exit(main())
