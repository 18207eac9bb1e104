# SPDX-License-Identifier: MIT
"""Hardware counters of the cases of truth, truth_cublas and truth_cudnn, by ncu or from what ncu said before: what truth.py compares."""

from __future__ import annotations  # Python 3.9

import csv
import functools
import json
import math
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
from measuring import write

PROGRAMS = ("truth", "truth_cublas", "truth_cudnn")

# What is counted, and the metrics for it: the first alternative that the GPU has in full, added up.
# Checked with CUPTI's
# tables of TU102, GA100, AD102, GH100, GB100 and GB202.
SASS = "sm__sass_thread_inst_executed_op_{}_pred_on"
TENSOR = "sm__ops_path_tensor_src_{}"
METRICS = {
    "fadd": [[SASS.format("fadd")]],
    "fmul": [[SASS.format("fmul")]],
    "ffma": [[SASS.format("ffma")]],
    "fadd2": [[SASS.format("fadd2")]],  # two at once: GB100 alone
    "fmul2": [[SASS.format("fmul2")]],
    "ffma2": [[SASS.format("ffma2")]],
    "fp32": [[SASS.format("fp32")]],  # all of single precision: also min, max, comparisons
    "xu": [
        ["sm__thread_inst_executed_pipe_xu_pred_on"]
    ],  # exp2, log2, reciprocals, roots, sines, and conversions
    "tf32": [[TENSOR.format("tf32_dst_fp32")]],
    "bf16": [[TENSOR.format("bf16_dst_fp32")]],
    "f16": [
        [TENSOR.format("fp16")],
        [TENSOR.format("fp16_dst_fp32"), TENSOR.format("fp16_dst_fp16")],
    ],  # GH100; others
    "bytes_read": [["dram__bytes_read"], ["dram__bytes_op_read"]],  # the second of GB202
    "bytes_written": [["dram__bytes_write"], ["dram__bytes_op_write"]],
    "l2_read": [["lts__t_sectors_op_read"]],
    "l2_written": [["lts__t_sectors_op_write"]],
}
F32_FLOPS = {"fadd": 1, "fmul": 1, "ffma": 2, "fadd2": 2, "fmul2": 2, "ffma2": 4}
NEWER = ("fadd2", "fmul2", "ffma2")  # a GPU without these instructions has nothing to count
SECTOR = 32  # bytes
NO_METRIC = re.compile(
    r"^==(?:ERROR|WARNING)==.*(?:to find|not find|cannot find|not found|no such|unknown|unrecogni[sz]ed|invalid|unsupported|"
    r"not (?:a )?(?:valid|supported|available)).*",
    re.MULTILINE | re.IGNORECASE,
)
METRIC = re.compile(r"[a-z0-9]+__\w+")  # without its suffix

NO_PERMISSION = (
    "ncu may not read this GPU's counters (ERR_NVGPUCTRPERM): run as root, or have the nvidia module loaded with "
    "NVreg_RestrictProfilingToAdminUsers=0; a container needs CAP_SYS_ADMIN besides"
)


class Unmeasured(Exception):
    """Why there are no numbers of a case."""


class Skipped(Unmeasured):
    """And that this is no fault."""


class NoPermission(Unmeasured):
    """Nor will there be of any other."""


class Call(typing.NamedTuple):
    """A program that was started: its status, or a text that says why it has none, and what it printed."""

    command: list
    status: int | str
    out: str
    err: str


def start(command, seconds):
    """In the C locale, which has the numbers as they are read here, and in a session of its own, which ends as a whole when the
    time is up: ncu's end alone would leave the program that it runs."""
    command = list(map(str, command))
    environment = measuring.environment({"LC_ALL": "C"})
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:  # a pipe could be held open by what outlives the program
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


def last_line(text):
    return (text.strip() or "it says nothing").split("\n")[-1]


# ---- files


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


# ---- what there is to measure, and with what


def choose(known, lacking=frozenset()):
    """{what: metrics}, and {what: reason} for what this GPU cannot count. What it has is not known: the first alternatives, but
    for those that it is known to lack."""
    chosen, reasons = {}, {}
    for what, alternatives in METRICS.items():
        there = [
            names
            for names in alternatives
            if lacking.isdisjoint(names)
            and (known.issuperset(names) if known else what not in NEWER)
        ]
        if there:
            chosen[what] = there[0]
        elif what not in NEWER:
            reasons[what] = "this GPU has no " + ", no ".join(
                "+".join(names) for names in alternatives
            )
    return chosen, reasons


def asked(call):
    """The metrics that ncu was asked for, without suffix."""
    names = call.command[call.command.index("--metrics") + 1]
    return {name.removesuffix(".sum") for name in names.split(",")}


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
        """The call of ncu. Without the metrics that it does not find, of which each try leaves out one at least."""
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
        """The last of those with this name: what came before were tries with metrics that ncu did not find."""
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


# ---- one case


def number(text):
    """Of a field of ncu's table, or None: "1,234", "1234", "1.5e9", "n/a"."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    return None if not math.isfinite(value) else int(value) if value == int(value) else value


def fields(line):
    try:
        return next(csv.reader([line]))
    except csv.Error:
        return []


def read_table(output):
    """The kernels in what ncu printed, a dictionary each, and the units. Before and after are the program's lines and ncu's own."""
    rows = [fields(line) for line in output.splitlines() if line.strip()]
    begin = next(
        (i for i, row in enumerate(rows) if row[:1] == ["ID"] and "Kernel Name" in row), None
    )
    if begin is None:
        raise Unmeasured("ncu saw no kernel, or printed no table")
    header, rows = rows[begin], rows[begin + 1 :]
    end = next((i for i, row in enumerate(rows) if len(row) != len(header)), len(rows))
    for row in rows[end:]:  # not to be left out in silence: the sum would be too low
        if len(row) == len(header):
            raise Unmeasured("ncu's table goes on after other lines")
        if len(row) > 1 and row[0].isdigit():
            raise Unmeasured(
                f"a row of ncu's table has {len(row)} fields and the first {len(header)}"
            )
    table = [dict(zip(header, row)) for row in rows[:end]]
    units = table.pop(0) if table and table[0]["ID"] == "" else {}
    if not table:
        raise Unmeasured("no row of ncu's table is understood")
    return table, units


def added_up(kernels, units, metrics):
    """Of all kernels and metrics, and None with a reason where ncu gave no number for one."""
    total = 0
    for name in (metric + ".sum" for metric in metrics):
        if re.match(r"[kKMGTP](byte|inst|sector|op)", units.get(name, "")):
            return None, f"ncu gave {name} in {units[name]}"
        for kernel in kernels:
            value = number(kernel.get(name, ""))
            if value is None:
                return None, f"ncu gave no {name}"
            total += value
    return total, ""


def measure(call):
    """{"declared", "kernels", "counted": {what: number or None}, "reasons": {what: why there is none}} of what ncu said of one case."""
    said = call.out + "\n" + call.err
    if "ERR_NVGPUCTRPERM" in said:
        raise NoPermission(NO_PERMISSION)
    if isinstance(call.status, str):
        raise Unmeasured(call.status)
    if skipped := re.search(r"^SKIP [^:]*: (.*)", call.out, re.MULTILINE):
        raise Skipped(skipped[1])
    if failed := re.search(r"^FAIL (.*)", call.out, re.MULTILINE):
        raise Unmeasured(failed[1])
    declared = re.search(r'^\{"case": .*', call.out, re.MULTILINE)
    errors = re.findall(r"^==ERROR== (.*)", said, re.MULTILINE)
    if errors or call.status != 0 or not declared:
        raise Unmeasured(
            f"it ends with status {call.status}; " + (errors[0] if errors else last_line(said))
        )
    kernels, units = read_table(call.out)
    chosen, reasons = choose(asked(call))
    result = {
        "declared": json.loads(declared[0]),
        "kernels": [k["Kernel Name"] for k in kernels],
        "counted": {},
        "reasons": reasons,
    }
    for what, names in chosen.items():
        result["counted"][what], why = added_up(kernels, units, names)
        if why:
            result["reasons"][what] = why
    return result


def measured(result, what):
    """The number to hold against what is declared, and where there is none the reason."""
    if what == "flops":
        unit = result["declared"]["unit"]
        weights = F32_FLOPS | (
            {} if unit == "f32" else {unit: 1}
        )  # epilogues of tensor cores' kernels too
    else:
        weights = {"xu" if what == "transcendentals" else what: 1}
    for part in weights:
        if part in result["reasons"]:
            return None, result["reasons"][part]
    return sum(weight * result["counted"].get(part, 0) for part, weight in weights.items()), ""
