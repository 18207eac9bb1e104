#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Transcripts to files and pipes that fail:
check_transcript.py TRANSCRIBED CUPTI REPLAY [--no-forks]
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
from writer import check, end, run

program, cupti, replay = sys.argv[1:4]
hows = ("plain",) if "--no-forks" in sys.argv else ("plain", "fork")


def transcribe(folder, how, path="run.txt", **more):
    more.update(KPROF="cupti=on", KPROF_CUPTI=cupti, KPROF_TRANSCRIPT=path)
    return run(program, how, folder=folder, **more)


def lines(text, word):
    return sum(line.startswith(word + " ") for line in text.split("\n"))


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    transcript = folder / "run.txt"
    for how in hows:
        r = transcribe(name, how)
        text = transcript.read_text()
        check(
            f"{how}: a transcript has each line once",
            r.code == 5
            and r.err == ""
            and text.startswith("kprof transcript 1\n")
            and text.endswith("\n")
            and lines(text, "launch") == lines(text, "kernel") == 2000
            and lines(text, "kprof") == 1,
            (r, text[:200], lines(text, "launch"), lines(text, "kernel")),
        )
        again = subprocess.run(
            [replay, transcript], capture_output=True, text=True, timeout=60
        )
        check(f"{how}: and can be attributed again", again.returncode == 0, again)

    r = transcribe(name, "plain", limit=20_000)
    check(
        "a limit of the file's size ends the transcript, not the program",
        r.code == 5
        and r.err.count("\n") == 1
        and "the file that KPROF_TRANSCRIPT names cannot be written: a file of this" in r.err
        and transcript.stat().st_size == 20_000,
        (r, transcript.stat()),
    )

    os.mkfifo(folder / "fifo")

    def read_a_little():
        with open(folder / "fifo", "rb") as pipe:
            pipe.read(1)

    reader = threading.Thread(target=read_a_little, daemon=True)
    reader.start()
    r = transcribe(name, "plain", "fifo")
    check(
        "nor does a reader that ends",
        r.code == 5 and "KPROF_TRANSCRIPT names cannot be written: its reader has ended" in r.err,
        r,
    )
    reader.join(10)

    r = transcribe(name, "reuse")
    data = (folder / "data").read_bytes()
    check("a file that got the transcript's number has nothing of it", data == b"", (r, data[:99]))
    check("which is told", r.code == 5 and "it is closed" in r.err, r)
end()
