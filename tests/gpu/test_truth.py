#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What truth.py says of counters that are told to it: test_truth.py BUILD SCRIPTED

BUILD has the program truth, which runs on the scripted CUDA in the folder SCRIPTED. A program called ncu runs it, and
prints a table as Nsight Compute does, with numbers made from what the program declares.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SASS, TENSOR = "sm__sass_thread_inst_executed_op_", "sm__ops_path_tensor_src_"

# The variable FAKE tells it what to invent: {"times": {metric: factor}, "plus": {metric: number, also of one that it would not have},
# "renamed": {metric: its name here}, "lacks": [metric], "silent": {metric: what is there in place of a number}, "unit": {metric: unit},
# "kernels": how many, "commas": whether in numbers, "query": whether it tells what it can count, "cut": whether the last row is,
# "fails": with this message}
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
print("==PROF== Connected to process 4711 (program)")
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
    print(",".join(f'"{field}"' for field in fields))

def field(name, share, kernels):
    name = name.removesuffix(".sum")
    if name in fake.get("silent", {}):
        return fake["silent"][name]
    value = metrics[name] // kernels + (metrics[name] % kernels if share == 0 else 0)
    return f"{value:,}" if fake.get("commas", True) else str(value)

row(["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC", *asked])
row([""] * 11 + [fake.get("unit", {}).get(name.removesuffix(".sum"), KNOWN.get(name.removesuffix(".sum"), "")) for name in asked])
for k in range(fake.get("kernels", 1)):
    cut = -1 if fake.get("cut") else None
    row([k, 4711, "program", "127.0.0.1", f"kernel_{k}(const float *, float *, int)", 1, 7, "(256, 1, 1)", "(65536, 1, 1)", 0, "9.0",
         *[field(name, k, fake.get("kernels", 1)) for name in asked]][:cut])
print("==WARNING== Found outstanding GPU clock reset, trying to revert...Success.")
'''


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
        """A program in the place of truth_libraries."""
        program = self.folder / "build" / "truth_libraries"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    def say(self, only="saxpy", ncu="ncu", **fake):
        """The lines of truth.py, but for the one of truth_libraries where there is none; its status is kept."""
        (self.folder / "why.txt").write_text(self.explanations)
        libraries = f"{SCRIPTED}:{os.environ.get('LD_LIBRARY_PATH', '')}"
        environment = os.environ | {"FAKE": json.dumps(fake), "LD_LIBRARY_PATH": libraries, "KPROF": "off", "LC_ALL": "de_DE.UTF-8"}
        command = [sys.executable, HERE / "truth.py", "--build", self.folder / "build", "--out", self.folder / "out", "--ncu", self.folder / ncu,
                   "--only", only, "--explanations", self.folder / "why.txt"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        self.status = done.returncode
        lines = done.stdout.splitlines()
        if ncu == "ncu" and not (self.folder / "build" / "truth_libraries").exists():
            self.assertEqual(lines.pop(0), "SKIP truth: truth_libraries: it was not built")
        return lines

    def page(self):
        return (self.folder / "out" / "truth.md").read_text()

    def result(self, case="saxpy"):
        return json.loads((self.folder / "out" / "truth.json").read_text())["cases"][case]

    def test_what_is_exact_passes(self):
        lines = self.say(only="")
        self.assertEqual([line.split(":")[0] for line in lines], ["PASS truth"] * 13, lines)   # three numbers a case, and softmax's exponentials
        self.assertEqual(lines[0], "PASS truth: saxpy flops: measured 536,870,912 is 1.0000 of the declared 536,870,912")
        self.assertEqual(self.status, 0)
        self.assertIn("| saxpy | bytes_read | 2,147,483,648 | 2,147,483,648 | 1.0000 |  |", self.page())
        self.assertIn("| tensor_core | flops | 1,099,511,627,776 | 1,099,511,627,776 | 1.0000 |  |", self.page())
        self.assertIn("| softmax | transcendentals | 134,217,728 | 134,217,728 | 1.0000 |  |", self.page())
        # fadd, fmul, ffma, the rest of fp32, xu, tensor cores, and 32 bytes a sector
        self.assertIn("| saxpy | 2 | 6 | 268,435,452 | 996 | 0 | 0 | 0 | 0 | 2,147,483,648 | 224 |", self.page())
        self.assertIn("- saxpy: `Axpy n=268435456 type=f32`, 1 kernel: `kernel_0(const float *, float *, int)`", self.page())
        self.assertIn("- ncu: Version 1.2.3 (build 4)", self.page())

    def test_numbers_without_separators_are_read_as_well(self):
        self.say(commas=False)
        self.assertEqual(self.result()["counted"]["bytes_read"], 2147483648)

    def test_several_kernels_are_added_up(self):
        lines = self.say(kernels=3)
        self.assertEqual([line.split()[0] for line in lines], ["PASS"] * 3, lines)
        self.assertIn("3 kernels: `kernel_0(const float *, float *, int)`, `kernel_1(", self.page())

    def test_one_percent_is_let_pass_and_more_is_not(self):
        self.assertIn("PASS truth: saxpy bytes_read: measured 2,168,958,270 is 1.0100 of the declared 2,147,483,648",
                      self.say(times={"dram__bytes_read": 1.0099999}))
        for factor, ratio in ((1.05, "1.0500"), (0.95, "0.9500"), (1.0101, "1.0101")):
            lines = self.say(times={"dram__bytes_write": factor})
            failed = [line for line in lines if line.startswith("FAIL")]
            self.assertEqual(len(failed), 1, lines)
            self.assertIn(f"saxpy bytes_written: measured {round(1073741824 * factor):,} is {ratio} of the declared 1,073,741,824: mend", failed[0])
            self.assertEqual(self.status, 1)
            self.assertIn(f"| {ratio} | not explained |", self.page())

    def test_flops_are_those_of_the_case_s_unit_and_of_cuda_cores_beside_it(self):
        self.say(only="tensor_core", plus={SASS + "ffma_pred_on": 1000, SASS + "fadd_pred_on": 100, SASS + "fmul_pred_on": 10})
        self.assertEqual(self.result("tensor_core")["rows"][0]["measured"], 1099511627776 + 2000 + 100 + 10)
        self.say(plus={TENSOR + "bf16_dst_fp32": 10**12})
        self.assertEqual(self.result()["rows"][0]["measured"], 536870912)
        self.say(plus={SASS + "ffma2_pred_on": 1000, SASS + "fadd2_pred_on": 100, SASS + "fmul2_pred_on": 10})
        self.assertEqual(self.result()["rows"][0]["measured"], 536870912 + 4000 + 200 + 20)

    def test_half_precision_has_other_names_on_other_chips(self):
        declared = {"case": "gemm_f16", "operator": "Gemm", "parameters": "", "flops": 1000, "bytes_read": 64, "bytes_written": 32,
                    "transcendentals": 0, "unit": "f16"}
        self.libraries(f"[ $1 = --list ] && echo gemm_f16 gpu && exit; echo '{json.dumps(declared)}'")
        lines = self.say(only="gemm")
        self.assertEqual(lines[0], "PASS truth: gemm_f16 flops: measured 1,000 is 1.0000 of the declared 1,000")
        lines = self.say(only="gemm", renamed={TENSOR + "fp16": TENSOR + "fp16_dst_fp32"}, plus={TENSOR + "fp16_dst_fp16": 500})
        self.assertIn("FAIL truth: gemm_f16 flops: measured 1,500 is 1.5000", lines[0])

    def test_an_explanation_makes_a_difference_pass(self):
        self.explanations = "# why\n\nsaxpy bytes_written: the last of it is still in L2\n"
        lines = self.say(times={"dram__bytes_write": 0.95})
        self.assertIn("PASS truth: saxpy bytes_written: measured 1,020,054,733 is 0.9500 of the declared 1,073,741,824, as explained", lines)
        self.assertEqual(self.status, 0)
        self.assertIn("| 0.9500 | the last of it is still in L2 |", self.page())

    def test_an_explanation_of_no_difference_fails(self):
        self.explanations = "saxpy bytes_written: the last of it is still in L2\n"
        lines = self.say()
        self.assertIn("FAIL truth: saxpy bytes_written: measured 1,073,741,824 is 1.0000 of the declared 1,073,741,824: there is nothing to explain, "
                      "drop the line in why.txt", lines)
        self.assertEqual(self.status, 1)

    def test_explanations_that_cannot_be_read_fail(self):
        self.explanations = "saxpy flops\nsaxpy speed: low\nsoftmax flops: a\nsoftmax flops: b\n"
        lines = self.say()
        wrong = "not `CASE WHAT: TEXT`, what being flops, bytes_read, bytes_written, transcendentals"
        self.assertEqual(lines[:3], [f"FAIL truth: why.txt:1: {wrong}", f"FAIL truth: why.txt:2: {wrong}",
                                     "FAIL truth: why.txt:4: a second line for softmax flops"])
        self.assertEqual(self.status, 1)

    def test_an_explanation_of_no_case_fails_where_all_cases_are_known(self):
        self.explanations = "saxpi flops: a slip of the pen\n"
        self.assertEqual([line for line in self.say() if "saxpi" in line], [])   # it could be one of truth_libraries
        self.libraries("echo gemm_f32 gpu")
        self.assertIn("FAIL truth: why.txt explains saxpi, which is no case", self.say())

    def test_what_the_gpu_cannot_count_is_not_available(self):
        lines = self.say(lacks=["dram__bytes_read"])
        self.assertEqual(lines[1], "SKIP truth: saxpy bytes_read: n/a, this GPU has no dram__bytes_read, no dram__bytes_op_read")
        self.assertIn("| saxpy | bytes_read | 2,147,483,648 | n/a | n/a | this GPU has no dram__bytes_read, no dram__bytes_op_read |", self.page())
        self.assertEqual(self.status, 0)
        lines = self.say(only="tensor_core", lacks=["sm__ops_path_tensor_src_bf16_dst_fp32"])
        self.assertEqual(lines[0], "SKIP truth: tensor_core flops: n/a, this GPU has no sm__ops_path_tensor_src_bf16_dst_fp32")

    def test_other_chips_names_are_found(self):
        lines = self.say(renamed={"dram__bytes_read": "dram__bytes_op_read"})
        self.assertEqual([line.split()[0] for line in lines], ["PASS"] * 3, lines)

    def test_what_ncu_leaves_out_fails(self):
        for text in ("n/a", "nan", "inf", ""):
            lines = self.say(silent={"dram__bytes_read": text})
            self.assertEqual(lines[1], "FAIL truth: saxpy bytes_read: n/a, ncu gave no dram__bytes_read.sum")
            self.assertEqual(self.status, 1)
        self.assertEqual(self.say(cut=True), ["FAIL truth: saxpy: a row of ncu's table has 22 fields and the first 23"])

    def test_scaled_units_fail(self):
        self.assertEqual(self.say(unit={"dram__bytes_read": "Mbyte"})[1], "FAIL truth: saxpy bytes_read: n/a, ncu gave dram__bytes_read.sum in Mbyte")

    def test_a_gpu_that_does_not_tell_its_metrics_is_asked_for_hoppers(self):
        lines = self.say(query=False)
        self.assertEqual([line.split()[0] for line in lines], ["PASS"] * 3, lines)

    def test_no_kernel_fails(self):
        self.assertEqual(self.say(kernels=0), ["FAIL truth: saxpy: ncu saw no kernel"])
        self.assertEqual(self.status, 1)
        self.assertFalse((self.folder / "out").exists())

    def test_no_permission_fails_once_and_says_what_to_do(self):
        lines = self.say(only="", fails="ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters")
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("FAIL truth: ncu may not read this GPU's counters (ERR_NVGPUCTRPERM): run as root", lines[0])
        self.assertIn("NVreg_RestrictProfilingToAdminUsers=0", lines[0])
        self.assertEqual(self.status, 1)

    def test_what_else_ncu_complains_of_fails_that_case(self):
        lines = self.say(only="saxpy|softmax", fails="Profiling failed because a driver resource was unavailable.")
        self.assertEqual(lines, [f"FAIL truth: {case}: it ends with status 1; Profiling failed because a driver resource was unavailable."
                                 for case in ("saxpy", "softmax")])

    def test_a_program_says_itself_what_is_wrong(self):
        self.libraries('[ $1 = --list ] && echo gemm_f32 gpu && exit; echo "FAIL truth_libraries.gemm_f32: the result is right: is 3"; exit 1')
        self.assertEqual(self.say(only="gemm"), ["FAIL truth: gemm_f32: truth_libraries.gemm_f32: the result is right: is 3"])
        self.assertEqual(self.status, 1)
        self.libraries('[ $1 = --list ] && echo gemm_f32 gpu && exit; echo "SKIP truth_libraries.gemm_f32: kernels are not executed here"; exit 77')
        self.assertEqual(self.say(only="gemm"), ["SKIP truth: gemm_f32: kernels are not executed here"])
        self.assertEqual(self.status, 0)
        self.libraries("""[ $1 = --list ] && echo gemm_f32 gpu && exit; echo '{"case": "gemm_f32"}'; exit 3""")
        self.assertEqual(self.say(only="gemm"), ["FAIL truth: gemm_f32: it ends with status 3; The application returned an error code (3)."])

    def test_a_program_that_does_not_start_is_skipped(self):
        self.libraries("echo libcudnn.so.9: cannot open shared object file >&2; exit 127")
        self.assertEqual(self.say(only="gemm"), ["SKIP truth: truth_libraries: it does not start; libcudnn.so.9: cannot open shared object file"])

    def test_no_ncu_is_skipped(self):
        lines = self.say(ncu="no_such")
        self.assertEqual(lines, [f"SKIP truth: there is no {self.folder}/no_such: it is Nsight Compute's, and comes with the CUDA Toolkit"])
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
