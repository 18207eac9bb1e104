#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds run.sh to its word on the scripted CUDA: test_run.py BUILD SCRIPTED

BUILD has the suite's programs, SCRIPTED the libraries. What they say is replaced where a test wants
another answer.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

BUILD, SCRIPTED = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
HERE = pathlib.Path(__file__).resolve().parent
SUMMARY = "tests/gpu: "


class running(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.suite = self.folder / "tests/gpu"
        shutil.copytree(HERE, self.suite)
        self.build = self.folder / "build"
        self.build.mkdir()
        for name in ("attribution", "facts", "facts_graphs", "launch_cost"):
            (self.build / name).symlink_to(BUILD / name)

    def program(self, name, text):
        (self.build / name).unlink(missing_ok=True)
        (self.build / name).write_text("#!/bin/sh\n" + text)
        (self.build / name).chmod(0o755)

    def run_suite(self, *arguments, as_gpu=False):
        """`as_gpu`: on the scripted CUDA, as if that were a GPU's."""
        command = [
            "bash",
            self.suite / "run.sh",
            "--no-build",
            "--build",
            self.build,
            "--out",
            self.folder / "out",
            *arguments,
        ]
        environment = dict(os.environ)
        if as_gpu:
            environment |= {
                "LD_LIBRARY_PATH": str(SCRIPTED),
                "KPROF_CUPTI": str(SCRIPTED / "libcupti.so.13"),
                "SCRIPTED_KERNEL_US": "100",
            }
        else:
            command += ["--scripted", SCRIPTED]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
        self.results = (self.folder / "out/results.txt").read_text()
        self.assertEqual(self.results.split("\n")[-2][: len(SUMMARY)], SUMMARY)
        return done

    def test_an_answer_that_is_not_as_noted_fails(self):
        # gpu.scripted runs the suite with all answers as noted.
        noted = self.suite / "records/scripted.facts"
        noted.write_text(
            noted.read_text().replace(
                "flush.forced_come_again: none", "flush.forced_come_again: all"
            )
        )
        done = self.run_suite()
        self.assertEqual(done.returncode, 1)
        self.assertIn(
            "FAIL facts: the scripted CUDA answers as noted in records/scripted.facts: "
            "flush.forced_come_again: none, was all",
            self.results,
        )

    def test_a_part_is_not_compared(self):
        done = self.run_suite("--only", "^facts_graphs")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("FACT graph.record_graph_id", self.results)
        self.assertNotIn("FACT machine", self.results)
        self.assertNotIn("as noted", self.results)

    def test_results_are_of_one_run(self):
        self.run_suite("--only", "^facts_graphs")
        for name in (
            "overhead.md",
            "truth.json",
            "records/old.txt",
            "reports/old.txt",
            "ncu/old.txt",
        ):
            (self.folder / "out" / name).parent.mkdir(exist_ok=True)
            (self.folder / "out" / name).write_text("of an earlier run")
        self.run_suite("--only", "^facts\\.machine")
        self.assertNotIn("FACT graph", self.results)
        self.assertEqual(
            [
                p
                for p in (self.folder / "out").rglob("*")
                if p.is_file() and "earlier" in p.read_text()
            ],
            [],
        )

    def test_a_folder_of_something_else_is_left_alone(self):
        (self.folder / "out").mkdir()
        (self.folder / "out/thesis.md").write_text("years of work")
        command = [
            "bash",
            self.suite / "run.sh",
            "--no-build",
            "--build",
            self.build,
            "--scripted",
            SCRIPTED,
            "--out",
            self.folder / "out",
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("holds something else", done.stdout)
        self.assertEqual([p.name for p in (self.folder / "out").iterdir()], ["thesis.md"])

    def test_a_run_that_is_stopped_stops_its_script(self):
        self.program(
            "launch_cost",
            f'[ "$1" = --variants ] && echo bare && exit\necho $$ > {self.folder}/pid; sleep 60',
        )
        command = [
            "bash",
            self.suite / "run.sh",
            "--no-build",
            "--build",
            self.build,
            "--scripted",
            SCRIPTED,
            "--out",
            self.folder / "out",
            "--only",
            "^launch_cost$",
        ]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            while not (self.folder / "pid").exists() and run.poll() is None:
                time.sleep(0.01)
            run.terminate()
            self.assertEqual(run.wait(20), 1)
        self.assertIn(
            "FAIL launch_cost: it ends: stopped with the run",
            (self.folder / "out/results.txt").read_text(),
        )
        scripts = subprocess.run(
            ["pgrep", "-f", str(self.suite / "launch_cost.py")], capture_output=True, text=True
        ).stdout
        self.assertEqual(scripts, "")

    def test_where_a_gpu_answers_otherwise_is_told(self):
        noted = self.suite / "records/scripted.facts"
        noted.write_text(
            noted.read_text()
            .replace("graph.record_graph_id: that", "graph.record_graph_id: not that")
            .replace("machine.compute: 9", "machine.compute: 8")
        )
        done = self.run_suite("--only", "^facts_graphs", as_gpu=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        otherwise = [line for line in self.results.split("\n") if "answers otherwise" in line]
        self.assertEqual(
            otherwise,
            [
                "NOTE facts: the scripted CUDA answers otherwise: graph.record_graph_id: that of "
                "cuptiGetGraphExecId, "
                "was not that of cuptiGetGraphExecId"
            ],
        )

    def says(self, text, line):
        """A program of one mode, that says and ends as `text` has it, gives this line and fails the
        run."""
        self.program("times", f'[ "$1" = --list ] && echo "one any" && exit 0\n{text}\n')
        done = self.run_suite("--only", "^times")
        self.assertIn(line, self.results)
        self.assertEqual(done.returncode, 1)

    def test_ends_that_are_not_right_are_told(self):
        self.says(
            'echo "PASS times.one: well"; kill -SEGV $$', "FAIL times.one: it ends: with status 139"
        )
        self.says("exit 0", "FAIL times.one: it checks something")
        self.says(
            'echo "PASS times.one: well"; echo broken >&2; exit 1',
            "FAIL times.one: it ends: with status 1; broken",
        )
        self.says(
            'echo "FAIL times.one: not well: for a reason"; exit 1',
            "FAIL times.one: not well: for a reason",
        )
        self.says('echo "PASS times.one: well"; exit 3', "FAIL times.one: it ends: with status 3")

    def test_a_program_that_does_not_start_is_left_out(self):
        self.program("times", "echo 'no such library' >&2; exit 127")
        self.run_suite("--only", "^times")
        self.assertIn("SKIP times: it does not start; no such library", self.results)

    def test_a_script_that_fails_is_told(self):
        self.program("launch_cost", "echo 'no device' >&2; exit 1")
        done = self.run_suite("--only", "^launch_cost")
        self.assertEqual(done.returncode, 1)
        self.assertIn("FAIL launch_cost: it ends: with status 1", self.results)


class ways_to_know_a_launch(unittest.TestCase):
    """launch_cost.py on invented times."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.ns = {
            "records of the work": 100,
            "callbacks of all launches": 150,
            "external ids, records of all launches": 300,
            "bare": 50,
        }
        self.names = re.findall(
            r'^    \{"([^"]+)"', (HERE / "launch_cost.cu").read_text(), re.MULTILINE
        )

    def cost(self, wrong=0, lost=0, jitter=0):
        """A round's time of each way is followed by one that is `jitter` more."""
        answers = {
            n: {"launch_ns": self.ns.get(n, 200), "dropped": 0, "callbacks": 4, "push_pop_ns": 20}
            for n in self.names
        }
        text = f"""#!/usr/bin/env python3
import json, pathlib, sys
if sys.argv[1] == "--variants": print(*{self.names!r}, sep="\\n"); sys.exit()
answer = json.loads({json.dumps(json.dumps(answers))})[sys.argv[1]]
launches, threads = map(int, sys.argv[2:])
answer |= dict(launches=launches, records=launches * threads - {lost})
answer |= dict(right=launches * threads - {wrong})
seen = pathlib.Path({str(self.folder / "seen")!r}); seen.mkdir(exist_ok=True)
count = seen / sys.argv[1].replace(" ", "_"); turn = int(count.read_text()) if count.exists() else 0
count.write_text(str(turn + 1))
answer["launch_ns"] += {jitter} * (turn % 2)
print(json.dumps(answer))
"""
        (self.folder / "launch_cost").write_text(text)
        (self.folder / "launch_cost").chmod(0o755)
        done = subprocess.run(
            [
                sys.executable,
                HERE / "launch_cost.py",
                "--build",
                self.folder,
                "--out",
                self.folder,
                "--launches",
                "1000",
                "--rounds",
                "3",
            ],
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.assertEqual(done.stderr, "")
        return done

    def test_all_ways_are_in_the_program(self):
        done = self.cost()
        self.assertEqual(done.returncode, 0)
        self.assertIn("FACT cost.callbacks: 50 (50..50) ns a launch, for 4 callbacks", done.stdout)
        self.assertIn("FACT cost.external: 200 (200..200) ns a launch", done.stdout)
        self.assertIn("FACT cost.push_pop: 20 ns", done.stdout)
        self.assertIn(
            "FACT cost.choice: callbacks of all launches: +50 ns; external ids, records of all "
            "launches: +200 ns\n",
            done.stdout,
        )
        self.assertIn(
            "| 1 | callbacks of all launches | 150 (150..150) | 50 (50..50) | 4 | 1,000 of 1,000 |",
            (self.folder / "launch_cost.md").read_text(),
        )
        self.assertEqual(
            len(json.loads((self.folder / "launch_cost.json").read_text())["ways"]),
            2 * len(self.names),
        )

    def test_the_other_way_may_be_the_least(self):
        self.ns["external ids, records of all launches"] = 120
        self.assertIn(
            "FACT cost.choice: external ids, records of all launches: +20 ns; callbacks of all "
            "launches: +50 ns\n",
            self.cost().stdout,
        )

    def test_what_is_not_told_apart_is_said(self):
        self.ns["external ids, records of all launches"] = 150
        self.assertIn(
            "external ids, records of all launches: +50 ns, not told apart",
            self.cost(jitter=30).stdout,
        )

    def test_kernels_at_a_wrong_operator_fail(self):
        done = self.cost(wrong=1)
        self.assertEqual(done.returncode, 1)
        self.assertIn(
            "FAIL launch_cost: callbacks give every kernel to its operator, 1 threads: 999 of 1000",
            done.stdout,
        )
        self.assertIn("FACT cost.choice: no way gives every kernel to its operator", done.stdout)

    def test_missing_records_fail(self):
        done = self.cost(lost=2)
        self.assertEqual(done.returncode, 1)
        self.assertIn(
            "FAIL launch_cost: every kernel has a record, 1 threads: 998 of 1000, 0 dropped",
            done.stdout,
        )


sys.argv[1:] = []
unittest.main()
