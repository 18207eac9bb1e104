#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a test program under the NVTX tool of tests/support and compares what the tool saw with what
was passed.

  check_nvtx.py payloads|names|nothing|no-tool [--session] [--tool lib.so] program [arguments]
  check_nvtx.py host [--tool lib.so] program armer plugin1 plugin2

payloads  every range with its payload
names     the same ranges without payloads
nothing   a tool, to which nothing is sent
no-tool   no tool: the program runs, and its guards end up idle

With --session the scopes that are closed out of order, or on another thread, only have to balance.
"""
import argparse
import os
import platform
import re
import subprocess
import sys
import tempfile

MAX_REGISTERED = 1024  # names of regions, see nvtx.hpp

failures = []


def fail(text):
    failures.append(text)


def run(arguments, tool):
    """Exit code, stdout, and the lines of the tool's log, or None if it was never loaded."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        environment = dict(os.environ, KPROF_TEST_NVTX_LOG=log)
        environment.pop("NVTX_INJECTION64_PATH", None)
        if tool:
            environment["NVTX_INJECTION64_PATH"] = os.path.abspath(tool)
        done = subprocess.run(arguments, env=environment, stdout=subprocess.PIPE, timeout=120)
        lines = None
        if os.path.exists(log):
            with open(log, encoding="utf-8") as file:
                lines = file.read().splitlines()
        return done.returncode, done.stdout.decode(), lines


class Expected:
    """The events of one thread, in order."""

    def __init__(self, payloads, names):
        self.events = []
        self.open = 0
        self.payloads = payloads
        self.names = names  # region names registered so far, in the whole process

    def push(self, message):
        self.open += 1
        self.events.append(f"push kprof {message} depth={self.open}")

    def op(self, name, payload, work=""):
        text = f"'{name}'"
        if self.payloads:
            text += (f" {name}{{{payload}}}" if payload else "") + (
                f" kprof.work{{{work}}}" if work else ""
            )
        self.push(text)

    def region(self, name):
        if name not in self.names and len(self.names) < MAX_REGISTERED:
            self.names.add(name)
        self.push(f"'{name}'" if name in self.names else f'"{name}"')

    def pop(self, times=1):
        for _ in range(times):
            self.events.append(f"pop kprof depth={self.open}")
            self.open -= 1


EVERY_FIELD = (
    "i8=-128 i16=-32768 i32=-2147483648 i64=-9223372036854775808 u8=255 u16=65535 u32=4294967295 "
    "u64=18446744073709551615 "
    "yes=true(1) no=false(0) f=0.10000000149011612 d=-2.5e+300 ld=1.25 plain={plain} gaps={gaps} "
    "negative=minus(255) "
    "broad=below(18446744073709551615) number=513 drift=-5 shape=[1,-2,3,-4] "
    "layouts=[nhwc(1),nchw(0)] matrix=[1,2,3,4,5,6] "
    "mask=[true(1),false(0),true(1)] inner={{corner={{tag=1 x=1.5}} others=[{{tag=2 "
    "x=2.5}},{{tag=3 x=3.5}}] last=9}} "
    'points=[{{tag=-4 x=4.5}},{{tag=-5 x=5.5}}] text="{text}" texts[0]="xyz" texts[1]="q" '
    'type=bf16(5)'
)


def scopes_of_main(payloads, names):
    e = Expected(payloads, names)
    e.op("every field", EVERY_FIELD.format(plain="blue(2)", gaps="five(5)", text="abc"))
    e.pop()
    e.op("every field", EVERY_FIELD.format(plain="(3)", gaps="(6)", text="seven77"))
    e.pop()

    e.op("conv2d", "n=2 c=3 k=5 type=f16(4)", "flops=60 bytes_read=12 bytes_written=20")
    e.op("conv2d", "n=4 c=1 k=1 type=f32(2)", "flops=8 bytes_read=16 bytes_written=16")
    e.op("OnlyFlops", "n=11", "flops=33")
    e.op("OnlyBytes", "n=10", "bytes_read=10 bytes_written=20")
    e.pop(3)
    for name, payload, work in (
        ("conv2d", "n=-1 c=1 k=1 type=f32(2)", ""),
        ("conv2d", "n=9223372036854775807 c=3 k=3 type=f32(2)", ""),
        ("OnlyBytes", "n=-1", ""),
        ("OnlyFlops", "n=0", "flops=0"),
        ("Divides", "n=6 k=2", "flops=3"),
        *([("Divides", "n=6 k=0", "")] if platform.machine() == "x86_64" else []),
        ("NoFormula", "shape=[1,2,3" + 17 * ",0" + "]", ""),
        ("NoField", "", "flops=7"),
        ("vendor", "first=1 third=3", ""),
    ):
        e.op(name, payload, work)
        e.pop()
    e.pop()

    e.op("Throws", "id=1")
    e.region("inside")
    e.pop(2)

    e.region("out of order")
    e.op("OnlyFlops", "n=1", "flops=3")
    e.op("OnlyFlops", "n=2", "flops=6")
    e.pop(2)
    e.op("OnlyFlops", "n=3", "flops=9")
    e.pop()
    e.op("OnlyFlops", "n=4", "flops=12")
    e.region("within 4")
    e.pop(2)
    for _ in range(3):
        e.op("OnlyFlops", "n=5", "flops=15")
        e.pop()
    e.pop()
    names.update(("owner", "other thread", "its second", "its third"))

    for _ in range(100):
        e.region("deep")
    e.pop(100)

    e.region("outer region")
    for name in ("layer 3", "cut", "", "(null)", "outer region"):
        e.region(name)
        e.pop()
    for i in range(1200):
        e.region(f"name {i}")
        e.pop()
    e.region("name 7")
    e.pop(2)
    return e.events


def scopes_of_worker(payloads, names, thread):
    e = Expected(payloads, names)
    for call in range(50):
        e.op("FromThread", f"thread={thread} call={call}")
        e.region("in thread")
        e.pop(2)
    return e.events


def scopes_of_owner(payloads, names):
    e = Expected(payloads, names)
    e.region("owner")
    e.op("OnlyFlops", "n=5", "flops=15")
    e.pop(2)
    return e.events


def scopes_of_other(payloads, names):
    e = Expected(payloads, names)
    for name in ("other thread", "its second", "its third"):
        e.region(name)
    e.pop(3)
    return e.events


def without_out_of_order(events):
    kept, skipping = [], False
    for event in events:
        if re.match(r"push kprof .out of order", event):
            skipping = True
        if not skipping:
            kept.append(event)
        if skipping and event == "pop kprof depth=1":
            skipping = False
    return kept


def compare(what, got, wanted):
    if got == wanted:
        return
    for i in range(max(len(got), len(wanted))):
        g = got[i] if i < len(got) else "(nothing)"
        w = wanted[i] if i < len(wanted) else "(nothing)"
        if g != w:
            fail(f"{what}, event {i}:\n  wanted {w}\n  got    {g}")
            return


def split(lines):
    """Events by thread, without the thread's number."""
    threads = {}
    for line in lines:
        found = re.match(r"((?:push|pop) .*)thread=(\d+) (depth=\d+)$", line)
        if found:
            threads.setdefault(int(found[2]), []).append(found[1] + found[3])
    return list(threads.values())


def check_log(lines):
    for line in lines:
        if line.startswith("error"):
            fail(line)
    if not lines or lines[-1] != "balance 0 errors 0":
        fail(f"wanted the last line 'balance 0 errors 0', got '{lines[-1] if lines else ''}'")
    registrations = [line for line in lines if line.startswith(("string", "enum", "schema"))]
    # Threads may describe the same thing at once; that is no more often than there are threads.
    for line in set(registrations):
        if registrations.count(line) > 5:
            fail(f"registered {registrations.count(line)} times: {line}")


def check_program(lines, payloads, session):
    names = {"in thread"}
    wanted_main = scopes_of_main(payloads, names)
    main, workers = [], []
    for events in split(lines):
        if events[0].startswith("push kprof 'FromThread'"):
            # A name arrives as text while another thread registers it.
            workers.append([event.replace('"in thread"', "'in thread'") for event in events])
        elif "'owner'" in events[0]:
            if not session:
                compare(
                    "owner of a scope closed elsewhere", events, scopes_of_owner(payloads, names)
                )
        elif "'other thread'" in events[0]:
            if not session:
                compare(
                    "thread that closes another's scope", events, scopes_of_other(payloads, names)
                )
        else:
            main = events
    if session:
        main, wanted_main = without_out_of_order(main), without_out_of_order(wanted_main)
    compare("main thread", main, wanted_main)
    wanted_workers = [scopes_of_worker(payloads, names, thread) for thread in range(4)]
    for thread, (got, wanted) in enumerate(zip(sorted(workers), sorted(wanted_workers))):
        compare(f"worker {thread}", got, wanted)
    if len(workers) != 4:
        fail(f"wanted ranges of 4 workers, got {len(workers)}")
    strings = {line for line in lines if line.startswith("string")}
    if len(strings) > MAX_REGISTERED + 20:
        fail(f"{len(strings)} strings were registered")


def check_host(lines, payloads):
    e = Expected(payloads, set())
    e.op("HostOp", "n=1")
    for name, payload in (
        ("plugin 1", "width=11 height=12"),
        ("plugin 2", "depth=11 ratio=12"),
        ("plugin 1", "width=11 height=12"),
    ):
        e.op(name, payload)
        e.region("in plugin")
        e.pop(2)
    e.pop()
    threads = split(lines)
    compare("host", threads[0] if threads else [], e.events)
    for line in set(lines):
        if line.startswith(("string", "schema")) and lines.count(line) > 1:
            fail(f"registered again when the plugin came back: {line}")


def check_handover(lines):
    e = Expected(True, set())
    for n in (1, 2):
        e.op("Op", f"n={n}")
    e.pop(2)
    for n in (3, 4):
        e.op("Op", f"n={n}")
    e.pop(2)
    e.op("Op", "n=5")
    e.pop()
    threads = split(lines)
    compare("handover", threads[0] if threads else [], e.events)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "mode",
        choices=("payloads", "names", "nothing", "no-tool", "handover", "host", "host-no-tool"),
    )
    parser.add_argument("--session", action="store_true")
    parser.add_argument("--tool")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()

    code, output, lines = run(options.program, options.tool)
    if code != 0:
        fail(f"exit code {code}")
    idle = re.findall(r"^idle (\d)$", output, re.MULTILINE)
    if options.mode.startswith("host"):
        wanted_idle = ["1", "1" if options.mode == "host-no-tool" else "0"]
        if "unloaded 1 same address 1" not in output:
            fail(
                "the plugins were not unloaded, or not loaded at the same address, so that this "
                "proves nothing"
            )
    else:
        wanted_idle = ["0" if options.mode in ("payloads", "names", "handover") else "1"]
    if idle != wanted_idle and not options.session:
        fail(f"wanted guards idle {wanted_idle}, got {idle}")

    if options.mode in ("no-tool", "host-no-tool"):
        if lines is not None:
            fail("a tool was loaded")
    elif options.mode == "nothing":
        sent = [line for line in lines or [] if line.startswith(("push", "pop"))]
        if sent:
            fail(f"sent all the same: {sent[0]}")
    elif lines is None:
        fail("the tool was not loaded")
    else:
        check_log(lines)
        if options.mode == "host":
            check_host(lines, True)
        elif options.mode == "handover":
            check_handover(lines)
        else:
            check_program(lines, options.mode == "payloads", options.session)

    for text in failures:
        print(text)
    print("failed" if failures else "passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
