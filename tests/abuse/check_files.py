#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Outputs to files, pipes and devices, and of children of a fork:
check_files.py WRITER [--no-forks]
"""

import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
from writer import check, end, run

program = sys.argv[1]
forks = "--no-forks" not in sys.argv
OUTPUTS = ("report", "csv", "save")


class Folder:
    """A folder of its own for a run."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        return self

    def __exit__(self, *error):
        self.folder.cleanup()

    def run(self, *arguments, **more):
        return run(program, *arguments, folder=self.path, **more)

    def files(self):
        return sorted(f.name for f in self.path.iterdir())

    def text(self, name):
        file = self.path / name
        return file.read_text() if file.exists() else "(no such file)"


for output in OUTPUTS:
    with Folder() as here:
        old = here.path / "old"
        old.write_text("what was there")
        old.chmod(0o640)
        r = here.run("work", "1000", KPROF=f"{output}(path=old)", limit=1000)
        check(
            f"{output}: where there is no room, what was there stays",
            r.code == 5 and here.text("old") == "what was there" and here.files() == ["old"],
            (r, here.files(), old.stat().st_size),
        )
        told = f'kprof: {output}: cannot write to "old": a file of this process may not be'
        check("and it is told", told in r.err, r)
        number = old.stat().st_ino
        r = here.run("work", KPROF=f"{output}(path=old)")
        check(
            f"{output}: a whole file takes the place of the old one, with its permissions",
            here.files() == ["old"]
            and old.stat().st_ino != number
            and stat.S_IMODE(old.stat().st_mode) == 0o640
            and "Step" in here.text("old"),
            (r, old.stat()),
        )
        r = here.run("work", KPROF=f"{output}(path=/dev/stdout)")
        check(f"{output}: /dev/stdout is standard output", "Step" in r.out and not r.err, r)
        with open(here.path / "log", "w") as log:
            log.write("printed before\n")
            log.flush()
            here.run("work", out=log.fileno(), KPROF=f"{output}(path=/dev/stdout)")
        check(
            f"{output}: and does not lose what a file that it leads to has",
            here.text("log").startswith("printed before\n") and "Step" in here.text("log"),
            here.text("log")[:200],
        )

    with Folder() as here:
        os.mkfifo(here.path / "fifo")
        r = here.run("work", KPROF=f"{output}(path=fifo)")
        check(
            f"{output}: a pipe without a reader holds up the end for no more than a second",
            r.code == 5 and r.seconds < 10 and "nobody reads from it: start its reader" in r.err,
            r,
        )
        check("and stays", stat.S_ISFIFO(os.stat(here.path / "fifo").st_mode), here.files())
        got = []
        reader = threading.Thread(
            target=lambda: got.append((here.path / "fifo").read_text()), daemon=True
        )
        reader.start()
        r = here.run("work", "1000", KPROF=f"{output}(path=fifo)")
        reader.join(20)
        check(f"{output}: a pipe with a reader gets all", got and "Step" in got[0], (r, got))

with Folder() as here:
    os.mkfifo(here.path / "fifo")
    stuck = os.open(here.path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    r = here.run("work", "3000", KPROF="report(path=fifo,top=0)")
    os.close(stuck)
    check(
        "a reader of a pipe that takes nothing is given up",
        r.code == 5 and 4 < r.seconds < 50 and "its reader took nothing for 5 s" in r.err,
        r,
    )
    r = here.run("work", KPROF="cupti=on", KPROF_TRANSCRIPT="fifo")
    check(
        "a transcript to a pipe without a reader does not hold up the start",
        r.code == 5 and r.seconds < 10 and "nobody reads from it" in r.err,
        r,
    )


# A file that a container mounts cannot be replaced: renaming says that it is busy.
with Folder() as here:
    (here.path / "outside").write_text("old")
    (here.path / "inside").write_text("")
    command = (
        "mount --bind outside inside || exit 77; "
        "KPROF='report(path=inside)' exec \"$0\" work 3>/dev/null"
    )
    r = subprocess.run(
        ["unshare", "-m", "sh", "-c", command, program],
        cwd=here.path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    if r.returncode == 5:
        check(
            "a mounted file is written",
            "Complete" in here.text("outside") and here.files() == ["inside", "outside"],
            (r, here.files()),
        )
    else:
        print(f"left out, mounting needs root: {r.stderr}")


# ---- children of a fork

if not forks:
    end()


def has_own(text, forked):
    return "Complete" in text and ("forked from process" in text) == forked


with Folder() as here:
    r = here.run("fork_once", KPROF="report(path=run.txt),csv(path=run.csv),save(path=run-%p.json)")
    child = r.said
    check(
        "a child writes beside its parent, not over it",
        has_own(here.text("run.txt"), False)
        and has_own(here.text(f"run.txt.{child}"), True)
        and here.text("run.csv").count("Step") == 3
        and here.text(f"run.csv.{child}").count("Step") == 1,
        (r, here.files()),
    )
    check("each file is there once", len(here.files()) == 6, here.files())
with Folder() as here:
    r = here.run("fork_twice", KPROF="report(path=run.txt)")
    names = sorted(["run.txt", *(f"run.txt.{p}" for p in r.said.split())])
    check("a child's child has one process id in its name", here.files() == names, here.files())
with Folder() as here:
    r = here.run("fork_reports", KPROF="report(path=run.txt)")
    check(
        "report() of a child is kept apart too, a path that it names itself is not changed",
        here.files() == sorted(["named", "run.txt", f"run.txt.{r.said}"]),
        (r, here.files()),
    )
with Folder() as here:
    r = here.run("fork_settings")
    names = ["own.txt", f"own.txt.{r.said}", "second.txt", f"second.txt.{r.said}"]
    check("and what the program's settings ask for", here.files() == names, (r, here.files()))
with Folder() as here:
    r = here.run("fork_once", KPROF="report,report(path=/dev/stderr),csv(path=/dev/null)")
    check(
        "what is no file is shared",
        r.out.count("Complete") == 2 and r.err.count("Complete") == 2 and not here.files(),
        (r, here.files()),
    )
end()
