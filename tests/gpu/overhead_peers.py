#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Other profilers around the loop of overhead.cu: overhead_peers.py NAME LIBRARY SETTINGS

Runs the loop of LIBRARY, libspin.so, with the profiler NAME around it, once for each of SETTINGS, a
list in JSON of
{"launched": shape, "cycles": of a kernel, "kernels": launches}. Prints a list of measures, one for
each setting, or a text that
says why the profiler cannot be used. overhead.py starts it, so that each has a process of its own.
"""

import ctypes
import json
import pathlib
import sys
import tempfile
import time


class Absent(Exception):
    pass


class Nothing:
    """No profiler; it shows what a profiler does here."""

    scope = None
    version = ""

    def start(self):
        pass

    def stop(self):
        pass

    def seen(self):
        return 0


class Torch:
    def __init__(self):
        import torch

        if not torch.cuda.is_available():
            raise Absent("PyTorch sees no GPU")
        torch.cuda.init()  # not within the profile's end, which waits for all devices
        self.torch, self.scope = torch.profiler, torch.profiler.record_function
        self.version = f"PyTorch {torch.__version__}"

    def start(self):
        self.profile = self.torch.profile(
            activities=[self.torch.ProfilerActivity.CPU, self.torch.ProfilerActivity.CUDA]
        )
        self.profile.start()

    def stop(self):
        self.profile.stop()

    def seen(self):
        # Not events(), which takes many seconds to make an object in Python of each.
        return sum(
            "spin_kernel" in event.name() for event in self.profile.profiler.kineto_results.events()
        )


class Proton:
    def __init__(self):
        import triton
        import triton.profiler

        self.proton, self.scope = triton.profiler, triton.profiler.scope
        self.version = f"Triton {triton.__version__}"
        self.folder = tempfile.TemporaryDirectory()
        self.name = pathlib.Path(self.folder.name, "proton")

    def start(self):
        self.session = self.proton.start(str(self.name), backend="cupti")

    def stop(self):
        self.proton.finalize(self.session)

    def seen(self):
        def count(node):
            return node.get("metrics", {}).get("count", 0) + sum(
                count(child) for child in node.get("children", [])
            )

        return sum(
            count(tree) for tree in json.loads(self.name.with_suffix(".hatchet").read_text())
        )


PEERS = {"bare in Python": Nothing, "torch.profiler": Torch, "Proton": Proton}


def loop_in_cpp(spin, kernels):
    launch_ns, total_ns = ctypes.c_double(), ctypes.c_double()
    launched = spin.spin_run(
        ctypes.c_longlong(kernels), ctypes.byref(launch_ns), ctypes.byref(total_ns)
    )
    return {"launched": launched, "launch_ns": launch_ns.value, "total_ns": total_ns.value}


def loop_in_python(spin, kernels, scope):
    one = spin.spin_one

    def loop(n):
        if scope is None:
            for _ in range(n):
                one()
        else:
            for _ in range(n):
                with scope("spin"):
                    one()

    warm_up = kernels // 10
    loop(warm_up)
    spin.spin_wait()
    begin = time.perf_counter()
    loop(kernels)
    launched = time.perf_counter()
    spin.spin_wait()
    done = time.perf_counter()
    return {
        "launched": warm_up + kernels,
        "launch_ns": (launched - begin) * 1e9 / kernels,
        "total_ns": (done - begin) * 1e9 / kernels,
    }


def watched(spin, watch, setting):
    """One run with a profiler around it."""
    shape = setting["launched"]

    def measured():
        spin.spin_open(
            ctypes.c_longlong(setting["cycles"]), b"plain" if shape == "python" else shape.encode()
        )
        return (
            loop_in_python(spin, setting["kernels"], watch.scope)
            if shape == "python"
            else loop_in_cpp(spin, setting["kernels"])
        )

    watch.start()  # before the graph is captured, which Proton must see
    if watch.scope is None or shape == "python":
        measures = measured()
    else:
        with watch.scope("loop"):
            measures = measured()
    begin = time.perf_counter()
    watch.stop()
    measures["end_ms"] = (time.perf_counter() - begin) * 1e3
    spin.spin_close()
    return measures | {"seen": watch.seen(), "version": watch.version}


def main():
    name, library, settings = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    try:
        watch = PEERS[name]()
    except (ImportError, Absent) as why:
        return print(json.dumps(str(why)))
    spin = ctypes.CDLL(library)
    spin.spin_run.restype = ctypes.c_longlong
    print(json.dumps([watched(spin, watch, setting) for setting in settings]))


if __name__ == "__main__":
    main()
