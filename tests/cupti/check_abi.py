#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles abi.cpp against CUPTI's headers: check_abi.py COMPILER INCLUDE CACHE [TOOLKIT_INCLUDE]

Versions 11.8, 12.0, 12.4, 12.9, 13.0, 13.3 and 13.5 come from PyPI, into CACHE; those that cannot
be had there are told and left out. TOOLKIT_INCLUDE, where there is one, is compiled too. Exits with
77, which ctest takes for skipped, if there are no headers.
"""

import pathlib
import re
import subprocess
import sys
import zipfile

VERSIONS = {
    "11.8": "nvidia-cuda-cupti-cu11==11.8.87",
    "12.0": "nvidia-cuda-cupti-cu12==12.0.146",
    "12.4": "nvidia-cuda-cupti-cu12==12.4.127",
    "12.9": "nvidia-cuda-cupti-cu12==12.9.79",
    "13.0": "nvidia-cuda-cupti==13.0.85",
    "13.3": "nvidia-cuda-cupti==13.3.75",
    "13.5": "nvidia-cuda-cupti==13.5.25",
}
# cuda.h, which CUPTI's headers include: one no older than they are
CUDA_HEADERS = "nvidia-cuda-runtime==13.0.96"
NEWER_CUDA_HEADERS = "nvidia-cuda-runtime==13.5.37"
NEEDS_NEWER = ("13.3", "13.5")
STRUCTS = ["Kernel", "Memcpy", "MemcpyPtoP", "Memset", "Device", "Synchronization", "Overhead"]


def headers(cache, name, package):
    """The folder with the package's headers, downloaded if it is not there; None if it cannot be
    had."""
    folder = cache / name
    if not list(folder.rglob("*.h")):
        folder.mkdir(parents=True, exist_ok=True)
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--only-binary=:all:",
            "--platform",
            "manylinux2014_x86_64",
            "--platform",
            "manylinux_2_25_x86_64",
            "--platform",
            "manylinux1_x86_64",
            "--dest",
            str(folder),
            package,
        ]
        result = subprocess.run(command, capture_output=True, text=True)
        wheels = list(folder.glob("*.whl"))
        if result.returncode != 0 or not wheels:
            last = (result.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
            print(f"{name}: left out, {package} cannot be had ({last})")
            return None
        with zipfile.ZipFile(wheels[0]) as wheel:
            for member in wheel.namelist():
                if member.endswith(".h"):
                    wheel.extract(member, folder)
        wheels[0].unlink()
    found = list(folder.rglob("cupti.h")) or list(folder.rglob("cuda.h"))
    return found[0].parent if found else None


def newest(folder):
    """For each kind of record the struct with the highest number that the headers have."""
    text = "".join(
        path.read_text(errors="replace") for path in sorted(folder.glob("cupti_activity*.h"))
    )
    out = []
    for struct in STRUCTS:
        numbers = [
            int(n or 1) for n in re.findall(r"\}\s*CUpti_Activity" + struct + r"(\d*);", text)
        ]
        out.append(
            f"-DKPROF_NEWEST_{struct.upper()}=CUpti_Activity{struct}"
            + (str(max(numbers)) if max(numbers) > 1 else "")
        )
    return out


def main():
    compiler, include, cache, *toolkit = sys.argv[1:]
    cache = pathlib.Path(cache)
    here = pathlib.Path(__file__).parent
    cuda = pathlib.Path(toolkit[0]) if toolkit else headers(cache, "cuda", CUDA_HEADERS)
    found = {version: headers(cache, version, package) for version, package in VERSIONS.items()}
    newer = headers(cache, "cuda-13.5", NEWER_CUDA_HEADERS)
    if not newer:
        found.update(dict.fromkeys(NEEDS_NEWER))
    found = {version: folder for version, folder in found.items() if folder}
    if toolkit and (cuda / "cupti.h").exists():
        found["toolkit"] = cuda
    if not found or not cuda:
        print("no CUPTI headers: skipped")
        return 77
    failed = []
    for version, folder in found.items():
        structs = newest(folder)
        command = [
            compiler,
            "-std=c++20",
            "-fsyntax-only",
            f"-I{include}",
            "-isystem",
            str(folder),
            "-isystem",
            str(newer if version in NEEDS_NEWER else cuda),
            *structs,
            str(here / "abi.cpp"),
        ]
        result = subprocess.run(command, capture_output=True, text=True)
        print(
            f"{version}: {'the same' if result.returncode == 0 else 'DIFFERS'} "
            f"({', '.join(s.split('=')[1][14:] for s in structs)})"
        )
        if result.returncode != 0:
            print(result.stderr)
            failed.append(version)
    return 1 if failed else 0


sys.exit(main())
