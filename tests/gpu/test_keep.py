#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds keep.py and facts.py against invented results: test_keep.py REPOSITORY REPLAY"""

import json
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from keep_case import HERE, README, REPORT, REPOSITORY, keep_case


class keeping(keep_case):
    def test_everything_goes_where_it_belongs(self):
        done = self.keep()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            self.text("tests/gpu/records/invented_gpu_9_10_gpu_graph.txt"),
            (HERE / "records/scripted_schedules.txt").read_text(),
        )
        self.assertEqual(
            self.text("tests/gpu/records/invented_gpu_9_10_gpu_graph.expected"),
            (HERE / "records/scripted_schedules.expected").read_text(),
        )
        self.assertIn(
            "buffers.sorted_within: yes, as invented\n",
            self.text("tests/gpu/records/invented_gpu_9.facts"),
        )
        page = self.text("docs/what_cupti_does.md")
        self.assertIn("| question | scripted CUDA | Invented GPU 9 |", page)
        self.assertIn("| no | yes, as invented |", page)
        self.assertNotIn("No answer of a GPU is in the tree yet", page)
        reports = self.text("docs/gpu_reports.md")
        self.assertIn(
            "on 2031-02-03, on one Invented GPU 9.\n\n- compute capability: 9.0\n", reports
        )
        self.assertLess(max(map(len, reports.split("\n"))), 151)
        self.assertIn(REPORT.format(""), reports)
        readme = self.text("README.md")
        self.assertNotIn("old", readme)
        self.assertIn(
            "```text\nkprof 0.1.0 · wall 1.00 ms · 1 thread · 5 scopes\ndevice 0 · Invented "
            "GPU\n```\n\nbetween",
            readme,
        )
        self.assertIn("```text\nKernels, sorted by total\nlinear_kernel, invented\n```", readme)
        self.assertIn("printed on one Invented GPU 9", readme)
        self.assertNotIn("scripted", readme)
        self.assertTrue(readme.endswith("\n\n## Next\n"))
        self.assertEqual(
            self.text("bench/results/2031-02-03-invented-gpu-9-overhead.md"),
            "# What kprof costs: Invented GPU 9, 2031-02-03\n\n| a table |\n",
        )
        self.assertEqual(
            json.loads(self.text("bench/results/2031-02-03-invented-gpu-9-overhead.json")),
            {"kprof": [1]},
        )
        for line in done.stdout.split("\n"):
            self.assertTrue(not line or (self.root / line).exists(), line)

    def test_a_second_time_changes_nothing(self):
        self.keep()
        before = {path: path.read_bytes() for path in self.root.rglob("*") if path.is_file()}
        self.assertEqual(self.keep().returncode, 0)
        self.assertEqual(
            {path: path.read_bytes() for path in self.root.rglob("*") if path.is_file()}, before
        )

    def test_parts_of_a_run_in_an_archive(self):
        part = self.folder / "part"
        part.mkdir()
        (part / "results.txt").write_text(
            "NOTE 2031-02-04T00:00Z\nNOTE GPU: Invented GPU 9\nFACT cost.push_pop: 77 "
            "ns\ntests/gpu: 1 checks passed\n"
        )
        archive = self.folder / "part.tar.gz"
        with tarfile.open(archive, "w:gz") as tar:
            tar.add(part, "deep/results")
        done = self.keep(results=[self.results, archive])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(
            "| Pushing and popping an external id | n/a, not scripted | 77 ns |",
            self.text("docs/what_cupti_does.md"),
        )
        self.assertTrue(
            (self.root / "bench/results/2031-02-04-invented-gpu-9-overhead.md").exists()
        )

    def test_a_later_part_leaves_the_other_answers(self):
        self.keep()
        self.answers = "machine.gpu: Invented GPU 9\nfork.flush: 1 later"
        self.say()
        self.assertEqual(self.keep().returncode, 0)
        kept = self.text("tests/gpu/records/invented_gpu_9.facts")
        self.assertIn("fork.flush: 1 later\n", kept)
        self.assertIn("buffers.sorted_within: yes, as invented\n", kept)

    def test_failed_checks_are_refused(self):
        self.say("FAIL graphs.child: kernels in all: is 3, must be 4")
        self.is_refused(self.keep(), "FAIL graphs.child")
        self.assertEqual(self.keep("--with-failures").returncode, 0)

    def test_a_difference_is_judged_by_the_explanations_of_now(self):
        self.count(900)
        self.say(
            "FAIL truth: saxpy flops: measured 900 is 0.9000 of the declared 1,000: mend the "
            "operator"
        )
        self.is_refused(
            self.keep(),
            "FAIL truth: saxpy flops: measured 900 is 0.9000 of the declared 1,000: mend the "
            "operator, or explain it",
        )
        self.explain("saxpy flops: a tenth of them is predicated off")
        done = self.keep()
        self.assertEqual(done.returncode, 0, done.stderr)
        table = self.text("bench/results/2031-02-03-invented-gpu-9-truth.md")
        self.assertIn(
            "| saxpy | flops | 1,000 | 900 | 0.9000 | a tenth of them is predicated off |", table
        )
        self.assertNotIn("as judged there", table)
        self.assertIn(
            "predicated off", self.text("bench/results/2031-02-03-invented-gpu-9-truth.json")
        )

    def test_an_explanation_of_no_difference_is_refused(self):
        self.count(1000)
        self.explain("saxpy flops: a tenth of them is predicated off")
        self.is_refused(self.keep(), "there is nothing to explain")

    def test_explanations_that_cannot_be_read_are_refused(self):
        self.count(1000)
        self.explain("saxpy is well")
        self.is_refused(self.keep(), "truth_explanations.txt:1: not `CASE WHAT: TEXT`")

    def test_what_is_read_again_supersedes_what_was_said(self):
        self.count(1000)
        self.say("FAIL truth: saxpy: no row of the table is understood; see ncu/saxpy.txt")
        self.assertEqual(self.keep().returncode, 0)

    def test_what_could_not_be_counted_is_refused(self):
        self.count(1000)
        self.say("FAIL truth: softmax: it ends with status 9")
        self.is_refused(self.keep(), "it ends with status 9")

    def test_results_of_the_scripted_cuda_are_refused(self):
        self.answers = (HERE / "records/scripted.facts").read_text()
        self.say()
        self.is_refused(self.keep(), "no evidence")

    def test_a_run_that_was_cut_off_is_refused(self):
        path = self.results / "results.txt"
        path.write_text(path.read_text().replace("tests/gpu: 9 checks", "nothing"))
        self.is_refused(self.keep(), "results: the run was cut off before its end")

    def test_parts_of_two_gpus_are_refused(self):
        part = self.folder / "part"
        part.mkdir()
        (part / "results.txt").write_text(
            "NOTE 2031-02-04T00:00Z\nNOTE GPU: Another GPU\nFACT cost.push_pop: 77 ns\ntests/gpu: "
            "1 checks passed\n"
        )
        self.is_refused(
            self.keep(results=[self.results, part]), "results of Another GPU and of Invented GPU 9"
        )

    def test_tables_without_results_are_refused(self):
        (self.results / "apart").mkdir()
        (self.results / "apart/launch_cost.md").write_text("# What it costs\n")
        self.is_refused(self.keep(), "launch_cost.md lies in a folder without results.txt")

    def test_parts_of_two_drivers_are_refused(self):
        part = self.folder / "part"
        part.mkdir()
        (part / "results.txt").write_text(
            "NOTE 2031-02-04T00:00Z\nNOTE GPU: Invented GPU 9\nFACT machine.driver: CUDA "
            "13.3\ntests/gpu: 1 checks passed\n"
        )
        self.is_refused(self.keep(results=[self.results, part]), "FACT machine.driver: CUDA 13.3")

    def test_answers_of_another_driver_replace_all(self):
        self.keep()
        self.answers = "machine.gpu: Invented GPU 9\nmachine.driver: CUDA 13.3\nfork.flush: 1 later"
        self.say()
        self.assertEqual(self.keep().returncode, 0)
        self.assertEqual(
            self.text("tests/gpu/records/invented_gpu_9.facts"),
            "fork.flush: 1 later\nmachine.driver: CUDA 13.3\nmachine.gpu: Invented GPU 9\n",
        )

    def test_the_readme_is_left_where_its_report_is_missing(self):
        for folder in ("records", "reports"):
            (self.results / folder / "10_gpu_graph.txt").rename(
                self.results / folder / "08_gpu_kernels.txt"
            )
        self.assertEqual(self.keep().returncode, 0)
        self.assertEqual(self.text("README.md"), README)
        self.assertIn("## 08_gpu_kernels", self.text("docs/gpu_reports.md"))

    def test_a_report_that_is_there_is_not_lost(self):
        self.keep()
        before = self.text("docs/gpu_reports.md")
        for folder in ("records", "reports"):
            (self.results / folder / "10_gpu_graph.txt").rename(
                self.results / folder / "08_gpu_kernels.txt"
            )
        done = self.keep()
        self.assertEqual(done.returncode, 1)
        self.assertIn(
            "gpu_reports.md has reports that these results lack: 10_gpu_graph", done.stderr
        )
        self.assertEqual(self.text("docs/gpu_reports.md"), before)

    def test_a_part_of_an_unknown_gpu_is_refused(self):
        path = self.results / "results.txt"
        path.write_text(path.read_text().replace("NOTE GPU: Invented GPU 9\n", ""))
        self.is_refused(self.keep(), "take those of one GPU at a time")

    def test_results_of_no_known_machine_are_refused(self):
        self.answers = "fork.flush: 0"
        self.say()
        self.is_refused(self.keep(), "run the program facts too")

    def test_an_answer_to_no_question_is_refused(self):
        self.answers += "graph.colour: green\n"
        self.say()
        self.is_refused(self.keep(), "no question is known to graph.colour")

    def test_a_large_transcript_is_refused(self):
        with (self.results / "records/10_gpu_graph.txt").open("a") as transcript:
            transcript.write("sync 1 2\n" * 120_000)
        self.is_refused(self.keep(), "1,048,576 at most")

    def test_a_transcript_that_cannot_be_replayed_is_refused(self):
        (self.results / "records/10_gpu_graph.txt").write_text("kprof transcript 1\nnonsense\n")
        self.is_refused(self.keep(), "cannot be replayed")

    def test_a_report_without_what_the_readme_shows_is_refused(self):
        (self.results / "reports/10_gpu_graph.txt").write_text("kprof 0.1.0\nno tables\n")
        self.is_refused(self.keep(), 'no lines from "kprof " to "Kernels, sorted"')

    def test_no_results_are_refused(self):
        empty = self.folder / "empty"
        empty.mkdir()
        self.is_refused(self.keep(results=[empty]), "there is no results.txt")


class answers(unittest.TestCase):
    def facts(self, *arguments):
        return subprocess.run(
            [sys.executable, HERE / "facts.py", *arguments], capture_output=True, text=True
        )

    def test_the_page_is_of_the_answers(self):
        done = self.facts("check")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_page_that_is_not_of_the_answers_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("docs/what_cupti_does.md", "tests/gpu/records/scripted.facts"):
                (pathlib.Path(folder) / name).parent.mkdir(parents=True)
                shutil.copy(REPOSITORY / name, pathlib.Path(folder) / name)
            answers = pathlib.Path(folder) / "tests/gpu/records/scripted.facts"
            answers.write_text(answers.read_text().replace("fork.cuda: 3", "fork.cuda: 4"))
            self.assertIn(
                "is not what tests/gpu/records/*.facts make", self.facts("check", folder).stderr
            )

    def test_another_answer_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "results.txt"
            path.write_text(
                "".join(
                    f"FACT {line}\n"
                    for line in (HERE / "records/scripted.facts").read_text().split("\n")
                    if line
                )
            )
            self.assertEqual(self.facts("compare", path, "scripted").returncode, 0)
            path.write_text(
                path.read_text()
                .replace("fork.cuda: 3 ", "fork.cuda: 4 ")
                .replace("FACT machine.compute: 9.0\n", "")
            )
            done = self.facts("compare", path, "scripted")
            self.assertEqual(done.returncode, 1)
            self.assertIn(
                "fork.cuda: 4 cudaErrorInitializationError, was 3 cudaErrorInitializationError",
                done.stderr,
            )
            self.assertIn("machine.compute: no answer, was 9.0", done.stderr)

    def test_every_question_is_asked(self):
        """Each key of the page is in a program or script, so that no row waits for an answer that
        nobody gives."""
        asked = "".join(
            path.read_text()
            for path in [*HERE.glob("*.cu*"), *HERE.glob("facts.hpp"), HERE / "launch_cost.py"]
        )
        sys.path.insert(0, str(HERE))
        import facts

        for key in sorted(facts.known_keys()):
            name = key.rpartition(".")[2]
            self.assertTrue(
                f'"{key}"' in asked
                or f'"{name}"' in asked
                or f'"graph.{name}"' in asked
                or f"FACT {key}:" in asked
                or name in ("kernels", "copies", "memsets", "nodes"),
                key,
            )


sys.argv[1:] = []
unittest.main()
