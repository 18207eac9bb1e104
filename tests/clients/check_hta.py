#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs HolisticTraceAnalysis on a trace, and compares its tables with the profile:
check_hta.py FOLDER
"""

import logging
import os
import pathlib
import sys
import warnings

import saved

os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

from hta.trace_analysis import TraceAnalysis  # noqa: E402


def near(what, seen, wanted, most):
    if abs(seen - wanted) > most:
        raise SystemExit(f"FAIL: {what}: HTA has {seen}, the profile {wanted}")
    print(f"{what}: {seen}, the profile has {wanted}")


def main():
    folder = pathlib.Path(sys.argv[1])
    trace = folder / "training.json"
    profile = saved.Profile(folder / "training.saved.json")
    analysis = TraceAnalysis(trace_files={0: str(trace.resolve())}, trace_dir=str(folder))

    # It leaves the last step out.
    last = max(s["begin"] for s in profile.steps)
    counted = [i for i in profile.kernels() if i["start"] < last]
    _, kernels = analysis.get_gpu_kernel_breakdown(
        visualize=False, duration_ratio=1.0, include_memory_kernels=True
    )
    of_kernels = kernels[kernels["kernel_type"] != "MEMORY"]
    near("time of kernels [us]", round(float(of_kernels["sum (us)"].sum()), 3),
         sum(i["end"] - i["start"] for i in counted) / 1e3, 1)
    nccl = set(kernels[kernels["kernel_type"] == "COMMUNICATION"]["name"])
    if not any("AllReduce" in name for name in nccl):
        raise SystemExit(f"FAIL: communication is {nccl}")

    times = analysis.get_temporal_breakdown(visualize=False)
    near("parts of the time [%]", round(float(times[["idle_time_pctg", "compute_time_pctg",
                                                     "non_compute_time_pctg"]].sum(axis=1)[0]), 2),
         100, 0.1)
    idle = analysis.get_idle_time_breakdown(visualize=False)[0]
    if (idle["idle_time"] < 0).any() or idle.empty:
        raise SystemExit(f"FAIL: idle times {idle}")
    print("idle times:", idle["idle_time"].tolist())

    launched = [i for i in profile.items if i["start"] < last and not i.get("graph")]
    launches = analysis.get_cuda_kernel_launch_stats(visualize=False)[0]
    near("launches", len(launches), len(launched), 1)
    if analysis.get_queue_length_summary(ranks=[0]).empty:
        raise SystemExit("FAIL: no queue length")
    copies = analysis.get_memory_bw_summary(ranks=[0])
    if len(copies) != 2:
        raise SystemExit(f"FAIL: bandwidth of copies {copies}")
    graph, done = analysis.critical_path_analysis(
        rank=0, annotation="ProfilerStep", instance_id=0
    )
    if not done or len(graph.critical_path_nodes) < 3:
        raise SystemExit("FAIL: no critical path")
    print("nodes of the critical path:", len(graph.critical_path_nodes))


main()
