#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs program_ceilings.cpp on the scripted CUDA, whose kernels reach rates that are known:
check_ceilings.py PROGRAM CUPTI MISSING NOT_CUPTI"""

import os
import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True
from programs import check, expect, failures, numbers, run

folder = tempfile.TemporaryDirectory()
root = pathlib.Path(folder.name)
os.environ["XDG_CACHE_HOME"] = str(root)


def kept():
    return sorted((root / "kprof").glob("ceilings-gpu-*.txt"))


def report_of(mode, ceilings, **switches):
    """What the report at the end of the process says, in one line."""
    r = run(mode, kprof=f"report,ceilings={ceilings}", **switches)
    return r, " ".join((r.stdout + r.stderr).split())


measured = dict(kernels=13, roofs=6, slower=1, sheet=3352, dated=10, copies=1)
clean = dict(unknown=0, ignored=0, dropped=0, odd=0, open=0)

# ---- kprof's own launches are no part of the profile

r = run("measures_devices", kprof="ceilings=measure")
expect(
    "measured within an operator",
    r,
    **clean,
    launches=6,
    attributed=6,
    records=6,
    again=0,
    work=[
        "Op n=1: _Z6kernelPf 3 timed",
        "Op n=2: _Z6kernelPf 2 timed",
        "Op n=7: _Z6kernelPf 1 timed",
    ],
    rates={"n=1": "known", "n=2": "known", "n=7": "known"},
)
found = numbers(r)
for line in ("same context 1", "same mode 1", "kernel _Z6kernelPf"):
    check(f"measured within an operator: {line}", line in r.stdout, r)
check("no kernel of kprof's is shown", "kprof_ceiling" not in r.stdout, r)
check("it launched kernels", int(re.search(r"own kernels (\d+)", r.stdout)[1]) > 60, r)
for name, wanted in measured.items():
    check(f"measured: {name} {wanted}", found.get(name) == wanted, r)
check(
    "the report says that it measured",
    any(
        re.fullmatch(
            r"kprof measured what device 0, Scripted GPU, reaches, for \d\.\d s, once: later runs "
            r'take it from ".*/kprof/ceilings-gpu-5c0{30}\.txt"',
            note,
        )
        for note in found["notes"]
    ),
    r,
)
unmeasured = run("measures_devices", kprof="ceilings=off")
check("nothing is measured unasked", "own kernels 0" in unmeasured.stdout, unmeasured)
# A module takes a second to load.
check("the compiler's time is kprof's own", found["overhead"] < 1_000_000_000, r)

# ---- what is kept

check("one file is kept", len(kept()) == 1, r)
text = kept()[0].read_text()
check("all of it is there", "gpu.f16.tensor.f32 = " in text and text.endswith("# end\n"), r)


def knows(name, wanted, ceilings="cache"):
    r = run("reports_once", kprof=f"ceilings={ceilings}")
    expect(name, r, launches=3, attributed=3, **clean, **(measured if wanted else dict(dated=0)))
    check(f"{name}: nothing is measured", "own kernels 0" in r.stdout, r)


knows("a later run knows it", True)
for name, wrong in {
    "cut short": text[: len(text) // 2],
    "cut by one letter": text[:-1],
    "of another driver": text.replace("driver 13000", "driver 12080"),
    "of another device": text.replace("5c0", "5d0"),
    "of an older kprof": text.replace("gpu version 1", "gpu version 0"),
    "of two devices": text.replace("gpu = ", "gpu = X\ngpu.f32 = 1 GFLOP/s\ngpu = ", 1),
    "with a number that is none": re.sub(r"gpu\.f32 = \S+", "gpu.f32 = -1", text),
    "without a date": re.sub(r"date = \S+\n", "", text),
    "empty": "",
    "without sense": "nonsense\n",
}.items():
    assert wrong != text, name
    kept()[0].write_text(wrong)
    knows(f"a file {name} is not trusted", False)
kept()[0].write_text(text)
knows("the file is read again", True)
knows("and not where ceilings are off", False, "off")

# ---- what goes wrong

calls = re.findall(
    r"^  X\((\w+),",
    (pathlib.Path(__file__).parent / "../scripted_cuda/driver_calls.hpp").read_text(),
    re.M,
)
assert len(calls) == 29
# What the driver does not say of a device is not known, and no more.
DESCRIBING = {
    "cuDeviceGet": "device 0 . not described by the driver",
    "cuDeviceGetCount": "device 0 . not described by the driver",
    "cuDeviceTotalMem": "device 0 . Scripted GPU . compute 9.0 . 132 SMs . 3,352 GB/s",
    "cuDeviceGetAttribute": r"device 0 . Scripted GPU . compute 0\.0 . 0 SMs . GB/s n/a",
    "cuDeviceGetUuid": "device 0 . Scripted GPU . compute 9.0 . 132 SMs . 3,352 GB/s",
}
for call, wanted in DESCRIBING.items():
    r = run("reports_once", kprof="ceilings=off", FAIL=call)
    expect(f"{call} fails", r, launches=3, attributed=3, records=3, **clean)
    r, report = report_of("ends_after_its_work", "off", FAIL=call)
    check(f"{call} fails: {wanted}: {report}", re.search(wanted, report), r)
# With SHORT in the environment two of them: the threads are the same whichever call fails.
others = [call for call in calls if call not in DESCRIBING]
for call in others[:2] if "SHORT" in os.environ else others:
    kept()[0].write_text(text)
    r = run("reports_once", kprof="ceilings=measure", FAIL=call)
    expect(f"{call} fails", r, launches=3, attributed=3, records=3, **clean)
    notes = " ".join(n for n in numbers(r).get("notes", []) if "device 0" in n)
    check(
        f"{call} fails: it is told",
        re.search(rf"{call} failed \(CUDA_ERROR_UNKNOWN, 999\)", notes)
        or call == "cuModuleLoadData"
        and "device 0 was not measured: the driver does not take the kernel for fma.rn.f32 "
        "(cuModuleLoadData: CUDA_ERROR_UNKNOWN, 999)" in notes,
        r,
    )
    check(f"{call} fails: nothing is kept", kept()[0].read_text() == text, r)

r = run("measures_after_a_capture", kprof="ceilings=measure")
expect("a capture is left alone", r, within=0, captured=1, **clean)
check("a report after it measures", int(re.search(r"own kernels (\d+)", r.stdout)[1]) > 60, r)

# ---- the report at the end of the process

kept()[0].unlink()
r, report = report_of("ends_after_its_work", "measure")
check("the report at the end measures", r.returncode == 7, r)
check("and keeps it", len(kept()) == 1, r)
wanted = r"\d\S+ [TG]B/s \(data sheet 3\.35 TB/s\) . measured \d{4}-\d\d-\d\d"
check(f"and says so: {report}", re.search(wanted, report), r)
check("and shows no kernel of kprof's", "kprof_ceiling" not in report, r)
check("and the three of the program", "3 records of the device" in report, r)
check(
    "and counts the time as paused",
    re.search(r"cupti_program . \S+ \S+ \(\S+ \S+ paused\)", report)
    and "The device works <" not in report,
    r,
)
r, report = report_of("ends_after_its_work", "cache")
check(f"a later one says so too: {report}", re.search(wanted, report), r)
kept()[0].unlink()
r, report = report_of("ends_after_its_work", "cache")
check(f"and not where nothing is kept: {report}", "measured" not in report, r)

folder.cleanup()
print(f"{len(failures)} failed")
sys.exit(1 if failures else 0)
