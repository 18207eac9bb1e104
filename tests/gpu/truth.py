#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The catalogue's FLOPs and bytes against hardware counters, as a table: truth.py --build FOLDER --out FOLDER [--ncu PATH] [--only REGEX]

Runs each case of the programs truth and truth_libraries under ncu, which counts the instructions and the memory traffic of
one call, and compares with what kprof's operator declares. A difference above one percent fails, unless
truth_explanations.txt says why it is there. Writes truth.md and truth.json.
"""

import argparse
import csv
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import measuring

TOLERANCE = 0.01
PROGRAMS = ("truth", "truth_libraries")
WHATS = ("flops", "bytes_read", "bytes_written", "transcendentals")

# What is counted, and the metrics for it: the first alternative that the GPU has in full, added up. Checked with CUPTI's
# tables of TU102, GA100, AD102, GH100, GB100 and GB202.
SASS = "sm__sass_thread_inst_executed_op_{}_pred_on"
TENSOR = "sm__ops_path_tensor_src_{}"
METRICS = {
    "fadd": [[SASS.format("fadd")]],
    "fmul": [[SASS.format("fmul")]],
    "ffma": [[SASS.format("ffma")]],
    "fadd2": [[SASS.format("fadd2")]],   # two at once: GB100 alone
    "fmul2": [[SASS.format("fmul2")]],
    "ffma2": [[SASS.format("ffma2")]],
    "fp32": [[SASS.format("fp32")]],     # all of single precision: also min, max, comparisons
    "xu": [["sm__thread_inst_executed_pipe_xu_pred_on"]],   # exp2, log2, reciprocals, roots, sines, and conversions
    "tf32": [[TENSOR.format("tf32_dst_fp32")]],
    "bf16": [[TENSOR.format("bf16_dst_fp32")]],
    "f16": [[TENSOR.format("fp16")], [TENSOR.format("fp16_dst_fp32"), TENSOR.format("fp16_dst_fp16")]],   # GH100; others
    "bytes_read": [["dram__bytes_read"], ["dram__bytes_op_read"]],   # the second of GB202
    "bytes_written": [["dram__bytes_write"], ["dram__bytes_op_write"]],
    "l2_read": [["lts__t_sectors_op_read"]],
    "l2_written": [["lts__t_sectors_op_write"]],
}
F32_FLOPS = {"fadd": 1, "fmul": 1, "ffma": 2, "fadd2": 2, "fmul2": 2, "ffma2": 4}
NEWER = ("fadd2", "fmul2", "ffma2")   # a GPU without these instructions has nothing to count
SECTOR = 32   # bytes

NO_PERMISSION = ("ncu may not read this GPU's counters (ERR_NVGPUCTRPERM): run as root, or have the nvidia module loaded with "
                 "NVreg_RestrictProfilingToAdminUsers=0; a container needs CAP_SYS_ADMIN besides")


class Unmeasured(Exception):
    """Why there are no numbers of a case."""


class Skipped(Unmeasured):
    """And that this is no fault."""


class NoPermission(Unmeasured):
    """Nor will there be of any other."""


def start(command, timeout=600):
    """Without KPROF, which could start another profiler, and in the C locale, which has the numbers as they are read here."""
    environment = {k: v for k, v in os.environ.items() if k != "KPROF"} | {"LC_ALL": "C"}
    try:
        return subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, errors="replace", timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Unmeasured(f"still at work after {timeout} s") from None
    except OSError as error:
        raise Unmeasured(str(error)) from None


# ---- what there is to measure, and with what

def list_cases(build):
    """[(program, case)], and for each program that is not there a reason."""
    cases, missing = [], {}
    for name in PROGRAMS:
        if not (build / name).exists():
            missing[name] = "it was not built"
            continue
        listed = start([build / name, "--list"])
        if listed.returncode != 0:
            missing[name] = "it does not start; " + last_line(listed.stderr)
        cases += [(build / name, line.split()[0]) for line in listed.stdout.split("\n") if line.strip() and listed.returncode == 0]
    return cases, missing


def last_line(text):
    return (text.strip() or "it says nothing").split("\n")[-1]


def metrics_of_gpu(ncu):
    """Names without suffix of all that ncu can count here; none where it does not tell."""
    asked = start([ncu, "--query-metrics"])
    return set(re.findall(r'^"?([a-z0-9]+__\w+)', asked.stdout, re.MULTILINE)) if asked.returncode == 0 else set()


def choose(known):
    """{what: metrics}, and {what: reason} for what this GPU cannot count. What it has is not known: the first alternatives."""
    chosen, reasons = {}, {}
    for what, alternatives in METRICS.items():
        there = [names for names in alternatives if known.issuperset(names)] or ([] if known or what in NEWER else alternatives)
        if there:
            chosen[what] = there[0]
        elif what not in NEWER:
            reasons[what] = "this GPU has no " + ", no ".join("+".join(names) for names in alternatives)
    return chosen, reasons


# ---- one case

def number(text):
    """Of a field of ncu's table, or None: "1,234", "1234", "1.5e9", "n/a"."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    return None if not math.isfinite(value) else int(value) if value == int(value) else value


def read_table(output):
    """The kernels in what ncu printed, a dictionary each, and the units. Before and after are the program's lines and ncu's own."""
    lines = output.splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith('"ID",')), None)
    if begin is None:
        return [], {}
    header, *rows = csv.reader(line for line in lines[begin:] if line.startswith('"'))
    for row in rows:
        if len(row) != len(header):
            raise Unmeasured(f"a row of ncu's table has {len(row)} fields and the first {len(header)}")
    table = [dict(zip(header, row)) for row in rows]
    units = table.pop(0) if table and table[0]["ID"] == "" else {}
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


def measure(ncu, program, case, chosen, reasons):
    """{"declared", "kernels", "counted": {what: number or None}, "reasons": {what: why there is none}} of one case."""
    metrics = [metric + ".sum" for names in chosen.values() for metric in names]
    done = start([ncu, "--clock-control", "none", "--profile-from-start", "off", "--csv", "--page", "raw", "--print-units", "base",
                  "--metrics", ",".join(metrics), program, case])
    said = done.stdout + "\n" + done.stderr
    if "ERR_NVGPUCTRPERM" in said:
        raise NoPermission(NO_PERMISSION)
    if skipped := re.search(r"^SKIP [^:]*: (.*)", done.stdout, re.MULTILINE):
        raise Skipped(skipped[1])
    if failed := re.search(r"^FAIL (.*)", done.stdout, re.MULTILINE):
        raise Unmeasured(failed[1])
    declared = re.search(r'^\{"case": .*', done.stdout, re.MULTILINE)
    errors = re.findall(r"^==ERROR== (.*)", said, re.MULTILINE)
    if errors or done.returncode != 0 or not declared:
        raise Unmeasured(f"it ends with status {done.returncode}; " + (errors[0] if errors else last_line(said)))
    kernels, units = read_table(done.stdout)
    if not kernels:
        raise Unmeasured("ncu saw no kernel")
    result = {"declared": json.loads(declared[0]), "kernels": [k["Kernel Name"] for k in kernels], "counted": {}, "reasons": dict(reasons)}
    for what, names in chosen.items():
        result["counted"][what], why = added_up(kernels, units, names)
        if why:
            result["reasons"][what] = why
    return result


def measured(result, what):
    """The number to hold against what is declared, and where there is none the reason."""
    if what == "flops":
        unit = result["declared"]["unit"]
        weights = F32_FLOPS | ({} if unit == "f32" else {unit: 1})   # epilogues of tensor cores' kernels too
    else:
        weights = {"xu" if what == "transcendentals" else what: 1}
    for part in weights:
        if part in result["reasons"]:
            return None, result["reasons"][part]
    return sum(weight * result["counted"].get(part, 0) for part, weight in weights.items()), ""


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
    """A row of the table for each number, with the word and the text for the line that tells of it."""
    rows = []
    for what in WHATS:
        declared, explanation = result["declared"][what], explanations.get((case, what), "")
        if declared == 0:
            continue   # no ratio; what is counted is in the second table
        value, why = measured(result, what)
        row = {"what": what, "declared": declared, "measured": value, "ratio": None, "explanation": explanation}
        if value is None:
            # What a GPU cannot count is no fault; what it should have counted is one.
            word, text = ("SKIP" if why.startswith("this GPU") else "FAIL"), f"n/a, {why}"
            row["explanation"] = why
        else:
            row["ratio"] = value / declared
            differs = abs(row["ratio"] - 1) > TOLERANCE
            word = "PASS" if differs == bool(explanation) else "FAIL"
            text = f"measured {value:,} is {row['ratio']:.4f} of the declared {declared:,}"
            if differs:
                row["explanation"] = explanation or "not explained"
                text += ", as explained" if explanation else f": mend the operator, or explain it in {file}"
            elif explanation:
                text += f": there is nothing to explain, drop the line in {file}"
        rows.append(row | {"word": word, "text": text})
    return rows


# ---- output

def shown(value):
    return "n/a" if value is None else f"{value:,}"


def page(about, results):
    lines = ["# What the catalogue declares, and what the GPU counts", "", *(f"- {line}" for line in about), "",
             "One call each, counted by ncu, with empty caches before it. \"flops\" are `fadd + fmul + 2 ffma` of all threads whose predicate",
             "holds, and for tensor cores their operations besides; bytes are those of DRAM; \"transcendentals\" are thread instructions of the",
             f"unit that does them, which also converts. A difference above {TOLERANCE:.0%} wants an explanation.", "",
             "| case | what | declared | measured | measured / declared | explanation |", "|---|---|---:|---:|---:|---|"]
    for case, result in results.items():
        for row in result["rows"]:
            ratio = "n/a" if row["ratio"] is None else f"{row['ratio']:.4f}"
            lines.append(f"| {case} | {row['what']} | {shown(row['declared'])} | {shown(row['measured'])} | {ratio} | {row['explanation']} |")
    lines += ["", "What else was counted: thread instructions, operations of tensor cores, and bytes between L2 and the multiprocessors.", "",
              "| case | fadd | fmul | ffma | other f32 | special | tf32 | bf16 | f16 | L2 read | L2 written |", "|---|" + "---:|" * 10]
    for case, result in results.items():
        c = {what: result["counted"].get(what) for what in METRICS}
        parts = [c[what] for what in ("fp32", "fadd", "fmul", "ffma")]
        others = None if None in parts else parts[0] - sum(parts[1:]) - sum(c[what] or 0 for what in NEWER)
        l2 = [None if c[what] is None else c[what] * SECTOR for what in ("l2_read", "l2_written")]
        columns = [*parts[1:], others, c["xu"], c["tf32"], c["bf16"], c["f16"], *l2]
        lines.append(f"| {case} | " + " | ".join(map(shown, columns)) + " |")
    lines += ["", "The calls, and their kernels:", ""]
    for case, result in results.items():
        d = result["declared"]
        lines.append(f"- {case}: `{d['operator']} {d['parameters']}`, {len(result['kernels'])} kernel{'s' if len(result['kernels']) > 1 else ''}: "
                     + ", ".join(f"`{name[:100]}`" for name in result["kernels"]))
    return lines + [""]


class Teller:
    """Prints the lines that run.sh reads, and knows whether any of them failed."""

    def __init__(self):
        self.words = []

    def __call__(self, word, text):
        self.words.append(word)
        print(f"{word} truth: {text}", flush=True)


def measure_all(tell, cases, explanations, options):
    """{case: result with its rows} of all that could be measured."""
    chosen, reasons = choose(metrics_of_gpu(options.ncu))
    results = {}
    for program, case in cases:
        if not re.search(options.only, f"truth.{case}"):
            continue
        try:
            result = results[case] = measure(options.ncu, program, case, chosen, reasons)
        except NoPermission as why:
            tell("FAIL", str(why))
            break
        except Unmeasured as why:
            tell("SKIP" if isinstance(why, Skipped) else "FAIL", f"{case}: {why}")
            continue
        result["rows"] = compare(case, result, explanations, options.explanations.name)
        for row in result["rows"]:
            tell(row["word"], f"{case} {row['what']}: {row['text']}")
    return results


def judged(figures, file):
    """A run's truth.json anew, with the explanations that there are now: its page, and the lines that tell of it."""
    explanations, wrong = read_explanations(file)
    lines = [f"FAIL truth: {text}" for text in wrong]
    for case, result in figures["cases"].items():
        result["rows"] = compare(case, result, explanations, file.name)
        lines += [f"{row['word']} truth: {case} {row['what']}: {row['text']}" for row in result["rows"]]
    return "\n".join(page(figures["machine"], figures["cases"])), lines


def compare_all(tell, options):
    cases, missing = list_cases(options.build)
    for program, why in missing.items():
        tell("SKIP", f"{program}: {why}")
    explanations, wrong = read_explanations(options.explanations)
    for text in wrong:
        tell("FAIL", text)
    if not missing:
        for case in sorted({case for case, _ in explanations} - {case for _, case in cases}):
            tell("FAIL", f"{options.explanations.name} explains {case}, which is no case")
    results = measure_all(tell, cases, explanations, options)
    if results:
        about = [*measuring.machine(), "ncu: " + last_line(start([options.ncu, "--version"]).stdout)]
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "truth.md").write_text("\n".join(page(about, results)))
        (options.out / "truth.json").write_text(json.dumps({"machine": about, "cases": results}, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--ncu", default="ncu")
    parser.add_argument("--only", default="", help="cases that match this regular expression, as truth.CASE")
    parser.add_argument("--explanations", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent / "truth_explanations.txt")
    options = parser.parse_args()
    tell = Teller()
    if shutil.which(options.ncu) is None:
        tell("SKIP", f"there is no {options.ncu}: it is Nsight Compute's, and comes with the CUDA Toolkit")
        return 0
    try:
        compare_all(tell, options)
    except Unmeasured as why:
        tell("FAIL", str(why))
    return 1 if "FAIL" in tell.words else 0


if __name__ == "__main__":
    sys.exit(main())
