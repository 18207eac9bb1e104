#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a program whose session opens a libcupti that crashes where no driver works:
check_driver.py PROGRAM CRASHING_CUPTI DRIVER_FOLDER TOOL_OF_DRIVER

The folder holds a libcuda.so.1 that does what a variable says; the tool is a library that it loads
while it initialises.
"""

import ctypes
import os
import subprocess
import sys

program, cupti, driver_folder, tool = sys.argv[1:]
failures = []


def run(*arguments, driver=None, kprof="cupti=on", **more):
    env = {k: v for k, v in os.environ.items() if k not in ("KPROF", "LD_LIBRARY_PATH", "COLUMNS")}
    env.update(KPROF=kprof, KPROF_CUPTI=cupti, **more)
    if driver is not None:
        env.update(LD_LIBRARY_PATH=driver_folder, ABUSE_DRIVER=str(driver))
    return subprocess.run(
        [program, *arguments], env=env, text=True, capture_output=True, timeout=60
    )


def check(name, r, *texts):
    if r.returncode != 7 or r.stderr != "" or any(t not in r.stdout for t in ("work", *texts)):
        failures.append(name)
        print(f"FAILED: {name}\n{r}")


def has_driver():
    try:
        ctypes.CDLL("libcuda.so.1")
        return True
    except OSError:
        return False


if has_driver():
    print("this machine has a driver: a process without one is left out")
else:
    check("no driver", run(), "there is no NVIDIA driver (libcuda.so.1: ", "nvidia-smi")
check(
    "a driver without a GPU",
    run(driver=100),
    "the NVIDIA driver finds no GPU that the program may use (FROM_DRIVER, 100)",
)
for code in (3, 34, 35, 803, 999):
    check(
        f"a driver that fails with {code}",
        run(driver=code),
        f"the NVIDIA driver does not work (FROM_DRIVER, {code}); run where nvidia-smi",
    )
# libcuda.so.1 is loaded, so that the program counts as one that uses CUDA.
check(
    "CUPTI is called once the driver works",
    run("driver", driver=0, kprof="cupti=auto"),
    "CUPTI finds no NVIDIA driver that it works with (FROM_CUPTI, 999)",
)
check(
    "the driver is not called from within a call of its own",
    run("driver", driver=0, kprof="cupti=on", ABUSE_DRIVER_LOADS=tool),
    "from the driver",
    "CUPTI finds no NVIDIA driver that it works with (FROM_CUPTI, 999)",
)
check(
    "the driver may load a library with guards when the session initialises it",
    run(driver=0, kprof="cupti=on", ABUSE_DRIVER_LOADS=tool),
    "CUPTI finds no NVIDIA driver that it works with (FROM_CUPTI, 999)",
)
print(f"{len(failures)} failures" if failures else "all as expected")
sys.exit(1 if failures else 0)
