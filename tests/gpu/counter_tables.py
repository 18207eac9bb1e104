# SPDX-License-Identifier: MIT
"""What ncu printed of one case, as numbers: the metrics that are asked for, and its table."""

from __future__ import annotations  # Python 3.9

import csv
import json
import math
import re
import sys

sys.dont_write_bytecode = True

# What is counted, and the metrics for it: the first alternative that the GPU has in full, added up.
# Checked with CUPTI's tables of TU102, GA100, AD102, GH100, GB100 and GB202.
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
NO_PERMISSION = (
    "ncu may not read this GPU's counters (ERR_NVGPUCTRPERM): run as root, or have the nvidia "
    "module loaded with "
    "NVreg_RestrictProfilingToAdminUsers=0; a container needs CAP_SYS_ADMIN besides"
)


class Unmeasured(Exception):
    """Why there are no numbers of a case."""


class Skipped(Unmeasured):
    """And that this is no fault."""


class NoPermission(Unmeasured):
    """Nor will there be of any other."""


def last_line(text):
    return (text.strip() or "it says nothing").split("\n")[-1]


def choose(known, lacking=frozenset()):
    """{what: metrics}, and {what: reason} for what this GPU cannot count. What it has is not known:
    the first alternatives, but
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
    """The kernels in what ncu printed, a dictionary each, and the units. Before and after are the
    program's lines and ncu's own."""
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
    """{"declared", "kernels", "counted": {what: number or None}, "reasons": {what: why there is
    none}} of what ncu said of one case."""
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
