#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs program.cpp on the scripted CUDA in every state that CUPTI can be in: check_programs.py
PROGRAM CUPTI MISSING NOT_CUPTI

CUPTI, MISSING and NOT_CUPTI are libraries: the scripted CUPTI, one that lacks a symbol, one that is
something else.
"""

import concurrent.futures
import pathlib
import sys

sys.dont_write_bytecode = True
from programs import check, expect, failures, missing, not_cupti, numbers, program, run, run_in_time

# Those that mostly wait run beside the others.
waiting = concurrent.futures.ThreadPoolExecutor()
ends_before_its_work = waiting.submit(run, "ends_before_its_work")
forks_during_the_start = waiting.submit(run, "forks_during_the_start", LOAD_MS=1500)
records_before_cupti_is_open = waiting.submit(run, "records_before_cupti_is_open", LOAD_MS=6000)
records_beside_cupti = waiting.submit(run, "records_beside_cupti", LOAD_MS=4000)

# ---- what is there is attributed

plain = dict(
    launches=5,
    attributed=4,
    outside=1,
    open=0,
    unknown=0,
    records=5,
    dropped=0,
    untimed=0,
    odd=0,
    work=["Op n=1: _Z6kernelPf 3 timed", "Op n=2: _Z6kernelPf 1 timed", ": _Z6kernelPf 1 timed"],
)
expect("plain", run("plain"), **plain)
expect(
    "found without being named, since the program uses CUDA",
    run("plain", kprof="cupti=auto"),
    **plain,
)
# Versions 18 and 26, small buffers and other ids of the driver are tried by the random schedules.
for version in (22, 28):
    expect(
        f"CUPTI of version {version} with its own layouts", run("plain", VERSION=version), **plain
    )

for name, switches in {
    "by the calls of CUPTI 13.3": {"VERSION": 130300},
    "beside another tool": {"VERSION": 130300, "BUSY": "v2"},
}.items():
    r = run("plain", **switches)
    expect(name, r, **plain)
    check(f"{name}: CUPTI 13.3", "CUPTI 13.3" in numbers(r)["state"], r)
expect(
    "kernels in clusters and cooperative ones are told apart",
    run("kinds_of_launches", CARVE_OUT=65536),
    work=[
        "0,0,0 cooperative 65536: 1",
        "0,0,0 not cooperative 65536: 2",
        "4,2,1 not cooperative 65536: 1",
    ],
)
expect(
    "a program may start and stop by the calls of CUPTI 13.3 too",
    run("restarts", VERSION=130300),
    launches=3,
    attributed=3,
    unknown=0,
    ignored=5,
)
expect(
    "a program may start and stop as often as it likes",
    run("restarts"),
    launches=3,
    attributed=3,
    unknown=0,
    records=3,
    ignored=5,
    work=["Op n=2: _Z6kernelPf 3 timed"],
)
expect(
    "profiles may be taken while recordings begin and end",
    run("restarts_beside_snapshots"),
    launches=1,
    attributed=1,
    unknown=0,
    records=1,
)
expect(
    "what is launched in a pause is left out",
    run("pauses"),
    launches=3,
    attributed=3,
    ignored=4,
    unknown=0,
)
r = run("forks")
expect("the parent of a fork goes on", r, launches=5, attributed=5, unknown=0)
check(
    "the child of a fork says that it collects nothing, and calls nothing",
    "child 0 not collected in the child of a fork, where CUDA cannot be used" in r.stdout
    and "child ended with 0" in r.stdout,
    r,
)
r = records_before_cupti_is_open.result()
expect(
    "a recording that began while CUPTI was being opened goes on with it",
    r,
    launches=7,
    attributed=7,
    unknown=0,
    ignored=0,
    work=[
        "Op n=1: _Z6kernelPf 1 timed",
        "Op n=3: _Z6kernelPf 1 timed",
        "Op n=4: _Z6kernelPf 5 timed",
    ],
)
check(
    "and says so, and what it does not know",
    "meanwhile collecting 0 work 0 state not collected: CUPTI was still being" in r.stdout
    and "note CUPTI was open only " in r.stdout
    and numbers(r)["rates"]["n=3"].startswith("not all records")
    and numbers(r)["rates"]["n=4"] == "known",
    r,
)
r = records_beside_cupti.result()
check("and who opened it lets it go", "the other subscribes 0\n" in r.stdout, r)
expect(
    "a recording without CUPTI stays without it when another thread opens it",
    r,
    launches=0,
    records=0,
    ignored=0,
    state="not collected: CUPTI was open only after the recording had begun",
)
r = forks_during_the_start.result()
expect("the parent of a fork goes on while CUPTI is being loaded", r, launches=1, attributed=1)
check("the child of such a fork ends", "child ended with 0" in r.stdout, r)
expect(
    "a recording that is paused before its first scope collects",
    run("pauses_first"),
    launches=3,
    attributed=3,
    unknown=0,
    work=["Op n=2: _Z6kernelPf 3 timed"],
)
r = run("starts_again_beside_another")
expect("a second recording that CUPTI refuses says so", r, starts=1, launches=0, records=0)
check(
    "a second recording that CUPTI refuses says so: with the reason",
    "the other subscribes 0" in r.stdout
    and "collecting 0" in r.stdout
    and "another CUPTI client has the GPU's records (" in numbers(r)["state"],
    r,
)
r = run("turns_it_off")
expect(
    "a program may turn it off while it collects",
    r,
    launches=0,
    records=0,
    state="off (settings::cupti is off)",
)
expect(
    "and with it all the rest", run("turns_all_off"), launches=2, attributed=2, outside=0, scopes=1
)
expect(
    "contexts that are older than the recording are waited for",
    run("old_contexts", KERNEL_US=20000),
    launches=61,
    attributed=61,
    open=0,
)
expect(
    "what ended threads launched before is left out",
    run("restarts_over_ended_threads", KERNEL_US=20000),
    launches=1,
    attributed=1,
    unknown=0,
    records=1,
    ignored=41,
)
r = run("copies_nothing")
copies = numbers(r)["copies"]
expect("launches without records take no memory", r, launches=copies + 1, open=copies, attributed=1)
check(
    "launches without records take no memory: less than the limit", numbers(r)["growth_mib"] < 64, r
)
# On a busy machine threads launch before CUPTI is open, which they wait for two seconds at most.
r = run_in_time("many_threads")
expect("many threads", r, unknown=0, open=0, dropped=0)
check(
    "many threads: all launches since CUPTI is open are attributed",
    6000 <= numbers(r)["attributed"] == numbers(r)["launches"] <= 12000
    and numbers(r)["scopes"] == 2400,
    r,
)

# ---- the end of a process

r = run("exits", kprof="report(width=120,details)")
check(
    "a program that asks for nothing is reported in full at its end",
    r.returncode == 7
    and "3 launches = 3 attributed" in r.stdout
    and "Op" in r.stdout
    and r.stderr == "",
    r,
)
r = run("exits", kprof="report(width=120,details)", VERSION=130000, HANG=1)
check(
    "a program with the CUPTI of CUDA 13.0 ends, and its report tells of the CUPTI",
    r.returncode == 7 and "3 launches = 3 attributed" in r.stdout and "may crash when" in r.stdout,
    r,
)
r = run("leaves_with_threads", kprof="report(width=120,details)")
check(
    "exit() from a thread",
    r.returncode == 7 and "1,000 launches = 1,000 attributed" in r.stdout and r.stderr == "",
    r,
)

r = ends_before_its_work.result()
check(
    "a program ends though its work does not, with a report",
    r.returncode == 7 and "3 launches = " in r.stdout and r.stderr == "",
    r,
)

# ---- where there is nothing to collect: one line says why and what to do, and nothing else changes

degraded = {
    "no driver": (
        run("refused", NO_DRIVER=1),
        "the NVIDIA driver does not work (CUDA_ERROR_UNKNOWN, 999); run where nvidia-smi lists",
    ),
    "no GPU": (
        run("refused", DEVICES=0),
        "the NVIDIA driver finds no GPU that the program may use (CUDA_ERROR_NO_DEVICE, 100); look "
        "at CUDA_VISIBLE_DEVICES",
    ),
    "a driver that is too old for CUPTI": (
        run("refused", ENABLE_ERROR="1:999"),
        "CUPTI finds no NVIDIA driver that it works with (CUPTI_ERROR_UNKNOWN, 999); ",
    ),
    "CUPTI finds no GPU": (
        run("refused", ENABLE_ERROR="1:15"),
        "CUPTI finds no GPU that the program may use (CUPTI_ERROR_NOT_INITIALIZED, 15); look at "
        "CUDA_VISIBLE_DEVICES",
    ),
    "another client": (run("refused", BUSY=1), "another CUPTI client has the GPU's records: "),
    "another client, of CUPTI 13.3": (
        run("refused", BUSY=1, VERSION=130300),
        "another CUPTI client has the GPU's records: ",
    ),
    "no permission": (
        run("refused", NO_PERMISSION=1),
        "no permission to profile (CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, 35); run as root, or load",
    ),
    "no permission when it comes to it": (
        run("refused", NO_PERMISSION="enable"),
        "no permission to profile (",
    ),
    "a kind that is refused": (
        run("refused", ENABLE_ERROR="1:27"),
        "CUPTI refuses (CUPTI_ERROR_NOT_SUPPORTED, 27); use the libcupti of",
    ),
    "no libcupti": (
        run("refused", library="/nonexistent/libcupti.so"),
        "KPROF_CUPTI names a libcupti that cannot be opened (/nonexistent/libcupti.so",
    ),
    "a libcupti that lacks a symbol": (
        run("refused", library=missing),
        " lacks cuptiGetGraphNodeId: it is no libcupti, or one older than",
    ),
    "another library": (
        run("refused", library=not_cupti),
        " lacks cuptiGetVersion: it is no libcupti",
    ),
    "turned off": (run("refused", kprof="cupti=off"), "off (KPROF=cupti=off)"),
}
for name, (r, line) in degraded.items():
    found = numbers(r)
    check(
        name,
        r.returncode == 7
        and r.stderr == ""
        and line in found.get("state", "")
        and found.get("scopes") == 1
        and "collecting 0" in r.stdout
        and found.get("records") == 0
        and "calls later 0" in r.stdout,
        r,
    )
for name, switches in {
    "no driver": {"NO_DRIVER": 1},
    "another client": {"BUSY": 1},
    "no permission": {"NO_PERMISSION": 1},
}.items():
    r = run("exits", kprof="report(width=200)", **switches)
    check(
        f"the report says: {name}",
        r.returncode == 7
        and degraded[name][1][:40] in r.stdout
        and "Op" in r.stdout
        and r.stderr == "",
        r,
    )

for kernel_us in (1, 3000):
    r = run(
        "steps_by_a_schedule",
        kprof="schedule(skip=1,wait=1,warmup=1,active=2,repeat=2),cupti=on",
        KERNEL_US=kernel_us,
    )
    cycles = [line for line in r.stdout.splitlines() if line.startswith(("cycle", "in it"))]
    check(
        "each cycle of a schedule has the device's work of its steps, and no other's",
        cycles
        == [
            "cycle 3 4",
            "in it Op n=3 3",
            "in it Op n=4 3",
            "cycle 7 8",
            "in it Op n=7 3",
            "in it Op n=8 3",
        ],
        r,
    )

expect(
    "a library's constructor asks for a profile when the first records come",
    run(
        "reads_beside_a_constructor",
        LIBRARY=pathlib.Path(program).with_name("libcupti_constructor.so"),
    ),
    launches=40001,
    records=40001,
    unknown=0,
    dropped=0,
)

print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)
