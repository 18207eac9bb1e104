#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What kprof costs a program that launches kernels, as tables: overhead.py --build FOLDER --out
FOLDER [option...]

The same loop of kernels (overhead.cu) is run without kprof, with it in several states, and as
libspin.so in a Python process with PyTorch's profiler or Triton's Proton around it, where they are
installed. First come rounds of kprof's programs, which run each of them once, then such rounds of
the processes of Python, which have a bare loop of their own to be compared with; as many as
--rounds and --seconds allow. After each round overhead.md is written, and overhead.json with every
run. Lines of what it prints that begin with PASS, FAIL or SKIP are checks; it ends with 1 where one
failed.

  --build FOLDER         holds overhead, overhead_bare and libspin.so
  --out FOLDER           for what it writes
  --shapes A,B           only these tables, of plain, streams, graph and python; all of them
  --rounds N             at most so many of either; 5, or 9 with --long
  --seconds S            begins no round that would end later, but always one of either; 450,
                         or 1800 with --long.
                         kprof's programs have 55 % of it
  --kernels N            launches in a run, a tenth of them where they are of 100 us; 100000, or
                         200000 with --long
  --cycles-per-us C      of the GPU's clock; measured where it is not given
"""

import argparse
import functools
import json
import pathlib
import re
import subprocess
import sys
import time

import measuring
from measuring import machine, run, write
from overhead_tables import (
    PROGRAMS,
    COLLECTING,
    LENGTHS_US,
    SHAPES,
    PEERS,
    OTHERS,
    ONE_SESSION,
    rows_of,
    written,
)

HERE = pathlib.Path(__file__).resolve().parent
SHARE_OF_PROGRAMS = 0.55  # of --seconds
WRITTEN = ("overhead.md", "overhead.json")


def settings_of(shapes, kernels, cycles_per_us):
    numbers = {
        length: max(100, round(kernels * min(1, 10 / length)) // 100 * 100) for length in LENGTHS_US
    }  # graphs are of 100
    return [
        {
            "launched": shape,
            "kernel_us": length,
            "cycles": round(length * cycles_per_us),
            "kernels": numbers[length],
        }
        for shape in SHAPES
        if shape in shapes
        for length in LENGTHS_US
        if (shape, length) != ("python", 100)
    ]  # which would hide all of a scope


LATE = "it took more than"


def attempted(command, environment=None, timeout=60):
    """What it printed, and None; or None, and why it printed nothing of use."""
    try:
        return json.loads(run(command, environment, timeout)), None
    except subprocess.TimeoutExpired:
        return None, f"{LATE} {timeout} s"
    except (
        RuntimeError
    ) as error:  # the last line of what it said, without the command and its settings
        return None, (
            "it ended with " + re.sub(r"(?s): .*\n", ": ", str(error).partition(" ended with ")[2])
        ).rstrip(": ")
    except (ValueError, OSError) as error:
        return None, str(error)


class Measurements:
    """What was run, by the number of its setting and its variant; what failed; who is absent."""

    def __init__(self, options, settings):
        self.options, self.settings = options, settings
        self.runs, self.absent, self.failures = {}, {}, []
        self.apart = set(ONE_SESSION)  # these have a process for each setting

    def add(self, name, numbers, answer):
        for i, measures in zip(numbers, answer):
            self.runs.setdefault((i, name), []).append(measures)

    def is_absent(self, name, why):
        self.absent[name] = why
        skip(name, why)

    def failed(self, name, numbers, why):
        """Other profilers may fail: that is told, and no failure of kprof's."""
        of = (
            self.settings[numbers[0]]
            if len(numbers) == 1
            else {"launched": "all in one process", "kernel_us": None}
        )
        self.failures.append(
            {"variant": name, "launched": of["launched"], "kernel_us": of["kernel_us"], "why": why}
        )
        what = f"{name}, {of['launched']}" + (f", {of['kernel_us']} us" if of["kernel_us"] else "")
        skip(what, why) if name in OTHERS else check(False, f"it is measured, {what}", why)

    def given_up(self, name, i):
        """What failed twice with a shape, or once for lack of time: it would use up that of all
        others."""
        mine = [
            f
            for f in self.failures
            if (f["variant"], f["launched"]) == (name, self.settings[i]["launched"])
        ]
        return len(mine) >= 2 or any(f["why"].startswith(LATE) for f in mine)

    def round_of_programs(self):
        """Variants run in turn, so that a drift of clocks meets all alike. Whether another round is
        of use."""
        for i, setting in enumerate(self.settings):
            for name, program, environment, arguments in (
                PROGRAMS if setting["launched"] != "python" else []
            ):
                if self.given_up(name, i):
                    continue
                command = [
                    self.options.build / program,
                    str(setting["cycles"]),
                    str(setting["kernels"]),
                    setting["launched"],
                    *arguments,
                ]
                measures, why = attempted(command, environment)
                self.failed(name, [i], why) if why else self.add(name, [i], [measures])
        self.save()
        return True

    def round_of_peers(self):
        """One process for all settings, or one for each, where the former fails. Whether another
        round is of use."""
        numbers = range(len(self.settings))
        for name in PEERS:
            if name not in self.apart and not self.ask(name, numbers):
                self.apart.add(name)
            for i in numbers if name in self.apart else []:
                if not self.given_up(name, i):
                    self.ask(name, [i])
            self.save()
        return not OTHERS <= self.absent.keys()  # a bare loop with nothing to compare it with

    def ask(self, name, numbers):
        """Runs these settings in one process, if it is not known to be absent. Whether it did not
        fail."""
        library = self.options.build / "libspin.so"
        if name in self.absent:
            return True
        if not library.exists():
            self.is_absent(name, f"there is no {library.name}")
            return True
        settings = json.dumps([self.settings[i] for i in numbers])
        answer, why = attempted(
            [sys.executable, HERE / "overhead_peers.py", name, library, settings],
            timeout=150 if len(numbers) > 1 else 75,
        )
        if why:
            self.failed(name, numbers, why)
        elif isinstance(answer, str):
            self.is_absent(name, answer)
        else:
            self.add(name, numbers, answer)
        return not why

    def rows(self):
        return rows_of(self.settings, self.runs)

    def save(self):
        """What there is by now: who stops this before its end has the rounds so far."""
        rows = self.rows()
        if not rows:
            return
        facts = machine()
        everything = {
            "machine": facts,
            "rows": rows,
            "absent": self.absent,
            "failures": self.failures,
        }
        write(self.options.out / WRITTEN[0], written(rows, self.absent, self.failures, facts))
        write(self.options.out / WRITTEN[1], json.dumps(everything, indent=1) + "\n")


def rounds(one_round, at_most, end):
    longest = 0
    for done in range(at_most):
        begin = time.monotonic()
        if done and begin + longest > end:
            break
        if not one_round():
            break
        longest = max(longest, time.monotonic() - begin)


def measure(options):
    """Whether all is well."""
    begin = time.monotonic()
    cycles_per_us, why = (
        (options.cycles_per_us, None)
        if options.cycles_per_us
        else attempted([options.build / "overhead_bare", "--calibrate"])
    )
    if why:
        return check(False, "the GPU's clock is measured", why)
    them = Measurements(options, settings_of(options.shapes, options.kernels, cycles_per_us))
    if set(options.shapes) != {"python"}:
        rounds(them.round_of_programs, options.rounds, begin + SHARE_OF_PROGRAMS * options.seconds)
    recorded = all_recorded(them.rows())
    rounds(them.round_of_peers, options.rounds, begin + options.seconds)
    return recorded and all(f["variant"] in OTHERS for f in them.failures)


check = functools.partial(measuring.check, "overhead")


def skip(what, why):
    print(f"SKIP overhead: {what}: {why}", flush=True)


def all_recorded(rows):
    """Of kprof's; other profilers may miss kernels, which the tables tell."""
    whole = True
    for r in rows:
        if r["variant"] in COLLECTING:
            wrong = [
                run for run in r["runs"] if run["seen"] != run["launched"] or run["dropped"] > 0
            ]
            whole &= check(
                not wrong,
                f"every kernel is recorded, {r['launched']}, {r['kernel_us']} us, {r['variant']}",
                "; ".join(
                    f"{run['seen']} of {run['launched']}, {run['dropped']} dropped" for run in wrong
                ),
            )
    return whole


def shapes_of(text):
    shapes = text.split(",")
    if not set(shapes) <= set(SHAPES):
        raise argparse.ArgumentTypeError(f"of {', '.join(SHAPES)}")
    return shapes


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--shapes", type=shapes_of, default=list(SHAPES))
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--kernels", type=int)
    parser.add_argument("--cycles-per-us", type=float)
    options = parser.parse_args()
    for name, value in zip(
        ("rounds", "seconds", "kernels"), (9, 1800, 200_000) if options.long else (5, 450, 100_000)
    ):
        if getattr(options, name) is None:
            setattr(options, name, value)
    options.build = (
        options.build.resolve()
    )  # a program without a slash, and a library, would be looked for elsewhere
    options.out.mkdir(parents=True, exist_ok=True)
    for name in WRITTEN:
        (options.out / name).unlink(
            missing_ok=True
        )  # of a run before, which this one's would be taken for
    right = measure(options)
    if (options.out / WRITTEN[0]).exists():
        print((options.out / WRITTEN[0]).read_text())
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
