#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The catalogue's FLOPs and bytes against hardware counters, as a table:

  truth.py --build FOLDER --out OUT [--ncu PATH] [--case-seconds N] [--only REGEX]
  truth.py --saved FOLDER --out OUT [--only REGEX]

Runs each case of the programs truth and truth_libraries under ncu, which counts the instructions and the memory traffic of
one call, and compares with what kprof's operator declares. A difference above one percent fails, unless
truth_explanations.txt says why it is there. Writes truth.md and truth.json, anew after each case, and into OUT/ncu all that
ncu said: the second form reads such a folder, and needs neither ncu nor a GPU.
"""

import argparse
import csv
import functools
import json
import math
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import typing

sys.dont_write_bytecode = True
import measuring

TOLERANCE = 0.01      # a difference above it wants an explanation
NEGLIGIBLE = 0.005    # one from here on may have one: what is near one percent may be above it on one GPU and below on another
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
NO_METRIC = re.compile(r"^==(?:ERROR|WARNING)==.*(?:to find|not find|cannot find|not found|no such|unknown|unrecogni[sz]ed|invalid|unsupported|"
                       r"not (?:a )?(?:valid|supported|available)).*", re.MULTILINE | re.IGNORECASE)
METRIC = re.compile(r"[a-z0-9]+__\w+")   # without its suffix

NO_PERMISSION = ("ncu may not read this GPU's counters (ERR_NVGPUCTRPERM): run as root, or have the nvidia module loaded with "
                 "NVreg_RestrictProfilingToAdminUsers=0; a container needs CAP_SYS_ADMIN besides")


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
    """Without KPROF, which could start another profiler, and in the C locale, which has the numbers as they are read here. In a
    session of its own, which ends as a whole when the time is up: ncu's end alone would leave the program that it runs."""
    command = list(map(str, command))
    environment = {k: v for k, v in os.environ.items() if k != "KPROF"} | {"LC_ALL": "C"}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:   # a pipe could be held open by what outlives the program
        try:
            process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
        except OSError as error:
            raise Unmeasured(str(error)) from None
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = f"still at work after {seconds:.3g} s"
        finally:
            if process.returncode is None:   # also where this script itself is told to end
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

def write(path, text):
    """At once: whoever is cut off leaves the old file or the new one."""
    new = path.with_name(path.name + ".new")
    new.write_bytes(text.encode(errors="replace"))   # bytes, as carriage returns must stay what they are
    os.replace(new, path)


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
        out, err = ("\n".join(line.removeprefix(key) for line in said if line.startswith(key)) for key in ("out: ", "err: "))
        calls.append(Call(shlex.split(command), int(status) if re.fullmatch(r"-?\d+", status) else status, out, err))
    return calls


# ---- what there is to measure, and with what

def choose(known, lacking=frozenset()):
    """{what: metrics}, and {what: reason} for what this GPU cannot count. What it has is not known: the first alternatives, but
    for those that it is known to lack."""
    chosen, reasons = {}, {}
    for what, alternatives in METRICS.items():
        there = [names for names in alternatives if lacking.isdisjoint(names) and (known.issuperset(names) if known else what not in NEWER)]
        if there:
            chosen[what] = there[0]
        elif what not in NEWER:
            reasons[what] = "this GPU has no " + ", no ".join("+".join(names) for names in alternatives)
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
        self.build, self.ncu, self.seconds, self.folder = options.build, options.ncu, options.case_seconds, options.out / "ncu"
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
        return self.call(f"list_{program}", [path, "--list"], self.seconds) if path.exists() else None

    def about(self):
        lines = measuring.machine()
        write(self.folder / "machine.txt", "\n".join(lines) + "\n")
        return lines, self.call("version", [self.ncu, "--version"], self.seconds)

    @functools.cached_property
    def known(self):
        """Names without suffix of all that ncu can count here; none where it does not tell."""
        told = self.call("query_metrics", [self.ncu, "--query-metrics"], self.seconds)
        return set(re.findall(rf'^"?({METRIC.pattern})', told.out, re.MULTILINE)) if told.status == 0 else set()

    def count(self, program, case):
        """The call of ncu. Without the metrics that it does not find, of which each try leaves out one at least."""
        known, deadline = self.known, time.monotonic() + self.seconds
        while True:
            chosen, _ = choose(known, self.lacking)
            if not chosen:
                raise Unmeasured("ncu finds none of the metrics")
            metrics = ",".join(metric + ".sum" for names in chosen.values() for metric in names)
            done = self.call(case, [self.ncu, "--clock-control", "none", "--profile-from-start", "off", "--csv", "--page", "raw",
                                    "--print-units", "base", "--metrics", metrics, self.build / program, case],
                             max(1, deadline - time.monotonic()))
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
        return self.call(f"list_{program}") if (self.folder / f"list_{program}.txt").exists() else None

    def about(self):
        try:
            return (self.folder / "machine.txt").read_text(encoding="utf-8").splitlines(), self.call("version")
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
    begin = next((i for i, row in enumerate(rows) if row[:1] == ["ID"] and "Kernel Name" in row), None)
    if begin is None:
        raise Unmeasured("ncu saw no kernel, or printed no table")
    header, rows = rows[begin], rows[begin + 1:]
    end = next((i for i, row in enumerate(rows) if len(row) != len(header)), len(rows))
    for row in rows[end:]:   # not to be left out in silence: the sum would be too low
        if len(row) == len(header):
            raise Unmeasured("ncu's table goes on after other lines")
        if len(row) > 1 and row[0].isdigit():
            raise Unmeasured(f"a row of ncu's table has {len(row)} fields and the first {len(header)}")
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
        raise Unmeasured(f"it ends with status {call.status}; " + (errors[0] if errors else last_line(said)))
    kernels, units = read_table(call.out)
    chosen, reasons = choose(asked(call))
    result = {"declared": json.loads(declared[0]), "kernels": [k["Kernel Name"] for k in kernels], "counted": {}, "reasons": reasons}
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
            difference = abs(row["ratio"] - 1)
            word = "PASS" if (difference >= NEGLIGIBLE if explanation else difference <= TOLERANCE) else "FAIL"
            text = f"measured {value:,} is {row['ratio']:.4f} of the declared {declared:,}"
            if explanation:
                text += ", as explained" if word == "PASS" else f": there is nothing to explain, drop the line in {file}"
            elif word == "FAIL":
                row["explanation"] = "not explained"
                text += f": mend the operator, or explain it in {file}"
        rows.append(row | {"word": word, "text": text})
    return rows


# ---- output

def shown(value):
    return "n/a" if value is None else f"{value:,}"


def page(about, results):
    lines = ["# What the catalogue declares, and what the GPU counts", "", *(f"- {line}" for line in about), "",
             "One call each, counted by ncu, with empty caches before it. \"flops\" are `fadd + fmul + 2 ffma` of all threads whose predicate",
             "holds, and for tensor cores their operations besides; bytes are those of DRAM; \"transcendentals\" are thread instructions of the",
             "unit that does them, which also converts.",
             f"A difference above {TOLERANCE:.0%} wants an explanation; one from {NEGLIGIBLE:.1%} on may have one.", "",
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
            write(options.out / "truth.json", json.dumps({"machine": about, "cases": results}, indent=1) + "\n")
            write(options.out / "truth.md", "\n".join(page(about, results)))
        except NoPermission as why:
            tell("FAIL", str(why))
            break
        except Skipped as why:
            tell("SKIP", f"{case}: {why}")
            continue
        except Exception as why:   # whatever is wrong, also here: the other cases are counted, and --saved reads this one again
            results.pop(case, None)
            if not isinstance(why, Unmeasured):
                traceback.print_exc()
                why = f"{type(why).__name__}: {why}"
            kept = source.folder / f"{case}.txt"
            tell("FAIL", f"{case}: {why}" + (f"; see {source.folder.name}/{kept.name}" if kept.exists() else ""))
            continue
        for row in result["rows"]:
            tell(row["word"], f"{case} {row['what']}: {row['text']}")


def judged(figures, file):
    """A run's truth.json anew, with the explanations that there are now: its page, and the lines that tell of it."""
    explanations, wrong = read_explanations(file)
    lines = [f"FAIL truth: {text}" for text in wrong]
    for case, result in figures["cases"].items():
        result["rows"] = compare(case, result, explanations, file.name)
        lines += [f"{row['word']} truth: {case} {row['what']}: {row['text']}" for row in result["rows"]]
    return "\n".join(page(figures["machine"], figures["cases"])), lines


def compare_all(tell, source, options):
    cases, missing = list_cases(source)
    for program, why in missing.items():
        tell("SKIP", f"{program}: {why}")
    explanations, wrong = read_explanations(options.explanations)
    for text in wrong:
        tell("FAIL", text)
    if not missing:
        for case in sorted({case for case, _ in explanations} - {case for _, case in cases}):
            tell("FAIL", f"{options.explanations.name} explains {case}, which is no case")
    measure_all(tell, source, cases, explanations, options)


def command_line():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, help="where the programs are")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--ncu", default="ncu")
    parser.add_argument("--case-seconds", type=float, default=90, help="how long a case may take; default 90")
    parser.add_argument("--saved", type=pathlib.Path, help="the folder ncu of an earlier run's OUT, in place of ncu and the programs")
    parser.add_argument("--only", default="", help="cases that match this regular expression, as truth.CASE")
    parser.add_argument("--explanations", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent / "truth_explanations.txt")
    options = parser.parse_args()
    if options.build is None and options.saved is None:
        parser.error("one of --build and --saved is needed")
    return options


def main():
    options = command_line()
    for number in (signal.SIGTERM, signal.SIGHUP):   # or ncu, in its own session, would go on
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    tell = Teller()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in ("truth.md", "truth.json"):
        (options.out / name).unlink(missing_ok=True)
    if options.saved is None and shutil.which(options.ncu) is None:
        tell("SKIP", f"there is no {options.ncu}: it is Nsight Compute's, and comes with the CUDA Toolkit")
        return 0
    try:
        compare_all(tell, Saved(options) if options.saved else Counting(options), options)
    except Unmeasured as why:
        tell("FAIL", str(why))
    return 1 if "FAIL" in tell.words else 0


if __name__ == "__main__":
    sys.exit(main())
