#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a program with NVIDIA's own libcupti of many versions on a machine without a driver:
check_real_cupti.py PROGRAM CACHE [--fetch]

CACHE holds a folder for each version with its libcupti; with --fetch those that lack come from
PyPI. Exits with 77, which ctest takes for skipped, where there are none or where there is a driver.
"""

import ctypes
import os
import pathlib
import subprocess
import sys
import zipfile

program, cache = sys.argv[1], pathlib.Path(sys.argv[2])
fetches = "--fetch" in sys.argv
PACKAGES = {
    "11.8": "nvidia-cuda-cupti-cu11==11.8.87",
    "12.0": "nvidia-cuda-cupti-cu12==12.0.146",
    "12.4": "nvidia-cuda-cupti-cu12==12.4.127",
    "12.8": "nvidia-cuda-cupti-cu12==12.8.90",
    "12.9": "nvidia-cuda-cupti-cu12==12.9.79",
    "13.0": "nvidia-cuda-cupti==13.0.85",
    "13.1": "nvidia-cuda-cupti==13.1.115",
    "13.2": "nvidia-cuda-cupti==13.2.86",
    "13.3": "nvidia-cuda-cupti==13.3.75",
    "13.4": "nvidia-cuda-cupti==13.4.92",
}


def fetch(package, folder):
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary=:all:", "--dest", str(folder)]
    for platform in ("manylinux_2_25_x86_64", "manylinux2014_x86_64", "manylinux1_x86_64"):
        command += ["--platform", platform]
    r = subprocess.run([*command, package], capture_output=True, text=True)
    for wheel in folder.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                name = member.rsplit("/", 1)[-1]
                if name.startswith("libcupti.so"):
                    (folder / name).write_bytes(archive.read(member))
        wheel.unlink()
    if r.returncode != 0:
        last = (r.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
        print(f"{package} cannot be had ({last})")


def libraries():
    for version, package in PACKAGES.items():
        folder = cache / version
        if fetches and not list(folder.glob("libcupti.so*")):
            fetch(package, folder)
        for library in sorted(folder.glob("libcupti.so*")):
            yield version, library


def dies_by_itself(library):
    code = (
        "import ctypes, sys; v = ctypes.c_uint32();"
        "ctypes.CDLL(sys.argv[1]).cuptiGetVersion(ctypes.byref(v))"
    )
    return subprocess.run([sys.executable, "-c", code, library], capture_output=True).returncode


def main():
    try:
        ctypes.CDLL("libcuda.so.1")
        print("skipped: this machine has a driver")
        sys.exit(77)
    except OSError:
        pass
    tried, failures = 0, 0
    for version, library in libraries():
        tried += 1
        env = {**os.environ, "KPROF": "cupti=on", "KPROF_CUPTI": str(library)}
        r = subprocess.run([program], env=env, text=True, capture_output=True, timeout=60)
        good = r.returncode == 7 and "there is no NVIDIA driver" in r.stdout and r.stderr == ""
        failures += not good
        print(
            f"CUDA {version}: {'as expected' if good else f'FAILED {r}'}; its first call alone "
            f"ends with {dies_by_itself(library)}"
        )
    if tried == 0:
        print(f"skipped: no libcupti in {cache}; `tests/run.sh abuse` fetches them from PyPI")
        sys.exit(77)
    sys.exit(1 if failures or (fetches and tried < len(PACKAGES)) else 0)


main()
