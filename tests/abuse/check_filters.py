#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Gives a program filters in KPROF that use up the stack, the memory or the time of a library for
regular expressions: check_filters.py PROGRAM

Each is refused with a sentence, or holds; the report comes in either case.
"""

import os
import subprocess
import sys

program = sys.argv[1]
TOO_LONG = "too long with its repetitions written out"
REFUSED = {
    "20,000 parentheses": ("(" * 20000 + "a" + ")" * 20000, "more than 2000 bytes"),
    "900 parentheses": ("(" * 900 + "a" + ")" * 900, "nests deeper than 50 parentheses"),
    "nested repetitions": ("(((a{1,255}){1,255}){1,255}){1,255}", TOO_LONG),
    "repetitions in a row": ("a{100}{100}{100}", TOO_LONG),
    "the most repetitions": ("(a|b){32767}", TOO_LONG),
    "a back reference": ("(a*)*(b*)*\\\\1\\\\2x", "back references such as"),
    "an open repetition": ("(((a{99,}){99,}){99,})", TOO_LONG),
}
ACCEPTED = {
    "a usual one": "^(prog|Gemm|Conv)",
    "50 parentheses": "(" * 50 + "prog" + ")" * 50,
    "nested pluses": "(" * 40 + "a+" + ")+" * 40,
    "repetitions": "(p{1,3}r?o*g){1,9}",
    "brackets that hold what would count": "[({+]|[[:alpha:]+{9999}]|[]{9}(]|prog",
    "escapes": "\\\\(|\\\\{|prog",
}
failures = []


def run(expression):
    env = {k: v for k, v in os.environ.items() if k != "COLUMNS"}
    env["KPROF"] = f'report(width=100,filter="{expression}")'
    try:
        return subprocess.run([program], env=env, text=True, capture_output=True, timeout=20)
    except subprocess.TimeoutExpired as late:
        return subprocess.CompletedProcess(late.cmd, None, "", "took more than 20 s")


for name, (expression, reason) in REFUSED.items():
    r = run(expression)
    if r.returncode != 7 or reason not in r.stderr or "Complete" not in r.stdout:
        failures.append(name)
        print(f"FAILED: {name}\n{str(r)[-2000:]}")
for name, expression in ACCEPTED.items():
    r = run(expression)
    if r.returncode != 7 or r.stderr != "" or "program" not in r.stdout:
        failures.append(name)
        print(f"FAILED: {name}\n{str(r)[-2000:]}")
print(f"{len(failures)} failures" if failures else "all as expected")
sys.exit(1 if failures else 0)
