#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs programs and keeps their profiles and files:
record.py FOLDER RESNET50 TRAINING SCRIPTED KPROF TRAIN WIDE

RESNET50, TRAINING and TRAIN are the examples resnet50_onednn, 18_gpu_training and train, SCRIPTED
the folder of the scripted CUDA, KPROF the program kprof, WIDE that of wide.cpp. A run NAME gives
NAME.saved.json and traces when it ends: NAME.json, NAME.json.gz, NAME.pt.trace.json, NAME.pftrace,
NAME.pftrace.gz and, with work of GPUs as tracks or with all details, NAME.tracks.pftrace and
NAME.kineto.json. What `kprof show` makes of the saved profile is NAME.folded, NAME.device.folded,
NAME.callgrind, NAME.pb.gz, NAME.gbench.json, NAME.hatchet, NAME.html and NAME.csv. The pages below
have a profile and a table beside them only: train and wide.cpp's, with 64 threads (threads), 10,000
rows and steps (rows, steps), 100,000 and 10^6 slices (slices, million), and the training as if it
had two GPUs (devices). The page hostile.html is of resnet50 with names that would be markup; those
of changed_runs.py, state_NAME.html, are of train with something missing. training.txt is the
report.
"""

import json
import os
import pathlib
import subprocess
import sys

import changed_runs

TRACES = ("json", "json.gz", "pt.trace.json", "pftrace", "pftrace.gz")
FILES = (
    "folded(path={0}.folded),folded(path={0}.device.folded,value=device),"
    "callgrind(path={0}.callgrind),pprof(path={0}.pb.gz),gbench(path={0}.gbench.json),"
    "hatchet(path={0}.hatchet),html(path={0}.html),csv(path={0}.csv)"
)


def run(folder, kprof, name, command, environment):
    outputs = [f"save(path={name}.saved.json,timeline=plain)"]
    outputs += [f"trace(path={name}.{end})" for end in TRACES]
    outputs += [f"trace(path={name}.tracks.pftrace,gpu=tracks)",
                f"trace(path={name}.kineto.json,detail=kineto)"]
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


def run_for_page(folder, name, command, page="", settings=(), environment=None):
    outputs = [f"save(path={name}.saved.json)", f"html(path={name}.html{page})",
               f"csv(path={name}.csv)", *settings]
    subprocess.run(
        command,
        cwd=folder,
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, **(environment or {}), "KPROF": ",".join(outputs)},
    )
    print(name, *(f"{p.name}: {p.stat().st_size}" for p in sorted(folder.glob(name + ".*"))))


def record_devices(folder, kprof):
    """What ran on the second stream of the training, and half of its products, on a second GPU."""
    saved = json.loads((folder / "training.saved.json").read_text())
    work = saved["device"]["work"]
    for one in work:
        if one["stream"] == 14 or one.get("grid") == [4, 512, 1]:
            one["device"] = 1
    for i, of in enumerate(saved["device"]["devices"]):
        own = sum(one["total_ns"] for one in work if one.get("device", 0) == i)
        of["sum_ns"] = of["busy_ns"] = own
    for one in saved["machine"]["gpus"][1]["arithmetic"]:
        one["operations"] /= 4
    (folder / "devices.saved.json").write_text(json.dumps(saved))
    show = [kprof, "show", "devices.saved.json", "--output",
            "html(path=devices.html),csv(path=devices.csv)"]
    subprocess.run(show, cwd=folder, check=True)


def record_hostile(folder, kprof):
    """Names that end the element that they lie in, and run a script if they become markup."""
    saved = json.loads((folder / "resnet50.saved.json").read_text())
    for i, node in enumerate([*saved["nodes"], *saved["operators"]]):
        if "name" in node:
            node["name"] = f"</script><img src=x onerror='window.hostile={i}'>" + node["name"]
    saved["program"] = "</title><script>window.hostile = 1</script>"
    (folder / "hostile.saved.json").write_text(json.dumps(saved))
    show = [kprof, "show", "hostile.saved.json", "--output", "html(path=hostile.html)"]
    subprocess.run(show, cwd=folder, check=True)


def main():
    folder = pathlib.Path(sys.argv[1])
    resnet50, training, scripted, kprof, train, wide = sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    # Ceilings are measured once, and kept there.
    os.environ["XDG_CACHE_HOME"] = str((folder / "cache").resolve())
    run(folder, kprof, "resnet50", [resnet50, "1", "5"], {"OMP_NUM_THREADS": "1"})
    gpu = {
        "LD_LIBRARY_PATH": scripted,
        "KPROF_CUPTI": f"{scripted}/libcupti.so.13",
        "SCRIPTED_KERNEL_US": "500",
    }
    run(folder, kprof, "training", [training], gpu)
    report = [kprof, "show", "training.saved.json"]
    text = subprocess.run(report, cwd=folder, check=True, stdout=subprocess.PIPE).stdout
    (folder / "training.txt").write_bytes(text)
    record_hostile(folder, kprof)
    record_devices(folder, kprof)
    run_for_page(folder, "steps", [wide, "steps", "10000"])
    run_for_page(folder, "train", [train], environment={"OMP_NUM_THREADS": "1"})
    changed_runs.record(folder, kprof)
    run_for_page(folder, "threads", [wide, "threads", "64"])
    run_for_page(folder, "rows", [wide, "rows", "10000"])
    run_for_page(folder, "slices", [wide, "slices", "100000"], ",slices=1000000")
    run_for_page(folder, "million", [wide, "slices", "1000000"], ",slices=1000000",
                 ["memory=256MiB"])


main()
