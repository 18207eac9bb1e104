#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Starts programs with more rights than their caller, in an environment that the caller chose:
check_privileged.py PROGRAM EMITTER FOREIGN_LIBRARY DRIVER

PROGRAM has a session and loads DRIVER, a libcuda.so.1 that works; EMITTER sends scopes to an NVTX
tool. They are run as set-user-ID, set-group-ID and file-capability programs by a user without
rights; nothing of the environment may have an effect. Run by that user as they are, they must do
what the environment says, or the test would not see the difference. Needs root.
"""

import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

program, emitter, foreign, driver = sys.argv[1:]
NOBODY = 65534
IGNORED = "the process has rights that its caller lacks"
failures = []


def check(name, holds, detail):
    if not holds:
        failures.append(name)
        print(f"FAILED: {name}\n{detail}")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def copy(source, target):
    shutil.copyfile(source, target)
    target.chmod(0o755)
    return target


def set_user_id(path):
    path.chmod(0o4755)


def set_group_id(path):
    path.chmod(0o2755)


def give_capability(path):
    """CAP_NET_RAW, permitted and effective: what `setcap cap_net_raw+ep` writes."""
    os.setxattr(path, "security.capability", struct.pack("<5I", 0x02000001, 1 << 13, 0, 0, 0))


KINDS = {
    "set-user-ID": set_user_id,
    "set-group-ID": set_group_id,
    "file capability": give_capability,
}


def run(path, writable, library, *arguments, **more):
    home = writable / "cuda"
    environment = {
        "KPROF": f"memory=1MiB,ceilings=measure,report(path={writable}/report),"
        f"csv(path={writable}/csv)",
        "HOME": str(writable / "home"),
        "XDG_CACHE_HOME": str(writable / "cache"),
        "KPROF_CUPTI": str(library),
        "KPROF_TRANSCRIPT": f"{writable}/transcript",
        "NVTX_INJECTION64_PATH": str(library),
        "CUDA_HOME": str(home),
        "CUDA_PATH": str(home),
        "COLUMNS": "61",
        **more,
    }
    environment = {k: v for k, v in environment.items() if v is not None}
    return subprocess.run(
        [path, *arguments],
        env=environment,
        cwd=writable,
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        text=True,
        capture_output=True,
        timeout=60,
    )


def written(writable):
    """Removes the files that a program wrote, at any depth, and returns their names."""
    files = [p for p in writable.rglob("*") if p.is_file() and "extras" not in p.parts]
    for path in files:
        path.unlink()
    return sorted(path.name for path in files)


def check_ordinary(folder, writable, library):
    """The caller's own rights: the environment has its effects."""
    r = run(folder / "program", writable, library, folder / "libcuda.so.1")
    files = written(writable)
    check(
        "an ordinary program does what its environment says",
        r.returncode == 0
        and "AT_SECURE 0" in r.stdout
        and "foreign code runs" in r.stderr
        and IGNORED not in r.stdout
        and {"report", "csv", "transcript"} <= set(files)
        and any("ceilings" in name for name in files),
        (files, r),
    )
    # Not so for CUDA_HOME and CUDA_PATH: where the loader finds a libcupti, they are not looked at.
    loading = {"KPROF_CUPTI", "NVTX_INJECTION64_PATH"}
    for variable in loading:
        r = run(
            folder / "program",
            writable,
            library,
            folder / "libcuda.so.1",
            **{o: None for o in loading - {variable}},
        )
        check(f"{variable} loads the library into it", "foreign code runs" in r.stderr, r)
        written(writable)
    r = run(folder / "emitter", writable, library)
    check("so does one that only emits", "foreign code runs" in r.stderr, r)


def check_privileged(folder, writable, library, kind):
    loaded = folder / "libcuda.so.1"
    for name, arguments in (("program", [loaded]), ("program", [loaded, "on"]), ("emitter", [])):
        what = f"{kind}: {name} {' '.join(arguments[1:])}"
        path = copy(folder / name, folder / "privileged")
        KINDS[kind](path)
        r = run(path, writable, library, *arguments)
        files = written(writable)
        if "AT_SECURE 1" not in r.stdout:
            skip(f"{kind} has no effect in {folder} (nosuid, or a container without it): {r}")
        check(f"{what} ends well", r.returncode == 0, r)
        check(f"{what} loads nothing foreign", "foreign code" not in r.stderr, r)
        check(f"{what} writes no file", files == [], (files, r))
        if name == "program":
            text = " ".join(r.stdout.split())
            check(f"{what} says that it ignores the environment", IGNORED in text, r)
            check(f"{what} reports as without one", "work" in r.stdout and r.stderr == "", r)
        path.unlink()


if os.geteuid() != 0:
    skip("only root can make set-user-ID programs of another user")
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    folder.chmod(0o755)
    writable = folder / "writable"
    toolkit = writable / "cuda" / "extras" / "CUPTI" / "lib64"
    toolkit.mkdir(parents=True)
    writable.chmod(0o777)
    copy(program, folder / "program")
    copy(emitter, folder / "emitter")
    library = copy(foreign, folder / "foreign.so")
    copy(driver, folder / "libcuda.so.1")
    copy(foreign, toolkit / "libcupti.so")
    check_ordinary(folder, writable, library)
    for kind in KINDS:
        check_privileged(folder, writable, library, kind)
print(f"{len(failures)} failures" if failures else "all as expected")
sys.exit(1 if failures else 0)
