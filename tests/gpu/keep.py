#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Takes what run.sh left on a GPU into the repository: keep.py --replay PROGRAM [--root ROOT]
[--with-failures] RESULTS...

RESULTS are folders of results, or .tar.gz of them, of one GPU; parts of a run may lie in several.
PROGRAM is cupti_replay of a
build of the tests. What is taken, and where it goes:

  results.txt            FACT lines: tests/gpu/records/GPU.facts, and from all of these
  docs/what_cupti_does.md
  records/EXAMPLE.txt    transcripts, and what a replay makes of them:
  tests/gpu/records/GPU_EXAMPLE.txt and .expected
  reports/EXAMPLE.txt    docs/gpu_reports.md, and the blocks of README.md that a comment "report
  EXAMPLE" stands before
  overhead, launch_cost, truth (.md, .json): bench/results/DATE-GPU-TABLE.md and .json

What counters say of the catalogue is judged anew, with the explanations that truth_explanations.txt
has by now. Nothing is taken
from a run with failed checks, unless by --with-failures, nor from the scripted CUDA.
"""

import argparse
import functools
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

sys.dont_write_bytecode = True
import facts
import truth

LARGEST = 1 << 20  # bytes of a transcript
TABLES = ("overhead", "launch_cost", "truth")
OF_CASE = re.compile(r"FAIL truth: (\w+)[ :]")
BLOCK = re.compile(r'<!-- report (\w+): "([^"]+)" to "([^"]+)" -->\n```text\n.*?```\n', re.DOTALL)
SOURCE = re.compile(r"<!-- report source -->\n.*?\n\n", re.DOTALL)


def unpacked(path, scratch):
    """The folder of results in what the command line names."""
    if path.is_file():
        to = pathlib.Path(tempfile.mkdtemp(dir=scratch))
        with tarfile.open(path) as archive:
            archive.extractall(to, filter="data") if hasattr(
                tarfile, "data_filter"
            ) else archive.extractall(to)
        path = to
    found = sorted(p.parent for p in path.rglob("results.txt"))
    if not found:
        raise facts.refused(
            f"there is no results.txt in {path}: name the folder that run.sh wrote, or a .tar.gz "
            f"of it"
        )
    for table in [
        p for name in TABLES for suffix in (".md", ".json") for p in path.rglob(name + suffix)
    ]:
        if table.parent not in found:
            raise facts.refused(
                f"{table.name} lies in a folder without results.txt: let run.sh start what makes "
                f"it, with KPROF_..._OPTIONS"
            )
    return found


class results:
    """All parts of a run; of two that have the same, the latter."""

    def __init__(self, folders, root):
        self.folders, self.root = folders, root
        self.lines = [
            line
            for folder in folders
            for line in (folder / "results.txt").read_text(errors="replace").split("\n")
        ]
        self.facts = {}
        for folder in folders:
            self.facts |= facts.read(folder / "results.txt")
        self.gpu = self.facts.get("machine.gpu")
        self.gpus = {
            line.removeprefix("NOTE GPU: ") for line in self.lines if line.startswith("NOTE GPU: ")
        } - {""}
        self.versions = {line for line in self.lines if re.match("FACT machine\\.", line)}
        dates = [
            m[1]
            for line in self.lines
            if (m := re.fullmatch(r"NOTE (\d{4}-\d\d-\d\d)T[\d:]+Z", line))
        ]
        self.date = max(dates, default=None)

    def files(self, pattern):
        return {path.stem: path for folder in self.folders for path in sorted(folder.glob(pattern))}

    @functools.cached_property
    def truth(self):
        """(page, figures, lines) of the comparison with counters, or None where there was none."""
        path = self.files("truth.json").get("truth")
        if path is None:
            return None
        figures = json.loads(path.read_text())
        page, lines = truth.judged(figures, self.root / "tests/gpu/truth_explanations.txt")
        return page, figures, lines

    def failures(self):
        lines, judged = self.lines, self.truth
        if judged is not None:
            # What was said of a case that has its numbers by now is superseded.
            lines = [
                line
                for line in lines
                if not (of := OF_CASE.match(line)) or of[1] not in judged[1]["cases"]
            ] + judged[2]
        return [line for line in lines if line.startswith("FAIL ")]


def slug(gpu):
    return re.sub(r"[^a-z0-9]+", "_", gpu.lower()).strip("_")


def cut_off(folder):
    return not re.search(
        r"^tests/gpu: \d+ checks passed",
        (folder / "results.txt").read_text(errors="replace"),
        re.MULTILINE,
    )


def check(found, with_failures):
    if found.gpu is None or found.date is None:
        raise facts.refused(
            "the results do not say when and on which GPU they were made: run the program facts too"
        )
    if found.gpu == "scripted CUDA":
        raise facts.refused(
            "these are results of the scripted CUDA, which are no evidence; of its facts, "
            "`facts.py take RESULTS scripted` takes note"
        )
    if len(found.versions) > len([key for key in found.facts if key in facts.MACHINE]):
        raise facts.refused(
            "\n".join(["these parts are of machines that differ:", *sorted(found.versions)])
        )
    if found.gpus != {found.gpu}:
        raise facts.refused(
            f"these are results of {' and of '.join(sorted(found.gpus | {found.gpu}))}: take those "
            f"of one GPU at a time"
        )
    failures = [
        f"{folder.name}: the run was cut off before its end"
        for folder in found.folders
        if cut_off(folder)
    ] + found.failures()
    if failures and not with_failures:
        raise facts.refused(
            "\n".join(["checks failed; mend what they found, or add --with-failures:", *failures])
        )
    for name, path in found.files("records/*.txt").items():
        if path.stat().st_size > LARGEST:
            raise facts.refused(
                f"the transcript of {name} has {path.stat().st_size:,} bytes; a fixture has "
                f"{LARGEST:,} at most: make the example launch less"
            )


# Each of these yields the paths that it has something for, with the text: all is made before
# anything is written.


def keep_records(found, root, replay):
    for name, path in found.files("records/*.txt").items():
        to = root / facts.RECORDS / f"{slug(found.gpu)}_{name}.txt"
        replayed = subprocess.run([replay, path], capture_output=True, text=True, timeout=300)
        if replayed.returncode != 0:
            raise facts.refused(
                f"the transcript of {name} cannot be replayed: {replayed.stderr.strip()}"
            )
        yield to, path.read_text()
        yield to.with_suffix(".expected"), replayed.stdout


def keep_facts(found, root):
    name = slug(found.gpu)
    taken = facts.taken(found.facts, name, root)
    yield root / facts.RECORDS / f"{name}.facts", facts.as_text(taken)
    yield root / facts.PAGE, facts.page(facts.in_order(dict(facts.machines(root)) | {name: taken}))


def keep_reports(found, root):
    reports = {
        name: path.read_text(errors="replace").rstrip("\n")
        for name, path in found.files("reports/*.txt").items()
    }
    if not reports:
        return
    lines = [
        "<!-- Made by tests/gpu/keep.py of a run on a GPU. -->",
        "# Reports of the GPU examples",
        "",
        f"As the programs printed them on {found.date}, on one {found.gpu}.",
        "",
        *(
            f"- {title}: {found.facts[key]}"
            for key, title in facts.MACHINE.items()
            if key in found.facts and key != "machine.gpu"
        ),
    ]
    for name, report in sorted(reports.items()):
        lines += [
            "",
            f"## {name}",
            "",
            f"[examples/{name}.cu](../examples/{name}.cu)",
            "",
            "```text",
            *(line.rstrip() for line in report.split("\n")),
            "```",
        ]
    page = root / "docs/gpu_reports.md"
    lost = (
        set(re.findall(r"^## (\w+)$", page.read_text(), re.MULTILINE)) - set(reports)
        if page.exists()
        else set()
    )
    if lost:
        raise facts.refused(
            f"{page.name} has reports that these results lack: {', '.join(sorted(lost))}; take "
            f"them with a run of all examples"
        )
    yield page, "\n".join(lines) + "\n"

    def replaced(match):
        name, begin, end = match[1], match[2], match[3]
        lines = [line.rstrip() for line in reports[name].split("\n")]
        starts = [i for i, line in enumerate(lines) if line.startswith(begin)]
        ends = [
            i for i, line in enumerate(lines) if line.startswith(end) and starts and i > starts[0]
        ]
        if not starts or not ends:
            raise facts.refused(
                f'the report of {name} has no lines from "{begin}" to "{end}", which README.md '
                f'shows'
            )
        shown = "\n".join(lines[starts[0] : ends[0]]).rstrip("\n")
        return f'<!-- report {name}: "{begin}" to "{end}" -->\n```text\n{shown}\n```\n'

    readme = (root / "README.md").read_text()
    shown = {match[1] for match in BLOCK.finditer(readme)}
    if shown <= set(reports):  # or it would say of another report where it was printed
        readme = SOURCE.sub(
            f"<!-- report source -->\nand says what became of every launch. The report above was "
            f"printed on one {found.gpu};\n"
            "[the reports of the GPU examples](docs/gpu_reports.md) are whole. "
            "[The GPU](docs/gpu.md) has the\nrest.\n\n",
            BLOCK.sub(replaced, readme),
        )
        yield root / "README.md", readme


def keep_tables(found, root):
    for name in TABLES:
        path = found.files(f"{name}.md").get(name)
        if path is None:
            continue
        table, figures = path.read_text(), path.with_suffix(".json")
        figures = json.loads(figures.read_text()) if figures.exists() else {}
        if name == "truth" and found.truth is not None:
            table, figures, _ = found.truth
        title, _, rest = table.strip("\n").partition("\n")
        gpu, part = (text.replace("_", "-") for text in (slug(found.gpu), name))
        stem = f"{root}/bench/results/{found.date}-{gpu}-{part}"
        yield pathlib.Path(stem + ".md"), f"{title}: {found.gpu}, {found.date}\n{rest}\n"
        yield pathlib.Path(stem + ".json"), json.dumps(figures, indent=1) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", nargs="+", type=pathlib.Path)
    parser.add_argument("--replay", type=pathlib.Path, required=True)
    parser.add_argument(
        "--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2]
    )
    parser.add_argument("--with-failures", action="store_true")
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as scratch:
            found = results(
                [folder for path in options.results for folder in unpacked(path, scratch)],
                options.root,
            )
            check(found, options.with_failures)
            kept = [
                *keep_records(found, options.root, options.replay),
                *keep_facts(found, options.root),
                *keep_reports(found, options.root),
                *keep_tables(found, options.root),
            ]
    except (facts.refused, OSError, tarfile.TarError) as why:
        sys.exit(f"nothing is taken: {why}")
    for path, text in kept:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        print(path.relative_to(options.root))
    if "not yet on a GPU" in (options.root / "README.md").read_text():
        print('README.md still says "not yet on a GPU", under Limits: write there what was tested')


main()
