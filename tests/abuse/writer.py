# SPDX-License-Identifier: MIT
"""Runs tests/abuse/writer.cpp, and collects what went wrong."""

import os
import resource
import select
import subprocess
import sys
import threading
import time

failures = []


def check(name, holds, seen):
    if not holds:
        failures.append(name)
        print(f"FAILED: {name}\n  seen: {seen}")


def end():
    print(f"{len(failures)} failures" if failures else "in order")
    sys.exit(1 if failures else 0)


def environment(**variables):
    ours = ("KPROF", "COLUMNS", "LD_PRELOAD", "KPROF_TRANSCRIPT")
    return {**{k: v for k, v in os.environ.items() if k not in ours}, **variables}


class Result:
    """What a run left: its standard streams, what the program said, and how it ended."""

    def __init__(self, code, out, err, said, seconds):
        self.code, self.out, self.err, self.said = code, out, err, said
        self.seconds = seconds

    def __repr__(self):
        def short(text):
            return repr(text if len(text) < 600 else text[:300] + " ... " + text[-300:])

        return (
            f"code {self.code} after {self.seconds:.1f} s, out {short(self.out)}, "
            f"err {short(self.err)}, said {short(self.said)}"
        )


def slowly(pipe, pause=0.02, size=8192):
    """Reads a pipe to its end, with pauses."""
    text = b""
    while block := os.read(pipe, size):
        text += block
        time.sleep(pause)
    return text


def whole(pipe):
    return slowly(pipe, 0, 1 << 16)


def never(pipe):
    """Reads nothing until the program has ended, or should have."""
    ended = select.poll()
    ended.register(pipe, 0)  # a hang-up is always reported
    ended.poll(55_000)
    return b""


class Readers:
    """Reads pipes at the same time, each in a thread."""

    def __init__(self, pipes):
        self.texts, self.threads = {}, []
        for name, (pipe, how) in pipes.items():
            self.threads.append(threading.Thread(target=self.read, args=(name, pipe, how)))
            self.threads[-1].start()

    def read(self, name, pipe, how):
        self.texts[name] = how(pipe).decode(errors="backslashreplace")
        os.close(pipe)

    def wait(self):
        for thread in self.threads:
            thread.join()
        return self.texts


def run(
    program,
    *arguments,
    folder=None,
    out=None,
    err=None,
    read=whole,
    room=None,
    closed=(),
    limit=None,
    seconds=60,
    **variables,
):
    """Runs the program. `out`, `err`: descriptors for its streams, where they are not to be pipes;
    `room`: what its descriptor 4 leads to; `closed`: descriptors that it does not have; `limit`:
    the largest file, in bytes; `read`: how its standard output is read.
    """
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    said_read, said_write = os.pipe()
    streams = {
        1: out if out is not None else out_write,
        2: err if err is not None else err_write,
        3: said_write,
        **({} if room is None else {4: out_write if room == "out" else room}),
    }

    def prepare():
        high = {number: os.dup2(of, 60 + number) for number, of in streams.items()}
        for number, of in high.items():
            os.dup2(of, number)
        for number in high:
            os.close(60 + number)
        for number in closed:
            os.close(number)
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    began = time.monotonic()
    process = subprocess.Popen(
        [program, *arguments],
        env=environment(**variables),
        cwd=folder,
        close_fds=False,
        preexec_fn=prepare,
        restore_signals=True,
    )
    for descriptor in (out_write, err_write, said_write):
        os.close(descriptor)
    readers = Readers(
        {"out": (out_read, read), "err": (err_read, whole), "said": (said_read, whole)}
    )
    try:
        code = process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        code = f"did not end within {seconds} s ({process.wait()})"
    took = time.monotonic() - began
    texts = readers.wait()
    return Result(code, texts["out"], texts["err"], texts["said"], took)
