#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What truth.py says of counters that are told to it: test_truth.py BUILD SCRIPTED

BUILD has the program truth, which runs on the scripted CUDA in the folder SCRIPTED. A program called ncu runs it, and
prints a table as Nsight Compute does, with numbers made from what the program declares.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
import counters

SASS, TENSOR = "sm__sass_thread_inst_executed_op_", "sm__ops_path_tensor_src_"

# The variable FAKE tells it what to invent: {"times": {metric: factor}, "plus": {metric: number,
# also of one that it would not have},
# "renamed": {metric: its name here}, "lacks": [metric], "silent": {metric: what is there in place
# of a number}, "unit": {metric: unit},
# "kernels": how many, "commas": whether in numbers, "query": whether it tells what it can count,
# "cut": whether the last row is,
# "fails": with this message, "unknown": [metric that it does not find], "complaint": in which
# words, "hangs": [the case that never ends,
# with a program of its own, the file that has both their numbers], "bare": whether fields stand
# without quotes where they can,
# "before", "between", "after": lines before, in and after the table}
NCU = r'''#!/usr/bin/env python3
import json, os, subprocess, sys
fake = json.loads(os.environ["FAKE"])
SASS, TENSOR = "sm__sass_thread_inst_executed_op_", "sm__ops_path_tensor_src_"
KNOWN = {SASS + op + "_pred_on": "inst" for op in ("fadd", "fmul", "ffma", "fp32")}
KNOWN |= {TENSOR + kind: "" for kind in ("tf32_dst_fp32", "bf16_dst_fp32", "fp16")}
KNOWN |= {"sm__thread_inst_executed_pipe_xu_pred_on": "inst", "dram__bytes_read": "byte", "dram__bytes_write": "byte",
          "lts__t_sectors_op_read": "sector", "lts__t_sectors_op_write": "sector"}
KNOWN = {fake.get("renamed", {}).get(name, name): unit for name, unit in KNOWN.items()} | {name: "inst" for name in fake.get("plus", {})}
for name in fake.get("lacks", []):
    del KNOWN[name]

if "--version" in sys.argv:
    print("NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 1.2.3 (build 4)")
    sys.exit()
if "--query-metrics" in sys.argv:
    if not fake.get("query", True):
        sys.exit("==ERROR== no device")
    print("Device NVIDIA H100 (GH100)\n" + "-" * 30 + " -------\nMetric Name     Metric Type  Metric Unit  Metric Description\n" + "-" * 30)
    for name, unit in KNOWN.items():
        print(f"{name:<70} Counter      {unit:<12} # of what it says")
    sys.exit()

assert os.environ["LC_ALL"] == "C" and "KPROF" not in os.environ
arguments = sys.argv[1:]
asked = arguments[arguments.index("--metrics") + 1].split(",")
for needed in ("--csv", "--page raw", "--print-units base", "--profile-from-start off", "--clock-control none"):
    assert needed in " ".join(arguments), needed
if fake.get("query", True):
    assert all(name.removesuffix(".sum") in KNOWN for name in asked), f"asked for what this GPU has not: {asked}"
print("==PROF== Connected to process 4711 (program)", flush=True)
if fake.get("hangs", [""])[0] == arguments[-1]:
    child = subprocess.Popen(["sleep", "600"])
    with open(fake["hangs"][1], "w") as file:
        print(os.getpid(), child.pid, file=file)
    child.wait()
if unknown := [name for name in asked if name.removesuffix(".sum") in fake.get("unknown", [])]:
    print(fake.get("complaint", "==ERROR== Failed to find metric {}").format(unknown[0]), file=sys.stderr)
    sys.exit(1)
if fake.get("fails"):
    print("==ERROR== " + fake["fails"])
    sys.exit(1)
program = subprocess.run(arguments[-2:], capture_output=True, text=True)
print(program.stdout, end="")
print('==PROF== Profiling "kernel": 0%....50%....100% - 5 passes\n==PROF== Disconnected from process 4711')
if program.returncode != 0:
    print(f"==ERROR== The application returned an error code ({program.returncode}).")
    sys.exit(program.returncode)
if fake.get("kernels") == 0:
    print("==WARNING== No kernels were profiled.")
    sys.exit()
says = json.loads(next(line for line in program.stdout.split("\n") if line.startswith('{"case"')))
on_tensor_cores = says["unit"] != "f32"
metrics = {SASS + "ffma_pred_on": 0 if on_tensor_cores else says["flops"] // 2 - 4, SASS + "fadd_pred_on": 0 if on_tensor_cores else 2,
           SASS + "fmul_pred_on": 0 if on_tensor_cores else says["flops"] % 2 + 6, SASS + "fp32_pred_on": says["flops"] // 2 + 1000,
           TENSOR + "bf16_dst_fp32": says["flops"] if says["unit"] == "bf16" else 0, TENSOR + "tf32_dst_fp32": 0,
           TENSOR + "fp16": says["flops"] if says["unit"] == "f16" else 0,
           "sm__thread_inst_executed_pipe_xu_pred_on": says["transcendentals"], "dram__bytes_read": says["bytes_read"],
           "dram__bytes_write": says["bytes_written"], "lts__t_sectors_op_read": says["bytes_read"] // 32, "lts__t_sectors_op_write": 7}
metrics = {fake.get("renamed", {}).get(name, name): round(value * fake.get("times", {}).get(name, 1)) for name, value in metrics.items()}
for name, more in fake.get("plus", {}).items():
    metrics[name] = metrics.get(name, 0) + more

def row(fields):
    print(",".join(f'"{field}"' if "," in str(field) or not fake.get("bare") else str(field) for field in fields))

def lines(where):
    for line in fake.get(where, []):
        print(line)

def field(name, share, kernels):
    name = name.removesuffix(".sum")
    if name in fake.get("silent", {}):
        return fake["silent"][name]
    value = metrics[name] // kernels + (metrics[name] % kernels if share == 0 else 0)
    return f"{value:,}" if fake.get("commas", True) else str(value)

lines("before")
row(["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC", *asked])
row([""] * 11 + [fake.get("unit", {}).get(name.removesuffix(".sum"), KNOWN.get(name.removesuffix(".sum"), "")) for name in asked])
for k in range(fake.get("kernels", 1)):
    if k > 0:
        lines("between")
    cut = -1 if fake.get("cut") and k == fake.get("kernels", 1) - 1 else None
    row([k, 4711, "program", "127.0.0.1", f"kernel_{k}(const float *, float *, int)", 1, 7, "(256, 1, 1)", "(65536, 1, 1)", 0, "9.0",
         *[field(name, k, fake.get("kernels", 1)) for name in asked]][:cut])
lines("after")
print("==WARNING== Found outstanding GPU clock reset, trying to revert...Success.")
'''


NOT_BUILT = [f"SKIP truth: {name}: it was not built" for name in ("truth_cublas", "truth_cudnn")]


class Truth(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "build").mkdir()
        (self.folder / "build" / "truth").symlink_to(BUILD / "truth")
        (self.folder / "ncu").write_text(NCU)
        (self.folder / "ncu").chmod(0o755)
        self.explanations = ""

    def libraries(self, script):
        """A program in the place of truth_cublas."""
        program = self.folder / "build" / "truth_cublas"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    def started(self, only="saxpy", ncu="ncu", more=(), **fake):
        (self.folder / "why.txt").write_text(self.explanations)
        libraries = f"{SCRIPTED}:{os.environ.get('LD_LIBRARY_PATH', '')}"
        environment = os.environ | {
            "FAKE": json.dumps(fake),
            "LD_LIBRARY_PATH": libraries,
            "KPROF": "off",
            "LC_ALL": "de_DE.UTF-8",
        }
        command = [
            sys.executable,
            HERE / "truth.py",
            "--build",
            self.folder / "build",
            "--out",
            self.folder / "out",
            "--ncu",
            self.folder / ncu,
            "--only",
            only,
            "--explanations",
            self.folder / "why.txt",
            *more,
        ]
        return subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def heard(self, process, warns=""):
        """The lines of truth.py, but for those of libraries that are not there; its status is kept."""
        out, err = process.communicate()
        self.assertIn(warns, err) if warns else self.assertEqual(err, "")
        self.status = process.returncode
        return [line for line in out.splitlines() if line not in NOT_BUILT]

    def say(self, only="saxpy", ncu="ncu", more=(), **fake):
        return self.heard(self.started(only, ncu, more, **fake))

    def read_again(self, folder, *more, warns=""):
        """What is said of a folder that was kept, where neither ncu nor the programs are; `out` is the folder again then."""
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        (self.folder / "why.txt").write_text(self.explanations)
        command = [
            sys.executable,
            HERE / "truth.py",
            "--saved",
            folder,
            "--out",
            self.folder / "out",
            "--explanations",
            self.folder / "why.txt",
            *more,
        ]
        environment = os.environ | {"PATH": ""}
        return self.heard(
            subprocess.Popen(
                command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            ),
            warns,
        )

    def kept(self):
        """The folder that a run leaves, where no other touches it."""
        shutil.move(self.folder / "out" / "ncu", self.folder / "kept")
        return self.folder / "kept"

    def page(self):
        return (self.folder / "out" / "truth.md").read_text()

    def result(self, case="saxpy"):
        return json.loads((self.folder / "out" / "truth.json").read_text())["cases"][case]

    def test_what_is_exact_passes(self):
        lines = self.say(only="")
        self.assertEqual(
            [line.split(":")[0] for line in lines], ["PASS truth"] * 13, lines
        )  # three numbers a case, and softmax's exponentials
        self.assertEqual(
            lines[0],
            "PASS truth: saxpy flops: measured 536,870,912 is 1.0000 of the declared 536,870,912",
        )
        self.assertEqual(self.status, 0)
        self.assertIn(
            "| saxpy | bytes_read | 2,147,483,648 | 2,147,483,648 | 1.0000 |  |", self.page()
        )
        self.assertIn(
            "| tensor_core | flops | 1,099,511,627,776 | 1,099,511,627,776 | 1.0000 |  |",
            self.page(),
        )
        self.assertIn(
            "| softmax | transcendentals | 134,217,728 | 134,217,728 | 1.0000 |  |", self.page()
        )
        # fadd, fmul, ffma, the rest of fp32, xu, tensor cores, and 32 bytes a sector
        self.assertIn(
            "| saxpy | 2 | 6 | 268,435,452 | 996 | 0 | 0 | 0 | 0 | 2,147,483,648 | 224 |",
            self.page(),
        )
        self.assertIn(
            "- saxpy: `Axpy n=268435456 type=f32`, 1 kernel: `kernel_0(const float *, float *, int)`",
            self.page(),
        )
        self.assertIn("- ncu: Version 1.2.3 (build 4)", self.page())

    def test_numbers_without_separators_are_read_as_well(self):
        self.say(commas=False)
        self.assertEqual(self.result()["counted"]["bytes_read"], 2147483648)

    def test_fields_without_quotes_are_read_as_well(self):
        lines = self.say(bare=True, kernels=2)
        self.assertEqual([line.split()[0] for line in lines], ["PASS"] * 3, lines)
        self.assertEqual(self.result()["counted"]["bytes_read"], 2147483648)
        self.say(bare=True, commas=False)
        self.assertEqual(self.result()["counted"]["bytes_read"], 2147483648)

    def test_other_lines_around_the_table_are_left_out(self):
        other = ["==PROF== a, b", "", '"quoted", and not a row', "bye, all"]
        lines = self.say(kernels=2, before=other, after=other)
        self.assertEqual([line.split()[0] for line in lines], ["PASS"] * 3, lines)
        self.assertEqual(len(self.result()["kernels"]), 2)

    def test_a_table_that_is_not_understood_fails(self):
        for cut, text in (
            ({"between": ["==WARNING== who knows"]}, "ncu's table goes on after other lines"),
            ({"cut": True}, "a row of ncu's table has 22 fields and the first 23"),
        ):
            self.assertEqual(
                self.say(kernels=3, **cut), [f"FAIL truth: saxpy: {text}; see ncu/saxpy.txt"]
            )
            self.assertEqual(self.status, 1)
        lines = self.say(cut=True, only="saxpy|softmax", kernels=1)
        self.assertEqual([line.split()[2] for line in lines], ["saxpy:", "softmax:"], lines)
        header = '"ID","Kernel Name","a"'
        with self.assertRaisesRegex(counters.Unmeasured, "no row of ncu's table is understood"):
            counters.read_table(f"{header}\n==PROF== bye\n")
        with self.assertRaisesRegex(counters.Unmeasured, "no row of ncu's table is understood"):
            counters.read_table(f'{header}\n"","","inst"\n')

    def test_several_kernels_are_added_up(self):
        lines = self.say(kernels=3)
        self.assertEqual([line.split()[0] for line in lines], ["PASS"] * 3, lines)
        self.assertIn("3 kernels: `kernel_0(const float *, float *, int)`, `kernel_1(", self.page())

    def test_one_percent_is_let_pass_and_more_is_not(self):
        self.assertIn(
            "PASS truth: saxpy bytes_read: measured 2,168,958,270 is 1.0100 of the declared 2,147,483,648",
            self.say(times={"dram__bytes_read": 1.0099999}),
        )
        for factor, ratio in ((1.05, "1.0500"), (0.95, "0.9500"), (1.0101, "1.0101")):
            lines = self.say(times={"dram__bytes_write": factor})
            failed = [line for line in lines if line.startswith("FAIL")]
            self.assertEqual(len(failed), 1, lines)
            self.assertIn(
                f"saxpy bytes_written: measured {round(1073741824 * factor):,} is {ratio} of the declared 1,073,741,824: mend",
                failed[0],
            )
            self.assertEqual(self.status, 1)
            self.assertIn(f"| {ratio} | not explained |", self.page())

    def test_flops_are_those_of_the_case_s_unit_and_of_cuda_cores_beside_it(self):
        self.say(
            only="tensor_core",
            plus={
                SASS + "ffma_pred_on": 1000,
                SASS + "fadd_pred_on": 100,
                SASS + "fmul_pred_on": 10,
            },
        )
        self.assertEqual(
            self.result("tensor_core")["rows"][0]["measured"], 1099511627776 + 2000 + 100 + 10
        )
        self.say(plus={TENSOR + "bf16_dst_fp32": 10**12})
        self.assertEqual(self.result()["rows"][0]["measured"], 536870912)
        self.say(
            plus={
                SASS + "ffma2_pred_on": 1000,
                SASS + "fadd2_pred_on": 100,
                SASS + "fmul2_pred_on": 10,
            }
        )
        self.assertEqual(self.result()["rows"][0]["measured"], 536870912 + 4000 + 200 + 20)

    def test_half_precision_has_other_names_on_other_chips(self):
        declared = {
            "case": "gemm_f16",
            "operator": "Gemm",
            "parameters": "",
            "flops": 1000,
            "bytes_read": 64,
            "bytes_written": 32,
            "transcendentals": 0,
            "unit": "f16",
        }
        self.libraries(
            f"[ $1 = --list ] && echo gemm_f16 gpu && exit; echo '{json.dumps(declared)}'"
        )
        lines = self.say(only="gemm")
        self.assertEqual(
            lines[0], "PASS truth: gemm_f16 flops: measured 1,000 is 1.0000 of the declared 1,000"
        )
        lines = self.say(
            only="gemm",
            renamed={TENSOR + "fp16": TENSOR + "fp16_dst_fp32"},
            plus={TENSOR + "fp16_dst_fp16": 500},
        )
        self.assertIn("FAIL truth: gemm_f16 flops: measured 1,500 is 1.5000", lines[0])

    def test_an_explanation_makes_a_difference_pass(self):
        self.explanations = "# why\n\nsaxpy bytes_written: the last of it is still in L2\n"
        lines = self.say(times={"dram__bytes_write": 0.95})
        self.assertIn(
            "PASS truth: saxpy bytes_written: measured 1,020,054,733 is 0.9500 of the declared 1,073,741,824, as explained",
            lines,
        )
        self.assertEqual(self.status, 0)
        self.assertIn("| 0.9500 | the last of it is still in L2 |", self.page())

    def test_an_explanation_of_no_difference_fails(self):
        self.explanations = "saxpy bytes_written: the last of it is still in L2\n"
        lines = self.say()
        self.assertIn(
            "FAIL truth: saxpy bytes_written: measured 1,073,741,824 is 1.0000 of the declared 1,073,741,824: there is nothing to explain, "
            "drop the line in why.txt",
            lines,
        )
        self.assertEqual(self.status, 1)

    def test_an_explanation_stands_from_half_a_percent_on(self):
        self.explanations = "saxpy bytes_written: the last of it is still in L2\n"
        for factor, ratio in ((1.0051, "1.0051"), (0.9949, "0.9949")):
            lines = self.say(times={"dram__bytes_write": factor})
            self.assertIn(
                f"measured {round(1073741824 * factor):,} is {ratio} of the declared 1,073,741,824, as explained",
                lines[2],
            )
            self.assertEqual(self.status, 0)
            self.assertIn(f"| {ratio} | the last of it is still in L2 |", self.page())
        self.assertIn(
            "there is nothing to explain", self.say(times={"dram__bytes_write": 1.0049})[2]
        )
        self.assertEqual(self.status, 1)
        self.explanations = ""
        self.assertTrue(
            self.say(times={"dram__bytes_write": 1.0051})[2].endswith(
                "is 1.0051 of the declared 1,073,741,824"
            )
        )
        self.assertEqual(self.status, 0)

    def test_explanations_that_cannot_be_read_fail(self):
        self.explanations = "saxpy flops\nsaxpy speed: low\nsoftmax flops: a\nsoftmax flops: b\n"
        lines = self.say()
        wrong = (
            "not `CASE WHAT: TEXT`, what being flops, bytes_read, bytes_written, transcendentals"
        )
        self.assertEqual(
            lines[:3],
            [
                f"FAIL truth: why.txt:1: {wrong}",
                f"FAIL truth: why.txt:2: {wrong}",
                "FAIL truth: why.txt:4: a second line for softmax flops",
            ],
        )
        self.assertEqual(self.status, 1)

    def test_an_explanation_of_no_case_fails_where_all_cases_are_known(self):
        self.explanations = "saxpi flops: a slip of the pen\n"
        self.assertEqual(
            [line for line in self.say() if "saxpi" in line], []
        )  # it could be one of truth_cublas
        self.libraries("echo gemm_f32 gpu")
        shutil.copy(self.folder / "build/truth_cublas", self.folder / "build/truth_cudnn")
        self.assertIn("FAIL truth: why.txt explains saxpi, which is no case", self.say())

    def test_what_the_gpu_cannot_count_is_not_available(self):
        lines = self.say(lacks=["dram__bytes_read"])
        self.assertEqual(
            lines[1],
            "SKIP truth: saxpy bytes_read: n/a, this GPU has no dram__bytes_read, no dram__bytes_op_read",
        )
        self.assertIn(
            "| saxpy | bytes_read | 2,147,483,648 | n/a | n/a | this GPU has no dram__bytes_read, no dram__bytes_op_read |",
            self.page(),
        )
        self.assertEqual(self.status, 0)
        lines = self.say(only="tensor_core", lacks=["sm__ops_path_tensor_src_bf16_dst_fp32"])
        self.assertEqual(
            lines[0],
            "SKIP truth: tensor_core flops: n/a, this GPU has no sm__ops_path_tensor_src_bf16_dst_fp32",
        )

    def test_other_chips_names_are_found(self):
        lines = self.say(renamed={"dram__bytes_read": "dram__bytes_op_read"})
        self.assertEqual([line.split()[0] for line in lines], ["PASS"] * 3, lines)

    def test_what_ncu_leaves_out_fails(self):
        for text in ("n/a", "nan", "inf", ""):
            lines = self.say(silent={"dram__bytes_read": text})
            self.assertEqual(
                lines[1], "FAIL truth: saxpy bytes_read: n/a, ncu gave no dram__bytes_read.sum"
            )
            self.assertEqual(self.status, 1)
        self.assertEqual(
            self.say(cut=True),
            [
                "FAIL truth: saxpy: a row of ncu's table has 22 fields and the first 23; see ncu/saxpy.txt"
            ],
        )

    def test_scaled_units_fail(self):
        self.assertEqual(
            self.say(unit={"dram__bytes_read": "Mbyte"})[1],
            "FAIL truth: saxpy bytes_read: n/a, ncu gave dram__bytes_read.sum in Mbyte",
        )

    def test_a_gpu_that_does_not_tell_its_metrics_is_asked_for_hoppers(self):
        lines = self.say(query=False)
        self.assertEqual([line.split()[0] for line in lines], ["PASS"] * 3, lines)

    def test_a_metric_that_ncu_does_not_find_is_left_out(self):
        for complaint in (
            "==ERROR== Failed to find metric {}",
            "==WARNING== Metric '{}' not found",
            "==ERROR== unknown metric: {}.",
        ):
            lines = self.say(
                only="saxpy|softmax",
                query=False,
                unknown=["dram__bytes_read", "dram__bytes_op_read", TENSOR + "tf32_dst_fp32"],
                complaint=complaint,
            )
            missing = "SKIP truth: saxpy bytes_read: n/a, this GPU has no dram__bytes_read, no dram__bytes_op_read"
            self.assertEqual(
                [line for line in lines if not line.startswith("PASS")],
                [missing, missing.replace("saxpy", "softmax")],
                lines,
            )
            self.assertEqual(self.status, 0)
            self.assertEqual(
                len(counters.read_calls(self.folder / "out/ncu/saxpy.txt")), 4
            )  # one more each, then without them
            self.assertEqual(len(counters.read_calls(self.folder / "out/ncu/softmax.txt")), 1)

    def test_the_next_metric_is_tried_where_ncu_does_not_find_one(self):
        lines = self.say(
            query=False,
            renamed={"dram__bytes_read": "dram__bytes_op_read"},
            unknown=["dram__bytes_read"],
        )
        self.assertEqual([line.split()[0] for line in lines], ["PASS"] * 3, lines)

    def test_tries_with_fewer_metrics_end(self):
        every = [
            name
            for alternatives in counters.METRICS.values()
            for names in alternatives
            for name in names
        ]
        self.assertEqual(
            self.say(query=False, unknown=every),
            ["FAIL truth: saxpy: ncu finds none of the metrics; see ncu/saxpy.txt"],
        )
        self.assertLess(len(counters.read_calls(self.folder / "out/ncu/saxpy.txt")), len(every))
        lines = self.say(
            query=False, unknown=every, complaint="==ERROR== Failed to find metric another__one.sum"
        )
        self.assertEqual(
            lines,
            [
                "FAIL truth: saxpy: it ends with status 1; Failed to find metric another__one.sum; see ncu/saxpy.txt"
            ],
        )

    def test_no_kernel_fails(self):
        (self.folder / "out").mkdir()
        for name in ("truth.md", "truth.json"):
            (self.folder / "out" / name).write_text("of an earlier run\n")
        self.assertEqual(
            self.say(kernels=0),
            ["FAIL truth: saxpy: ncu saw no kernel, or printed no table; see ncu/saxpy.txt"],
        )
        self.assertEqual(self.status, 1)
        self.assertEqual([path.name for path in (self.folder / "out").iterdir()], ["ncu"])

    def running(self, numbers):
        """Those of the processes that have not ended; whose parent has not yet taken note has."""
        stats = [pathlib.Path(f"/proc/{number}/stat") for number in numbers]
        return [
            stat
            for stat in stats
            if stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"
        ]

    def pids(self):
        """The numbers of ncu and of its program, once they are at work on the case that never ends."""
        numbers = self.wait_for(
            lambda: (self.folder / "pids").exists() and (self.folder / "pids").read_text().split()
        )
        self.addCleanup(
            lambda: [
                os.kill(int(number), signal.SIGKILL) for number in numbers if self.running([number])
            ]
        )
        return numbers

    def wait_for(self, condition, seconds=60):
        until = time.monotonic() + seconds
        while not (result := condition()):
            self.assertLess(time.monotonic(), until)
            time.sleep(0.02)
        return result

    def test_a_case_that_does_not_end_is_ended_and_the_next_one_goes_on(self):
        lines = self.say(
            only="saxpy|softmax",
            more=["--case-seconds", "5"],
            hangs=["saxpy", str(self.folder / "pids")],
        )
        self.assertEqual(lines[0], "FAIL truth: saxpy: still at work after 5 s; see ncu/saxpy.txt")
        self.assertEqual([line.split()[0] for line in lines[1:]], ["PASS"] * 4, lines)
        self.assertEqual(self.status, 1)
        pids = self.pids()
        self.assertEqual(len(pids), 2)
        self.wait_for(lambda: not self.running(pids), 5)
        (call,) = counters.read_calls(self.folder / "out/ncu/saxpy.txt")
        self.assertEqual(
            (call.status, call.out),
            ("still at work after 5 s", "==PROF== Connected to process 4711 (program)\n"),
        )

    def test_a_run_that_is_cut_off_leaves_what_it_knows_and_no_process(self):
        process = self.started(only="saxpy|softmax", hangs=["softmax", str(self.folder / "pids")])
        pids = self.pids()
        self.assertEqual(self.result()["rows"][0]["ratio"], 1)
        self.assertIn("| saxpy | flops | 536,870,912 | 536,870,912 | 1.0000 |  |", self.page())
        process.terminate()
        self.assertEqual([line.split()[0] for line in self.heard(process)], ["PASS"] * 3)
        self.assertEqual(self.status, 128 + signal.SIGTERM)
        self.wait_for(lambda: not self.running(pids), 5)

    def test_a_file_is_never_half_written(self):
        path = self.folder / "truth.json"
        counters.write(path, "old")
        with unittest.mock.patch(
            "os.replace", side_effect=KeyboardInterrupt
        ) as replace, self.assertRaises(KeyboardInterrupt):
            counters.write(path, "new")
        self.assertEqual(path.read_text(), "old")
        self.assertEqual(
            replace.call_args[0][0].parent, self.folder
        )  # else it could not be renamed at once
        counters.write(path, "new")
        self.assertEqual(
            [(p.name, p.read_text()) for p in self.folder.glob("truth.json*")],
            [("truth.json", "new")],
        )

    def test_what_was_said_is_kept_and_can_be_read_again(self):
        lines, text = self.say(only="", kernels=2, times={"dram__bytes_write": 1.05}), self.page()
        figures = json.loads((self.folder / "out/truth.json").read_text())
        for name in (
            "version",
            "query_metrics",
            "machine",
            "saxpy",
            "softmax",
            "layer_norm",
            "tensor_core",
        ):
            self.assertTrue((self.folder / "out/ncu" / f"{name}.txt").exists(), name)
        self.assertIn("command: ", (self.folder / "out/ncu/saxpy.txt").read_text())
        kept = self.kept()
        machine = kept / "machine.txt"
        self.assertEqual(machine.read_text().splitlines(), figures["machine"][:-1])
        self.assertEqual(self.read_again(kept), lines)
        self.assertEqual(self.status, 1)
        self.assertEqual(
            (self.page(), json.loads((self.folder / "out/truth.json").read_text())), (text, figures)
        )
        self.explanations = "".join(
            f"{case} bytes_written: invented\n" for case in figures["cases"]
        )
        machine.write_text("Product Name: Invented GPU\n")
        self.assertEqual({line.split()[0] for line in self.read_again(kept)}, {"PASS"})
        self.assertEqual(self.status, 0)
        self.assertIn(
            "- Product Name: Invented GPU\n- ncu: Version 1.2.3 (build 4)\n\n", self.page()
        )

    def test_what_was_said_of_metrics_that_are_not_there_is_read_again(self):
        unknown = ["dram__bytes_read", "dram__bytes_op_read"]
        lines, kept = self.say(only="saxpy|softmax", query=False, unknown=unknown), self.kept()
        self.assertEqual(
            [line.split()[0] for line in lines], ["PASS", "SKIP", "PASS"] * 2 + ["PASS"]
        )
        self.assertEqual(self.read_again(kept, "--only", "saxpy|softmax"), lines)
        self.assertEqual(
            self.read_again(kept, "--only", "softmax"), lines[3:]
        )  # it was saxpy that tried them

    def test_failures_are_read_again(self):
        lines, kept = self.say(cut=True), self.kept()
        skipped = "SKIP truth: softmax: nothing of it was saved"
        self.assertEqual(
            self.read_again(kept, "--only", "saxpy|softmax"),
            [lines[0].replace("ncu/", "kept/"), skipped],
        )
        call = counters.read_calls(kept / "saxpy.txt")[0]
        counters.write(
            kept / "saxpy.txt", counters.as_text(call._replace(status="still at work after 90 s"))
        )
        self.assertEqual(
            self.read_again(kept, "--only", "saxpy"),
            ["FAIL truth: saxpy: still at work after 90 s; see kept/saxpy.txt"],
        )

    def test_a_folder_without_what_was_said_fails(self):
        lines = self.read_again(self.folder / "no_such")
        self.assertEqual(
            [line.split(",")[0] for line in lines if "was not built" not in line],
            [f"FAIL truth: there is nothing of ncu's in {self.folder}/no_such"],
        )
        self.assertEqual(self.status, 1)

    def test_what_cannot_be_read_fails_that_case_alone(self):
        self.say(only="saxpy|softmax")
        kept = self.kept()
        path = kept / "saxpy.txt"
        text = path.read_text()
        path.write_text(text.replace('"flops": ', '"flop": '))
        lines = self.read_again(kept, "--only", "saxpy|softmax", warns="KeyError")
        self.assertEqual(lines[0], "FAIL truth: saxpy: KeyError: 'flops'; see kept/saxpy.txt")
        self.assertEqual([line.split()[0] for line in lines[1:]], ["PASS"] * 4, lines)
        self.assertEqual(
            list(json.loads((self.folder / "out/truth.json").read_text())["cases"]), ["softmax"]
        )
        path.write_text("")
        self.assertIn(
            "FAIL truth: saxpy: kept/saxpy.txt cannot be read",
            self.read_again(kept, "--only", "saxpy")[0],
        )

    def test_a_call_is_read_as_it_was_written(self):
        calls = [
            counters.Call(
                ["ncu", "--csv", "a b", "it's"],
                0,
                "a\r 5%\r\nstatus: 3\n\ncommand: x\nerr: y",
                "\n",
            ),
            counters.Call(["ncu"], "still at work after 90 s", "", "\u00b5, \ufffd\n"),
            counters.Call(["x"], -9, "out: ", "\x0c\x85"),
        ]
        path = self.folder / "calls.txt"
        counters.write(path, "".join(map(counters.as_text, calls)))
        self.assertEqual(counters.read_calls(path), calls)

    def test_a_build_or_what_was_saved_is_needed(self):
        done = subprocess.run(
            [sys.executable, HERE / "truth.py", "--out", self.folder / "out"],
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 2)
        self.assertIn("one of --build and --saved is needed", done.stderr)

    def test_no_permission_fails_once_and_says_what_to_do(self):
        lines = self.say(
            only="",
            fails="ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters",
        )
        self.assertEqual(len(lines), 1, lines)
        self.assertIn(
            "FAIL truth: ncu may not read this GPU's counters (ERR_NVGPUCTRPERM): run as root",
            lines[0],
        )
        self.assertIn("NVreg_RestrictProfilingToAdminUsers=0", lines[0])
        self.assertEqual(self.status, 1)

    def test_what_else_ncu_complains_of_fails_that_case(self):
        lines = self.say(
            only="saxpy|softmax",
            fails="Profiling failed because a driver resource was unavailable.",
        )
        self.assertEqual(
            lines,
            [
                f"FAIL truth: {case}: it ends with status 1; Profiling failed because a driver resource was unavailable.; "
                f"see ncu/{case}.txt"
                for case in ("saxpy", "softmax")
            ],
        )

    def test_a_program_says_itself_what_is_wrong(self):
        self.libraries(
            '[ $1 = --list ] && echo gemm_f32 gpu && exit; echo "FAIL truth_cublas.gemm_f32: the result is right: is 3"; exit 1'
        )
        self.assertEqual(
            self.say(only="gemm"),
            [
                "FAIL truth: gemm_f32: truth_cublas.gemm_f32: the result is right: is 3; see ncu/gemm_f32.txt"
            ],
        )
        self.assertEqual(self.status, 1)
        self.libraries(
            '[ $1 = --list ] && echo gemm_f32 gpu && exit; echo "SKIP truth_cublas.gemm_f32: kernels are not executed here"; exit 77'
        )
        self.assertEqual(
            self.say(only="gemm"), ["SKIP truth: gemm_f32: kernels are not executed here"]
        )
        self.assertEqual(self.status, 0)
        self.libraries(
            """[ $1 = --list ] && echo gemm_f32 gpu && exit; echo '{"case": "gemm_f32"}'; exit 3"""
        )
        self.assertEqual(
            self.say(only="gemm"),
            [
                "FAIL truth: gemm_f32: it ends with status 3; The application returned an error code (3).; "
                "see ncu/gemm_f32.txt"
            ],
        )

    def test_a_program_that_does_not_start_is_skipped(self):
        self.libraries("echo libcudnn.so.9: cannot open shared object file >&2; exit 127")
        self.assertEqual(
            self.say(only="gemm"),
            [
                "SKIP truth: truth_cublas: it does not start; libcudnn.so.9: cannot open shared object file"
            ],
        )

    def test_no_ncu_is_skipped(self):
        lines = self.say(ncu="no_such")
        self.assertEqual(
            lines,
            [
                f"SKIP truth: there is no {self.folder}/no_such: it is Nsight Compute's, and comes with the CUDA Toolkit"
            ],
        )
        self.assertEqual(self.status, 0)

    def test_an_ncu_that_cannot_be_run_fails(self):
        (self.folder / "ncu").write_text("no program")
        lines = self.say()
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("FAIL truth: [Errno 8] Exec format error", lines[0])
        self.assertEqual(self.status, 1)


if __name__ == "__main__":
    BUILD, SCRIPTED = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
