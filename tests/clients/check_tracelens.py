#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what the extension for AMD's TraceLens makes of a trace with the profile:
check_tracelens.py FOLDER EXTENSION [TRACELENS]

TRACELENS is a checkout of AMD-AGI/TraceLens, of which there is no release: with it, its report of
the trace is made and compared too.
"""

import importlib.util
import json
import math
import pathlib
import subprocess
import sys
import types

import saved


def near(what, seen, wanted, most=1e-3):
    if not math.isclose(seen, wanted, rel_tol=most, abs_tol=1e-9):
        raise SystemExit(f"FAIL: {what}: {seen}, the profile has {wanted}")
    print(f"{what}: {seen:.6g}")


def same(what, seen, wanted):
    if seen != wanted:
        raise SystemExit(f"FAIL: {what}: {seen}, the profile has {wanted}")
    print(f"{what}: {str(seen)[:100]}")


def load(path):
    spec = importlib.util.spec_from_file_location("kprof_tracelens", path)
    extension = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(extension)
    return extension


def check_extension(extension, trace, profile):
    """The names that TraceLens looks for, called as it does."""
    events = [e for e in json.loads(trace.read_text())["traceEvents"] if e["ph"] == "X"]
    extension.tree_postprocess_extension(types.SimpleNamespace(events=events))
    works = [n for n in profile.nodes if n.get("work", {}).get("has_flops")]
    same("operators with a model", sorted(extension.perf_model_extension),
         sorted({n["name"] for n in works}))
    flops = moved = 0
    for event in events:
        if event["cat"] != "cpu_op" or "flops" not in event["args"]:
            continue
        model = extension.perf_model_extension[event["name"]](event, arch=None)
        same_type = extension.PRECISIONS[event["args"]["type"]] == model.get_compute_precision()
        if not (model.can_model(event) and same_type and model.get_maf_type() == "vector"):
            raise SystemExit(f"FAIL: the model of {event}")
        flops += model.flops()
        moved += model.bytes()
    calls = [profile.nodes[node]["work"] for node, _, _ in profile.scopes
             if profile.nodes[node].get("work", {}).get("has_flops")]
    near("FLOPs", flops, sum(w.get("flops", 0) for w in calls))
    near("bytes", moved, sum(w.get("bytes_read", 0) + w.get("bytes_written", 0) for w in calls))
    for args, unit in (({"type": "f16"}, "matrix"), ({"type": "f16", "arithmetic": "CUDA core"},
                       "vector"), ({"type": "f32", "arithmetic": "tensor core"}, "matrix")):
        model = extension.kprof_operator({"args": args})
        same(f"unit of {args}", model.get_maf_type(), unit)


def check_report(extension, path, trace, profile, roofs, tracelens):
    sys.path.insert(0, tracelens)
    from TraceLens import TreePerfAnalyzer
    from TraceLens.Reporting.generate_perf_report_pytorch import generate_perf_report_pytorch

    tree = TreePerfAnalyzer.from_file(str(trace)).tree
    of_gpu = [e for e in tree.events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    same("device work, and without a launch", (len(of_gpu), [e for e in of_gpu if "parent" not in e
         or e["parent"] is None]), (len(profile.items), []))
    sheets = generate_perf_report_pytorch(
        str(trace), output_csvs_dir=str(trace.parent / "tracelens"), extension_file=str(path),
        gpu_arch_json_path=str(roofs))
    arch = json.loads(roofs.read_text())
    rows = sheets["unified_perf_summary"]
    for name, ns in profile.device_times().items():
        if name not in extension.perf_model_extension:
            continue
        own = rows[rows["name"] == name]
        near(f"{name}, device time [us]", own["Kernel Time (µs)_sum"].sum(), ns / 1e3)
        for _, row in own.iterrows():
            near(f"{name} {row['Input Dims']}, FLOPs a byte", row["FLOPS/Byte"],
                 row["GFLOPS"] * 1e9 / (row["Data Moved (MB)"] * 2**20))
            bound = row["Roofline Bound"]
            rate, most = (row["TFLOPS/s_mean"],
                          arch["max_achievable_tflops"][row["Compute Spec"]])
            if bound == "MEMORY_BOUND":
                rate, most = row["TB/s_mean"], arch["mem_bw_gbps"] / 1e3
            near(f"{name} {row['Input Dims']}, {bound}, % of roof", row["Pct Roofline_mean"],
                 100 * rate / most, 0.01)


def main():
    folder, path = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    trace, roofs = folder / "training.kineto.json", folder / "roofs.json"
    profile = saved.Profile(folder / "training.saved.json")
    extension = load(path)
    check_extension(extension, trace, profile)
    subprocess.run([sys.executable, path, folder / "training.saved.json", roofs], check=True)
    gpu = profile.all["machine"]["gpus"][0]
    arch = json.loads(roofs.read_text())
    near("GB/s", arch["mem_bw_gbps"], gpu["memory_bytes"] / 1e9)
    rates = {(a["type"], a["on"]): a["operations"] / 1e12 for a in gpu["arithmetic"]}
    near("TFLOP/s of f32", arch["max_achievable_tflops"]["vector_fp32"], rates["f32", "cuda_core"])
    near("of tf32", arch["max_achievable_tflops"]["matrix_fp32"], rates["tf32", "tensor_core"])
    if len(sys.argv) > 3:
        check_report(extension, path, trace, profile, roofs, sys.argv[3])


main()
