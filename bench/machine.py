# SPDX-License-Identifier: MIT
"""Describes the machine that the benchmarks ran on; for results.py."""

import datetime
import pathlib
import re
import subprocess


def first_line(*command):
    try:
        return subprocess.run(
            command, check=True, capture_output=True, text=True
        ).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError):
        return None


def machine(context):
    cpu = {
        k.strip(): v.strip()
        for k, v in (
            line.split(":", 1)
            for line in subprocess.run(
                ["lscpu"], check=True, capture_output=True, text=True
            ).stdout.splitlines()
            if ":" in line
        )
    }
    caches = ", ".join(
        level + " " + cpu[level + " cache"]
        for level in ("L1d", "L2", "L3")
        if level + " cache" in cpu
    )
    kernel = re.match(r"[\d.]*", first_line("uname", "-r") or "").group()
    system = next(
        (
            l.split("=", 1)[1].strip('"')
            for l in pathlib.Path("/etc/os-release").read_text().splitlines()
            if l.startswith("PRETTY_NAME=")
        ),
        "",
    )
    loads = pathlib.Path("/proc/loadavg").read_text().split()[:3]
    return {
        "date": datetime.date.today().isoformat(),
        "processor": cpu.get("Model name", "unknown"),
        "cores": cpu.get("CPU(s)", "?") + (" (virtual)" if "Hypervisor vendor" in cpu else ""),
        "caches": caches,
        "system": f"{system}, Linux {kernel}",
        "compilers": "; ".join(
            v for v in (first_line("g++", "--version"), first_line("clang++", "--version")) if v
        ),
        "load": f"{' '.join(loads)} (1, 5, 15 minutes, at the end)",
        "libraries": ", ".join(
            f"{name} {context[key]}" for name, key in (("PyTorch", "torch"),) if key in context
        )
        or "none optional",
    }
