#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs programs under `kprof run`: check_run.py KPROF LIBKPROF PLAIN GUARDED...

KPROF is the program kprof, LIBKPROF the library that it preloads, PLAIN a program with a session of
its own. GUARDED are programs with guards and no session, by several compilers; where it ends in
.so, a library with guards that Python loads; where it ends in _static, statically linked.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

kprof, library, plain, *guarded = sys.argv[1:]
libraries = [g for g in guarded if g.endswith(".so")]
static = [g for g in guarded if g.endswith("_static")]
programs = [g for g in guarded if g not in libraries + static]
failures = []


def environment(**more):
    ours = ("KPROF", "COLUMNS", "LD_PRELOAD", "KPROF_LIBRARY")
    return {**{k: v for k, v in os.environ.items() if k not in ours}, **more}


def run(*command, **variables):
    return subprocess.run(
        command, env=environment(**variables), text=True, capture_output=True, timeout=60
    )


def kprof_run(*arguments, **variables):
    return run(kprof, "run", *arguments, **variables)


def check(name, holds, result):
    if not holds:
        failures.append(name)
        print(f"FAILED: {name}\n{result}")


def shows_calls(result, calls):
    row = [line.split() for line in result.stdout.splitlines() if line.startswith("Axpy ")]
    return len(row) == 1 and row[0][1:3] == ["n=1048576", str(calls)]


def reported(result, calls, code):
    return result.returncode == code and shows_calls(result, calls) and result.stderr == ""


def check_programs():
    for program in programs:
        name = os.path.basename(program)
        r = kprof_run("--", program, "3", "5")
        check(
            f"{name}: the report comes and the exit status is the program's", reported(r, 5, 3), r
        )
        r = run(program, "3", "5", LD_PRELOAD=library, KPROF="report")
        check(f"{name}: the same without the launcher", reported(r, 5, 3), r)
        r = run(program, "0", "5", KPROF="report")
        check(
            f"{name}: without the library there is none, and the program says so",
            r.stdout == "" and "the program has guards and no session" in r.stderr,
            r,
        )
    for program in libraries:
        code = "import ctypes, sys; ctypes.CDLL(sys.argv[1]).run_axpy(7)"
        r = kprof_run("--", sys.executable, "-c", code, program)
        check("a module that Python loads", reported(r, 7, 0), r)
        for end, status in (
            ("os._exit(6)", 6),
            # a child that ends so prints nothing
            ("(os.fork() and os._exit(os.waitpid(-1, 0)[1])) or os._exit(0)", 0),
            ("os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)", -signal.SIGTERM),
            # Python's own handler of SIGINT stays
            ("os.kill(os.getpid(), signal.SIGINT); time.sleep(60)", -signal.SIGINT),
        ):
            code = "import ctypes, os, signal, sys, time; ctypes.CDLL(sys.argv[1]).run_axpy(7); "
            code += end
            r = kprof_run("--", sys.executable, "-c", code, program)
            check(f"a module that Python loads, and {end}", shows_calls(r, 7), r)
            check(f"the status of {end}", r.returncode == status, r)
            check(f"once: {end}", r.stdout.count("Complete") == 1, r)
            interrupted = "KeyboardInterrupt" in r.stderr
            check(f"what Python makes of {end}", interrupted == (status == -signal.SIGINT), r)
    r = kprof_run("--", plain)
    check(
        "a program with a session of its own",
        r.returncode == 5 and r.stdout.count("Complete") == 1 and "Gemm" in r.stdout,
        r,
    )


def check_second_signal(module, folder):
    """While the report waits for somebody to read it, a second signal ends the program at once: it
    does not wait for the outputs in libkprof.so's own kill()."""
    fifo = os.path.join(folder, "fifo")
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    filler = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
    try:
        while True:
            os.write(filler, b"x" * 4096)
    except BlockingIOError:
        pass
    code = "import ctypes, sys, time; ctypes.CDLL(sys.argv[1]).run_axpy(7); print(flush=True)\n"
    code += "while True: time.sleep(1)"
    with subprocess.Popen(
        [kprof, "run", f"report(path={fifo})", "--", sys.executable, "-c", code, module],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as r:
        r.stdout.readline()
        r.send_signal(signal.SIGTERM)
        wait_until_open(r, fifo)
        time.sleep(0.3)
        r.send_signal(signal.SIGHUP)
        r.wait(60)
        # The first signal would end it when the pipe is given up.
        check("a second signal ends it at once", r.returncode == -signal.SIGHUP, r.returncode)
    os.close(filler)
    os.close(reader)


def wait_until_open(r, path):
    """Until the program has opened the file, which it does to write its outputs."""
    end = time.monotonic() + 60
    while time.monotonic() < end and r.poll() is None:
        for descriptor in os.scandir(f"/proc/{r.pid}/fd"):
            try:
                if os.readlink(descriptor.path) == path:
                    return
            except FileNotFoundError:
                pass
        time.sleep(0.01)


def check_settings(program, folder):
    r = kprof_run("report(tree)", "--", program, "0", "2")
    check("settings of the command line", shows_calls(r, 2) and "Call tree" in r.stdout, r)
    r = kprof_run("memory=2MiB", "--", program, "0", "2")
    check("settings without an output report too", shows_calls(r, 2), r)
    r = kprof_run("memory=2MiB,report(details)", "--", program, "0", "2")
    check("settings beside an output hold", shows_calls(r, 2) and "2.00 MiB" in r.stdout, r)
    r = kprof_run("--", program, "0", "2", KPROF="report(tree)")
    check("KPROF holds without settings", shows_calls(r, 2) and "Call tree" in r.stdout, r)
    r = kprof_run("off", "--", program, "4", "2")
    check("off prints nothing", r.returncode == 4 and r.stdout == r.stderr == "", r)
    path = os.path.join(folder, "run.txt")
    r = kprof_run(f"report(path={path})", "--", program, "0", "2")
    with open(path, encoding="utf-8") as text:
        check("the report goes into a file", r.stdout == "" and "Axpy" in text.read(), r)
    r = kprof_run("--", program, "0", "2", LD_PRELOAD="libm.so.6")
    check("another preloaded library stays", reported(r, 2, 0), r)


def check_silence(program, folder):
    """Whatever a program starts inherits the library, and prints nothing of its own."""
    r = kprof_run("--", "sh", "-c", f"x=$(echo word); echo \"<$x>\"; '{program}' 0 4")
    check("children without guards print nothing", r.stdout.startswith("<word>\nkprof "), r)
    check("a child with guards reports", shows_calls(r, 4), r)
    r = run(
        "sh", "-c", f"ls / > /dev/null; '{program}' 0 4", LD_PRELOAD=library, KPROF="report,tpo"
    )
    check(
        "of a mistake in KPROF only the process with guards tells",
        shows_calls(r, 4) and r.stderr.count("unknown setting 'tpo'") == 1,
        r,
    )
    script = os.path.join(folder, "script")
    with open(script, "w", encoding="utf-8") as text:
        text.write(f"#!/usr/bin/env sh\nexec '{program}' 6 4\n")
    os.chmod(script, 0o755)
    r = kprof_run("--", script)
    check("a script that becomes the program", reported(r, 4, 6), r)
    r = kprof_run("--", "true")
    check(
        "a program without guards is told so",
        r.returncode == 0 and r.stdout == "" and "no module of the program has guards" in r.stderr,
        r,
    )
    r = kprof_run("--", program, "0")
    check("guards that never ran", r.stdout == "" and "none of them ran" in r.stderr, r)


def check_mistakes(program, folder):
    def refused(name, code, words, *arguments, **variables):
        r = kprof_run(*arguments, **variables)
        check(
            name,
            r.returncode == code and r.stdout == "" and all(w in r.stderr for w in words),
            r,
        )

    refused("an unknown setting", 2, ["'tpo=3'", "valid:"], "tpo=3", "--", program)
    refused("no program", 2, ["name the program after --"])
    refused("a program that is not there", 127, ["no program ./nosuch"], "--", "./nosuch")
    escaped = ["no program ./\\x1b[31m\\n\\u202e"]
    refused("a hostile name is escaped", 127, escaped, "--", "./\x1b[31m\n\u202e")
    refused("a name that PATH does not have", 127, ["nosuch", "PATH"], "--", "nosuch")
    refused("a folder", 127, [folder], "--", folder)
    refused(
        "a library that is not there",
        126,
        ["KPROF_LIBRARY", "/nosuch.so"],
        "--",
        program,
        KPROF_LIBRARY="/nosuch.so",
    )
    spaced = os.path.join(folder, "a folder")
    os.mkdir(spaced)
    copy = shutil.copy(library, spaced)
    refused(
        "a library that ld.so cannot preload",
        126,
        ["a space or a colon", "KPROF_LIBRARY"],
        "--",
        program,
        KPROF_LIBRARY=copy,
    )
    text = os.path.join(folder, "text")
    with open(text, "w", encoding="utf-8") as file:
        file.write("neither\n")
    os.chmod(text, 0o755)
    refused("a text", 126, ["neither a program nor a script"], "--", text)
    for name in static:
        refused("a static program", 126, ["statically linked", "kprof/kprof.hpp"], "--", name, "0")
    privileged = os.path.join(folder, "privileged")
    shutil.copy(program, privileged)
    if os.getuid() == 0:
        os.chown(privileged, 65534, 65534)
        os.chmod(privileged, 0o4755)
        refused("a set-user-ID program", 126, ["more rights"], "--", privileged)
    r = run(kprof, "--version")
    check("--version", r.returncode == 0 and r.stdout.count(".") == 2, r)
    r = run(kprof, "run", "--help")
    check("--help shows an example", "kprof run -- ./program" in r.stdout, r)


def check_ceilings():
    r = run(kprof, "ceilings")
    lines = r.stdout.splitlines()
    check("ceilings: exit status", r.returncode == 0 and r.stderr == "", r)
    check("ceilings: the first line says how long it took", "measured in" in lines[0], r)
    for name in ("f64", "f32"):
        rows = [line.split() for line in lines if line.startswith(name + " ")]
        numbers = [w for w in rows[0][1:] if w.replace(".", "").isdigit()] if rows else []
        check(f"ceilings: {name}", len(numbers) >= 1 and float(numbers[0]) > 0, r)
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([kprof, "ceilings"], stdout=full, stderr=subprocess.PIPE, text=True,
                              timeout=60, env=environment())
    check("ceilings: a full disk", done.returncode == 1 and "No space left" in done.stderr, done)


def check_saved_ceilings(scratch):
    cache = os.path.join(scratch, "cache")
    r = run(kprof, "ceilings", "--save", XDG_CACHE_HOME=cache)
    kept = [os.path.join(folder, f) for folder, _, files in os.walk(cache) for f in files]
    check("--save: keeps one file", r.returncode == 0 and len(kept) == 1, (r, kept))
    check("--save: says where", kept and f'saved to "{kept[0]}"' in r.stdout, r)
    r = run(kprof, "ceilings", "--save", XDG_CACHE_HOME="/dev/null")
    says = r.returncode == 1 and "f32" in r.stdout and "kprof ceilings: not saved: " in r.stderr
    check("--save: no folder", says, r)

    file = os.path.join(scratch, "ceilings.txt")
    r = run(kprof, "ceilings", "--save", file, XDG_CACHE_HOME="/dev/null")
    check("--save FILE", r.returncode == 0 and f'saved to "{file}"' in r.stdout, r)
    r = run(kprof, "ceilings", "--save", os.path.join(scratch, "none", "file"))
    check("--save FILE: no folder", r.returncode == 1 and "does not exist" in r.stderr, r)
    r = run(plain, "1", KPROF=f"report,ceilings={file}", XDG_CACHE_HOME="/dev/null")
    check("a file that was saved is read without a mistake", "ceilings=" not in r.stdout, r)
    with open(file, "a", encoding="utf-8") as more:
        more.write("f33 = 1 2 GFLOP/s\n")
    r = run(plain, "1", KPROF=f"report,ceilings={file}", XDG_CACHE_HOME="/dev/null")
    told = " ".join(r.stdout.split())
    check("a mistake in it is a note of the report", '"f33 = 1 2 GFLOP/s" is unknown' in told, r)


def check_first_report(scratch):
    cache = os.path.join(scratch, "first")
    measures = "kprof measured what this machine reaches, for "
    r = run(plain, "1", KPROF="report", XDG_CACHE_HOME=cache)
    check("the first report measures the machine, and says so", measures in r.stdout, r)
    r = run(plain, "1", KPROF="report", XDG_CACHE_HOME=cache)
    check("the second takes what was kept", r.stdout and measures not in r.stdout, r)
    for setting in ("off", "cache"):
        r = run(plain, "1", KPROF=f"report,ceilings={setting}",
                XDG_CACHE_HOME=os.path.join(scratch, "none"))
        check(f"ceilings={setting} measures nothing", r.stdout and measures not in r.stdout, r)
    r = run(plain, "1", KPROF="report", XDG_CACHE_HOME="/dev/null")
    check("nor does it without a folder", r.stdout and measures not in r.stdout, r)


with tempfile.TemporaryDirectory() as scratch:
    check_programs()
    if os.uname().machine == "x86_64":
        check_ceilings()
        check_saved_ceilings(scratch)
        check_first_report(scratch)
    for module in libraries:
        check_second_signal(module, scratch)
    check_settings(programs[0], scratch)
    check_silence(programs[0], scratch)
    check_mistakes(programs[0], scratch)
print(f"{len(programs)} programs, {len(static)} static, {len(libraries)} libraries")
sys.exit(1 if failures else 0)
