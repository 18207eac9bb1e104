#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether the outputs come however a program ends.

    check_ending.py <ending> [--signals N] [--seed S]

N times, SIGINT or SIGTERM comes at a random moment to a program whose four threads are in guards,
in malloc, in a report and in fork: the report must come whole, the status must be the signal's, and
nothing may hang.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import time

LIMIT = 60  # seconds; a hang is a failure
failures = []


def check(what, holds, output=""):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}\n{output}")


def start(program, way, *how, begins=b"ready\n", **variables):
    environment = dict(os.environ, KPROF="report(details)")
    environment.update(variables)
    silent_end, keyboard = os.pipe()
    run = subprocess.Popen(
        [program, way, *how],
        stdin=silent_end,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        bufsize=0,  # nothing is read ahead of the line
        start_new_session=True,
    )
    os.close(silent_end)
    run.keyboard = keyboard
    line = run.stdout.readline()
    if line != begins:
        sys.exit(f"check_ending: {program} {way} began with {line!r}")
    return run


def finish(run):
    """Status and both outputs; None for the status where it hangs."""
    try:
        out, err = run.communicate(timeout=LIMIT)
        status = run.returncode
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        out, err = run.communicate()
        status = None
    os.close(run.keyboard)
    check("no finding of a sanitizer", b"Sanitizer" not in err, err.decode())
    return status, out.decode(), err.decode()


def is_whole(report):
    """Head, table and the footer's last part."""
    return (
        report.count("kprof ") >= 1
        and "\nOperators, sorted" in report
        and "\nStep " in report
        and "\nComplete" in report
        and "\n  clock " in report
        and report.endswith("\n")
    )


def random_moments(program, count, seed):
    moments = random.Random(seed)
    for i in range(count):
        number = moments.choice((signal.SIGINT, signal.SIGTERM))
        run = start(program, "busy")
        time.sleep(moments.random() ** 2 * 0.1)
        os.kill(run.pid, number)
        status, out, err = finish(run)
        name = f"moment {i} of seed {seed}: {number.name}"
        check(f"{name}: ends by the signal, not with {status}", status == -number, err)
        check(f"{name}: the report comes whole", is_whole(out), out + err)
        check(f"{name}: the report says why", f"ended by {number.name}" in out, out)
        check(f"{name}: it comes once", out.count("Operators, sorted") == 1, out)
        if failures:
            return


def ended_by_signal(program):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        run = start(program, "waits")
        os.kill(run.pid, number)
        status, out, err = finish(run)
        check(f"{number.name}: status {status}", status == -number)
        check(f"{number.name}: report", is_whole(out), out + err)

    run = start(program, "sleeps")
    os.kill(run.pid, signal.SIGTERM)
    status, out, err = finish(run)
    check(f"in a system call: status {status}", status == -signal.SIGTERM)
    check("in a system call: report", is_whole(out), out + err)

    # A program that ends by itself meanwhile does not end with a status of its own.
    for how in ("return", "exit", "quick_exit"):
        for _ in range(10):
            run = start(program, "waits_once", how)
            os.kill(run.pid, signal.SIGTERM)
            status, out, err = finish(run)
            check(f"{how} after a wait that ends: status {status}", status == -signal.SIGTERM)
            check(f"{how} after a wait that ends: report", is_whole(out), out + err)

    for settings in ("report,signals=off", "on"):
        run = start(program, "waits", KPROF=settings)
        os.kill(run.pid, signal.SIGTERM)
        status, out, err = finish(run)
        check(f"{settings}: status {status}", status == -signal.SIGTERM)
        check(f"{settings}: nothing is written", out + err == "", out + err)

    run = start(program, "waits", KPROF="report(path=/dev/full)")
    os.kill(run.pid, signal.SIGTERM)
    status, out, err = finish(run)
    check(f"a full disk: status {status}", status == -signal.SIGTERM)
    check("a full disk: says so", "kprof: report: " in err, err)


def one_end_in_two_signals(program):
    """What comes as two signals and is meant as one: the report comes whole."""
    for pause in (0, 20e-6, 1e-3, 20e-3):
        for number in (signal.SIGTERM, signal.SIGINT):
            run = start(program, "waits")
            os.kill(run.pid, number)
            time.sleep(pause)
            os.kill(run.pid, number)
            status, out, err = finish(run)
            check(f"{number.name} twice, {pause} s apart: status {status}", status == -number)
            check(f"{number.name} twice, {pause} s apart: report", is_whole(out), out + err)
    # It sends the signal to the program and then to the group of both.
    for i in range(20):
        env = {**os.environ, "KPROF": "report(details)"}
        run = subprocess.run(["timeout", f"{0.2 + i / 1000}", program, "busy"], env=env,
                             stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=LIMIT)
        out = run.stdout.replace("ready\n", "", 1)
        check(f"timeout, {i}: status {run.returncode}", run.returncode == 124)
        check(f"timeout, {i}: report", is_whole(out), out + run.stderr)


def wait_until_open(run, path):
    """Until the program has opened the file, which it does to write its outputs."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end and run.poll() is None:
        for descriptor in os.scandir(f"/proc/{run.pid}/fd"):
            try:
                if os.readlink(descriptor.path) == path:
                    return
            except FileNotFoundError:
                pass
        time.sleep(0.01)
    check(f"{path} is opened", False)


def second_signal(program, fifo):
    """While the report waits for somebody to read it, a second signal ends the program at once."""
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        run = start(program, "waits", KPROF=f"report(path={fifo},width=400)")
        filler = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        try:
            while True:
                os.write(filler, b"x" * 4096)
        except BlockingIOError:
            pass
        os.kill(run.pid, signal.SIGTERM)
        wait_until_open(run, fifo)
        time.sleep(0.3)
        os.kill(run.pid, signal.SIGINT)
        status, out, err = finish(run)
        # The first signal would end it when the pipe is given up.
        check(f"a second signal ends it at once: status {status}", status == -signal.SIGINT)
        os.close(filler)
    finally:
        os.close(reader)
        os.unlink(fifo)


def programs_own_signals(program):
    for way in ("handles", "handles_later", "handles_meanwhile"):
        run = start(program, way)
        os.kill(run.pid, signal.SIGTERM)
        status, out, err = finish(run)
        check(f"{way}: its handler runs, status {status}", status == 7, out + err)
    run = start(program, "gets_one_meanwhile", begins=b"")
    status, out, err = finish(run)
    check(f"a signal while kprof looks whose it is: status {status}", status == 7, out + err)
    run = start(program, "ignores")
    os.kill(run.pid, signal.SIGTERM)
    time.sleep(0.3)
    check("ignores: goes on", run.poll() is None)
    os.kill(run.pid, signal.SIGINT)
    status, out, err = finish(run)
    check(f"ignores: SIGINT ends it, status {status}", status == -signal.SIGINT)
    check("ignores: report", is_whole(out), out + err)
    run = start(program, "forks")
    status, out, err = finish(run)
    check(f"a forked child dies of the signal: status {status}", status == 0)
    check("forks: one report, the parent's", out.count("Operators, sorted") == 1, out)
    run = start(program, "clones")
    status, out, err = finish(run)
    check(f"a child of clone() ends: status {status}", status == 0)
    check("clones: a child does not write its parent's report", out + err == "", out + err)


def other_ends(program):
    for way, expected, has_report in (
        ("terminates", -signal.SIGABRT, True),
        ("terminates_in_the_past", -signal.SIGABRT, True),
        ("quick_exit", 3, True),
        ("_exit", 4, False),
        ("abort", -signal.SIGABRT, False),
    ):
        run = start(program, way)
        status, out, err = finish(run)
        check(f"{way}: status {status}", status == expected, out + err)
        check(f"{way}: report", is_whole(out) == has_report, out + err)
        if way == "terminates":
            check("terminates: the runtime says why", "not caught" in err, err)


def main_ends_first(program, sanitized):
    """`sanitized`: the sanitizer looks at memory through a pipe, and needs descriptors for it."""
    status, out, err = finish(start(program, "main_ends_first"))
    check(f"main_ends_first: status {status}", status == 0, out + err)
    check("main_ends_first: report", is_whole(out), out + err)
    if not sanitized:
        status, out, err = finish(start(program, "main_ends_first", "descriptors"))
        check(f"main_ends_first without a descriptor: status {status}", status == 0, out + err)
        check("main_ends_first without a descriptor: report", is_whole(out), out + err)
    run = start(program, "main_ends_first")
    run.send_signal(signal.SIGTERM)
    status, out, err = finish(run)
    check(f"main_ends_first, by SIGTERM: status {status}", status == -signal.SIGTERM, out + err)


def starts_by_settings(program):
    run = start(program, "starts_by_settings")
    run.send_signal(signal.SIGTERM)
    status, out, err = finish(run)
    check(f"starts_by_settings: status {status}", status == -signal.SIGTERM, out + err)
    check("starts_by_settings: report", is_whole(out), out + err)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("--signals", type=int, default=25)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--sanitized", action="store_true")
    options = arguments.parse_args()
    ended_by_signal(options.program)
    programs_own_signals(options.program)
    other_ends(options.program)
    main_ends_first(options.program, options.sanitized)
    starts_by_settings(options.program)
    one_end_in_two_signals(options.program)
    second_signal(options.program, f"/tmp/kprof_ending_{os.getpid()}")
    random_moments(options.program, options.signals, options.seed)
    print(f"check_ending: {options.signals} random moments, {len(failures)} failures")
    sys.exit(1 if failures else 0)


main()
