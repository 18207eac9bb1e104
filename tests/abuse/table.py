#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the promises of docs/guarantees.md whose tests have run, and whether each held.

    table.py PAGE RESULTS
    table.py --self-test

RESULTS is what `ctest --output-junit` has written. Ends with 1 where a promise did not hold.
"""

import fnmatch
import pathlib
import re
import sys
import textwrap
import xml.etree.ElementTree

WIDTH = 66
VERDICTS = {"run": "yes", "fail": "NO"}


def results_of(junit):
    """{test: "yes", "NO" or "not tried"}"""
    cases = xml.etree.ElementTree.fromstring(junit).iter("testcase")
    return {c.get("name"): VERDICTS.get(c.get("status"), "not tried") for c in cases}


def promises_of(page):
    """[(section, promise, patterns of its tests)]"""
    found, section = [], ""
    for line in page.splitlines():
        if line.startswith("## "):
            section = line[3:]
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 2 and cells[1] not in ("test", "---"):
            promise = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", cells[0]).replace("`", "")
            found.append((section, promise, re.findall(r"`([^`]+)`", cells[1])))
    return found


def tested_elsewhere(page, results):
    """How many promises have further tests, which have not run, and how many have only such."""
    further = only = 0
    for _, _, patterns in promises_of(page):
        ran = [bool(fnmatch.filter(results, p)) for p in patterns]
        further += any(ran) and not all(ran)
        only += not any(ran)
    return further, only


def rows_of(page, results):
    """[(section, promise, verdict, tests)], also for tests that show no promise of the page."""
    rows, shown = [], set()
    for section, promise, patterns in promises_of(page):
        tests = [t for p in patterns for t in fnmatch.filter(results, p)]
        shown.update(tests)
        verdicts = {results[t] for t in tests}
        verdict = next((v for v in ("NO", "not tried", "yes") if v in verdicts), None)
        if verdict:
            rows.append((section, promise, verdict, tests))
    others = [("Other tests", t, results[t], [t]) for t in results if t not in shown]
    return rows + others


def table_of(rows):
    lines, before = [f"{'kprof':<{WIDTH}}  held       test"], None
    for section, promise, verdict, tests in rows:
        if section != before:
            lines += ["", section]
        before = section
        texts = textwrap.wrap(promise, WIDTH - 2)
        for i in range(max(len(texts), len(tests))):
            text = "  " + texts[i] if i < len(texts) else ""
            test = tests[i] if i < len(tests) else ""
            lines.append(f"{text:<{WIDTH}}  {verdict if i == 0 else '':<9}  {test}".rstrip())
    held = sum(verdict == "yes" for _, _, verdict, _ in rows)
    return "\n".join([*lines, "", f"{held} of {len(rows)} held"])


def self_test():
    page = "## A\n\n| kprof | test |\n|---|---|\n| [sits](x.md) `still` | `a.one`, `b.*` |\n"
    page += "| is quiet | `a.two` |\n| is elsewhere | `c.three` |\n"
    page += "| is both | `a.two`, `e.five` |\n"
    junit = '<testsuite><testcase name="{}" status="{}"/><testcase name="a.two" status="run"/>'
    junit += '<testcase name="d.four" status="notrun"/><testcase name="e.five" status="fail"/>'
    junit += "</testsuite>"
    failures = []
    for name, status, verdict in (
        ("a.one", "run", "yes"),
        ("a.one", "fail", "NO"),
        ("b.any", "fail", "NO"),
        ("b.any", "notrun", "not tried"),
    ):
        rows = rows_of(page, results_of(junit.format(name, status)))
        expected = [
            ("A", "sits still", verdict, [name]),
            ("A", "is quiet", "yes", ["a.two"]),
            ("A", "is both", "NO", ["a.two", "e.five"]),
            ("Other tests", "d.four", "not tried", ["d.four"]),
        ]
        if rows != expected:
            failures.append(f"{name} {status}: {rows}")
        if tested_elsewhere(page, results_of(junit.format(name, status))) != (1, 1):
            failures.append(f"{name} {status}: {tested_elsewhere(page, {})}")
        if f"{1 + (verdict == 'yes')} of 4 held" not in table_of(rows):
            failures.append(f"{name} {status}: {table_of(rows)}")
    return failures


def main():
    if sys.argv[1:] == ["--self-test"]:
        failures = self_test()
        print("\n".join(failures) or "in order")
        sys.exit(1 if failures else 0)
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    page, junit = (pathlib.Path(path).read_text() for path in sys.argv[1:])
    rows = rows_of(page, results_of(junit))
    print(table_of(rows))
    further, only = tested_elsewhere(page, results_of(junit))
    print(f"further tests of {further} of them, and those of {only} other promises: tests/run.sh")
    sys.exit(1 if any(verdict == "NO" for _, _, verdict, _ in rows) else 0)


main()
