# SPDX-License-Identifier: MIT
"""What the scripts that measure share: starting a program, telling of a check, whole files, and
what the machine is."""

import os
import pathlib
import platform
import re
import subprocess

# What `nvidia-smi -q` says of interest.
ALONE = {
    "Driver Version",
    "CUDA Version",
    "Product Name",
    "Persistence Mode",
    "Performance State",
    "Compute Mode",
}
IN_SECTIONS = {
    "mig mode/current",
    "ecc mode/current",
    "clocks/sm",
    "clocks/memory",
    "max clocks/sm",
    "max clocks/memory",
    "applications clocks/graphics",
    "gpu power readings/current power limit",
}


def environment(more=None):
    """That of this script without KPROF, which could start a profiler that is not meant."""
    return {k: v for k, v in os.environ.items() if k != "KPROF"} | (more or {})


def run(command, more=None, timeout=120):
    """The last line that the program prints; `more` is set in its environment."""
    done = subprocess.run(
        command, env=environment(more), capture_output=True, text=True, timeout=timeout
    )
    if done.returncode != 0:
        raise RuntimeError(
            f"{' '.join(map(str, command))} ended with {done.returncode}: "
            f"{(done.stderr.strip() or done.stdout.strip())[-300:]}"
        )
    return done.stdout.strip().split("\n")[-1]


def check(script, right, what, why):
    """A line for run.sh, at once, for whoever reads along; whether all is right."""
    print(
        f"{'PASS' if right else 'FAIL'} {script}: {what}{'' if right else ': ' + why}", flush=True
    )
    return right


def write(path, text):
    """At once: whoever is cut off leaves the old file or the new one."""
    new = path.with_name(path.name + ".new")
    new.write_bytes(
        text.encode(errors="replace")
    )  # bytes, as carriage returns must stay what they are
    os.replace(new, path)


def machine():
    """Lines that say what was measured on."""
    lines = []
    try:
        text = subprocess.run(
            ["nvidia-smi", "-q", "-i", "0"], capture_output=True, text=True, timeout=60
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        text = ""
    section = ""
    for line in text.split("\n"):
        key, colon, value = (part.strip() for part in line.partition(" : "))
        if not colon:
            # "Clocks", for instance; a key in no section of interest is found by itself
            section = key
        elif key in ALONE:
            lines.append(f"{key}: {value}")
        elif f"{section}/{key}".lower() in IN_SECTIONS:
            lines.append(f"{section}, {key}: {value}")
    if not lines:
        lines.append("nvidia-smi tells nothing")
    try:
        model = re.search(
            r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE
        )
        lines.append(
            f"Processor: {model[1] if model else platform.machine()}, {os.cpu_count()} CPUs"
        )
    except OSError:
        pass
    lines.append(f"Kernel: {platform.release()}")
    return lines
