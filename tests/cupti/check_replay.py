#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Attributes every transcript in a folder anew: check_replay.py REPLAY FOLDER

Each NAME.txt has a NAME.expected with what comes out. With KPROF_ACCEPT=1 in the environment they
are written.
"""

import difflib
import os
import pathlib
import subprocess
import sys

replay, folder = sys.argv[1], pathlib.Path(sys.argv[2])
failed, transcripts = [], sorted(folder.glob("*.txt"))
for transcript in transcripts:
    result = subprocess.run([replay, str(transcript)], text=True, capture_output=True, timeout=300)
    expected = transcript.with_suffix(".expected")
    if os.environ.get("KPROF_ACCEPT") == "1" and result.returncode == 0:
        expected.write_text(result.stdout)
    wanted = expected.read_text() if expected.exists() else ""
    if result.returncode == 0 and result.stdout == wanted:
        continue
    failed.append(transcript.name)
    print(f"FAILED: {transcript.name}: {result.stderr}")
    sys.stdout.writelines(
        difflib.unified_diff(
            wanted.splitlines(True), result.stdout.splitlines(True), "expected", "found"
        )
    )
print(f"{len(transcripts)} transcripts, {len(failed)} failures")
sys.exit(1 if failed or not transcripts else 0)
