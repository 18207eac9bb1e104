# SPDX-License-Identifier: MIT
"""Invented results of a GPU, and a repository that keep.py takes them into: for test_keep.py."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

REPOSITORY, REPLAY = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
HERE = REPOSITORY / "tests/gpu"
REPORT = """kprof 0.1.0 · wall 1.00 ms · 1 thread · 5 scopes
device 0 · Invented GPU{}

Kernels, sorted by total
linear_kernel, invented

Completeness
  all of it
"""  # with or without a space at the end of a line
README = """# Title

<!-- report 10_gpu_graph: "kprof " to "Kernels, sorted" -->
```text
old report
```

between

<!-- report 10_gpu_graph: "Kernels, sorted" to "Completeness" -->
```text
old kernels
```

<!-- report source -->
from the scripted
CUDA, and not yet on a GPU.

## Next
"""


class keep_case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.root = self.folder / "repository"
        (self.root / "docs").mkdir(parents=True)
        (self.root / "README.md").write_text(README)
        shutil.copytree(HERE / "records", self.root / "tests/gpu/records")
        for other in (self.root / "tests/gpu/records").glob("*.facts"):
            if other.stem != "scripted":
                other.unlink()
        self.results = self.folder / "results"
        (self.results / "records").mkdir(parents=True)
        (self.results / "reports").mkdir()
        answers = (
            (HERE / "records/scripted.facts")
            .read_text()
            .replace("machine.gpu: scripted CUDA", "machine.gpu: Invented GPU 9")
        )
        self.answers = answers.replace(
            "buffers.sorted_within: no", "buffers.sorted_within: yes, as invented"
        )
        self.say("PASS facts.buffers: it is well")
        self.explain("# nothing yet")
        shutil.copy(
            HERE / "records/scripted_schedules.txt", self.results / "records/10_gpu_graph.txt"
        )
        (self.results / "reports/10_gpu_graph.txt").write_text(REPORT.format(" "))
        (self.results / "overhead.md").write_text("# What kprof costs\n\n| a table |\n")
        (self.results / "overhead.json").write_text('{"kprof": [1]}\n')

    def say(self, *lines):
        told = [f"FACT {line}" for line in self.answers.split("\n") if line]
        front = ["NOTE 2031-02-03T04:05Z", "NOTE GPU: Invented GPU 9"]
        (self.results / "results.txt").write_text(
            "\n".join([*front, *told, *lines, "tests/gpu: 9 checks passed, 0 failed, 0 skipped"])
            + "\n"
        )

    def explain(self, text):
        (self.root / "tests/gpu/truth_explanations.txt").write_text(text + "\n")

    def count(self, flops):
        """A comparison with counters, of a call of 1000 FLOPs."""
        declared = {
            "case": "saxpy",
            "operator": "Axpy",
            "parameters": "n=500",
            "flops": 1000,
            "bytes_read": 0,
            "bytes_written": 0,
            "transcendentals": 0,
            "unit": "f32",
        }
        counted = {"fadd": 0, "fmul": 0, "ffma": flops // 2}
        case = {
            "declared": declared,
            "kernels": ["saxpy_kernel"],
            "counted": counted,
            "reasons": {},
            "rows": [],
        }
        (self.results / "truth.json").write_text(
            json.dumps({"machine": ["an invented machine"], "cases": {"saxpy": case}})
        )
        (self.results / "truth.md").write_text("# Truth, as judged there\n")

    def keep(self, *arguments, results=None):
        command = [
            sys.executable,
            HERE / "keep.py",
            "--replay",
            REPLAY,
            "--root",
            self.root,
            *arguments,
            *(results or [self.results]),
        ]
        return subprocess.run(command, capture_output=True, text=True)

    def text(self, path):
        return (self.root / path).read_text()

    def is_refused(self, done, why):
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(why, done.stderr)
        self.assertFalse(
            list((self.root / "tests/gpu/records").glob("invented*")),
            "something was taken all the same",
        )
        self.assertEqual(self.text("README.md"), README)
