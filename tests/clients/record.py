#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs programs and keeps their profiles and files:
record.py FOLDER RESNET50 TRAINING SCRIPTED KPROF

RESNET50 and TRAINING are the examples resnet50_onednn and 18_gpu_training, SCRIPTED the folder of
the scripted CUDA, KPROF the program kprof. A run NAME gives NAME.saved.json and traces when it
ends: NAME.json, NAME.json.gz and NAME.pt.trace.json. What `kprof show` makes of the saved profile
is NAME.folded, NAME.device.folded, NAME.callgrind, NAME.pb.gz and NAME.gbench.json.
"""

import os
import pathlib
import subprocess
import sys


FILES = (
    "folded(path={0}.folded),folded(path={0}.device.folded,value=device),"
    "callgrind(path={0}.callgrind),pprof(path={0}.pb.gz),gbench(path={0}.gbench.json)"
)


def run(folder, kprof, name, command, environment):
    outputs = [f"save(path={name}.saved.json,timeline=plain)"]
    outputs += [f"trace(path={name}.{end})" for end in ("json", "json.gz", "pt.trace.json")]
    subprocess.run(
        command,
        cwd=folder,
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, **environment, "KPROF": ",".join(outputs)},
    )
    show = [kprof, "show", f"{name}.saved.json", "--output", FILES.format(name)]
    subprocess.run(show, cwd=folder, check=True)
    print(name, *(f"{p.name}: {p.stat().st_size}" for p in sorted(folder.glob(name + ".*"))))


def main():
    folder = pathlib.Path(sys.argv[1])
    resnet50, training, scripted, kprof = sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    run(folder, kprof, "resnet50", [resnet50, "1", "5"], {"OMP_NUM_THREADS": "1"})
    run(
        folder,
        kprof,
        "training",
        [training],
        {
            "LD_LIBRARY_PATH": scripted,
            "KPROF_CUPTI": f"{scripted}/libcupti.so.13",
            "SCRIPTED_KERNEL_US": "500",
        },
    )


main()
