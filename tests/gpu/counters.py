# SPDX-License-Identifier: MIT
"""Hardware counters of the cases of truth, truth_cublas and truth_cudnn, by ncu or from what ncu
said before: what truth.py compares."""

from __future__ import annotations  # Python 3.9

import functools
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import typing

sys.dont_write_bytecode = True
import measuring
from counter_tables import (
    Unmeasured,
    Skipped,
    last_line,
    choose,
    asked,
)
from measuring import write

PROGRAMS = ("truth", "truth_cublas", "truth_cudnn")
NO_METRIC = re.compile(
    r"^==(?:ERROR|WARNING)==.*(?:to find|not find|cannot find|not found|no "
    r"such|unknown|unrecogni[sz]ed|invalid|unsupported|"
    r"not (?:a )?(?:valid|supported|available)).*",
    re.MULTILINE | re.IGNORECASE,
)
METRIC = re.compile(r"[a-z0-9]+__\w+")  # without its suffix


class Call(typing.NamedTuple):
    """A program that was started: its status, or a text that says why it has none, and what it
    printed."""

    command: list
    status: int | str
    out: str
    err: str


def start(command, seconds):
    """In the C locale, which has the numbers as they are read here, and in a session of its own,
    which ends as a whole when the
    time is up: ncu's end alone would leave the program that it runs."""
    command = list(map(str, command))
    environment = measuring.environment({"LC_ALL": "C"})
    # a pipe could be held open by what outlives the program
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        except OSError as error:
            raise Unmeasured(str(error)) from None
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = f"still at work after {seconds:.3g} s"
        finally:
            if process.returncode is None:  # also where this script itself is told to end
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        said = []
        for file in (out, err):
            file.seek(0)
            said.append(file.read().decode(errors="replace"))
    return Call(command, status, *said)


def as_text(call):
    """Lines that begin with what they are: command, status, out, err."""
    lines = [f"command: {shlex.join(call.command)}", f"status: {call.status}"]
    for key, text in (("out", call.out), ("err", call.err)):
        lines += [f"{key}: {line}" for line in text.split("\n")]
    return "\n".join(lines) + "\n"


def read_calls(path):
    """All that a file has, one after the other."""
    calls = []
    for part in re.split(r"^command: ", path.read_bytes().decode(), flags=re.MULTILINE)[1:]:
        command, status, *said = part.removesuffix("\n").split("\n")
        status = status.removeprefix("status: ")
        out, err = (
            "\n".join(line.removeprefix(key) for line in said if line.startswith(key))
            for key in ("out: ", "err: ")
        )
        calls.append(
            Call(
                shlex.split(command),
                int(status) if re.fullmatch(r"-?\d+", status) else status,
                out,
                err,
            )
        )
    return calls


def not_found(call):
    """Those of them that ncu says it does not find."""
    complaints = NO_METRIC.findall(call.out + "\n" + call.err)
    return asked(call).intersection(name for line in complaints for name in METRIC.findall(line))


class Counting:
    """The programs and ncu as they are here. All that they say is kept, for Saved."""

    def __init__(self, options):
        self.build, self.ncu, self.seconds, self.folder = (
            options.build,
            options.ncu,
            options.case_seconds,
            options.out / "ncu",
        )
        self.lacking = set()
        self.folder.mkdir(parents=True, exist_ok=True)
        for old in self.folder.glob("*.txt"):
            old.unlink()

    def call(self, name, command, seconds):
        done, path = start(command, seconds), self.folder / f"{name}.txt"
        write(path, "".join(map(as_text, [*(read_calls(path) if path.exists() else []), done])))
        return done

    def listed(self, program):
        """The call that lists the program's cases, or None where it was not built."""
        path = self.build / program
        return (
            self.call(f"list_{program}", [path, "--list"], self.seconds) if path.exists() else None
        )

    def about(self):
        lines = measuring.machine()
        write(self.folder / "machine.txt", "\n".join(lines) + "\n")
        return lines, self.call("version", [self.ncu, "--version"], self.seconds)

    @functools.cached_property
    def known(self):
        """Names without suffix of all that ncu can count here; none where it does not tell."""
        told = self.call("query_metrics", [self.ncu, "--query-metrics"], self.seconds)
        return (
            set(re.findall(rf'^"?({METRIC.pattern})', told.out, re.MULTILINE))
            if told.status == 0
            else set()
        )

    def count(self, program, case):
        """The call of ncu. Without the metrics that it does not find, of which each try leaves out
        one at least."""
        known, deadline = self.known, time.monotonic() + self.seconds
        while True:
            chosen, _ = choose(known, self.lacking)
            if not chosen:
                raise Unmeasured("ncu finds none of the metrics")
            metrics = ",".join(metric + ".sum" for names in chosen.values() for metric in names)
            done = self.call(
                case,
                [
                    self.ncu,
                    "--clock-control",
                    "none",
                    "--profile-from-start",
                    "off",
                    "--csv",
                    "--page",
                    "raw",
                    "--print-units",
                    "base",
                    "--metrics",
                    metrics,
                    self.build / program,
                    case,
                ],
                max(1, deadline - time.monotonic()),
            )
            missing = not_found(done)
            self.lacking |= missing
            if not missing or isinstance(done.status, str) or time.monotonic() > deadline:
                return done


class Saved:
    """What Counting kept."""

    def __init__(self, options):
        self.folder = options.saved.resolve()

    def call(self, name):
        """The last of those with this name: what came before were tries with metrics that ncu did
        not find."""
        try:
            return read_calls(self.folder / f"{name}.txt")[-1]
        except (OSError, ValueError, IndexError) as why:
            raise Unmeasured(f"{self.folder.name}/{name}.txt cannot be read, {why}") from None

    def listed(self, program):
        return (
            self.call(f"list_{program}") if (self.folder / f"list_{program}.txt").exists() else None
        )

    def about(self):
        try:
            return (self.folder / "machine.txt").read_text(
                encoding="utf-8"
            ).splitlines(), self.call("version")
        except OSError as why:
            raise Unmeasured(f"there is nothing of ncu's in {self.folder}, {why}") from None

    def count(self, _, case):
        if not (self.folder / f"{case}.txt").exists():
            raise Skipped("nothing of it was saved")
        return self.call(case)


def list_cases(source):
    """[(program, case)], and for each program that is not there a reason."""
    cases, missing = [], {}
    for name in PROGRAMS:
        listed = source.listed(name)
        if listed is None:
            missing[name] = "it was not built"
        elif listed.status != 0:
            missing[name] = "it does not start; " + last_line(listed.err)
        else:
            cases += [(name, line.split()[0]) for line in listed.out.split("\n") if line.strip()]
    return cases, missing
