#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the catalogue with PyTorch's flop counter: compare.py PROGRAM [SEED]

PyTorch runs operators of random shapes under torch.utils.flop_counter.FlopCounterMode (calls.py),
and PROGRAM (catalogue.cpp) says what kprof's operator of the same parameters counts. FLOPs are
equal, or differ by what DIFFERENCES lists, to the last one. Bytes are those of the tensors that
PyTorch took and gave, which hold kprof's extents of outputs against PyTorch's.
"""

import collections
import subprocess
import sys
import types
from fractions import Fraction

sys.dont_write_bytecode = True
import calls

# What PyTorch counts otherwise: a name, PyTorch's way and kprof's, and PyTorch's number made from
# kprof's and the call's facts, FLOPs here and bytes read below. They apply in this order. Each must
# be met, and nothing else may differ. Not here is where the two agree and others do not: taps in
# the padding count, transposed convolutions go by the input's extents, grouped queries by the heads
# of the queries, and attention's backward has five products for flash and four for math.
DIFFERENCES = {
    "epilogue": (
        "bias, activation and residual are not counted, for kprof one FLOP per output each",
        lambda n, c: n - c.fused * c.outputs,
    ),
    "bias gradient": (
        "sums are not counted, for kprof one FLOP per output",
        lambda n, c: n - c.outputs,
    ),
    "complex product": ("a complex multiply-add is 2 FLOPs, for kprof 8", lambda n, c: n / 4),
    "complex convolution": (
        "it is three real ones, 6 FLOPs a multiply-add, for kprof 8",
        lambda n, c: n * 3 / 4,
    ),
    "grouped wgrad": (
        "weight gradients of g groups count g times, unless PyTorch's PR #183405 is in",
        lambda n, c: n * c.g,
    ),
    "causal": (
        "all scores are counted, for kprof (max(0, Sk - Sq) + Sk) / 2 a query",
        lambda n, c: n * 2 * c.Sk / (max(0, c.Sk - c.Sq) + c.Sk),
    ),
    "sliding window": (
        "all scores are counted, for kprof those in the window",
        lambda n, c: n * c.Sq * c.Sk / c.entries,
    ),
    "math backward": (
        "scores are not computed again, for kprof's default, flash, they are",
        lambda n, c: n - 2 * c.B * c.Hq * c.Sq * c.Sk * c.D,
    ),
}
READ_DIFFERENCES = {
    "math logsumexp": (
        "it has none, kprof's stored_P counts it as flash's",
        lambda n, c: n - 4 * c.B * c.Hq * c.Sq,
    ),
}


def apply(differences, number, call, met):
    """PyTorch's number from kprof's, exactly."""
    facts = types.SimpleNamespace(**call.facts)
    for name, (_, to_torch) in differences.items():
        if name in call.differs:
            before, number = number, to_torch(Fraction(number), facts)
            met[name] += before != number
    return number


def ask(program, lines):
    """FLOPs, bytes read and bytes written for each line, or None where kprof refuses the
    parameters.
    """
    asked = subprocess.run(
        [program], input="".join(line + "\n" for line in lines), capture_output=True, text=True
    )
    answers = asked.stdout.splitlines()
    if asked.returncode != 0 or len(answers) != len(lines):
        raise SystemExit(
            f"{program} answered {len(answers)} of {len(lines)} lines, exit status "
            f"{asked.returncode}: {asked.stderr.strip()}"
        )
    return [None if answer == "invalid" else tuple(map(int, answer.split())) for answer in answers]


def check(call, answer, met):
    """What is wrong with kprof's answer."""
    if answer is None:
        return [f"{call.line}: PyTorch takes it, kprof says invalid"]
    flops, read, written = answer
    numbers = [
        ("FLOPs", flops, apply(DIFFERENCES, flops, call, met), call.flops),
        ("bytes read", read, apply(READ_DIFFERENCES, read, call, met), call.read),
        ("bytes written", written, written, call.written),
    ]
    named = ", ".join(call.differs)
    return [
        f"{call.line}: {what}: kprof {own}{f', {made} with {named}' if made != own else ''}; "
        f"PyTorch {theirs}"
        for what, own, made, theirs in numbers
        if made != theirs
    ]


def main():
    program, seed = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "1"
    groups_again = calls.wgrad_counts_groups()
    if not groups_again:
        del DIFFERENCES["grouped wgrad"]
    drawn = calls.draw(seed)
    met, errors, wrong = collections.Counter(), [], collections.Counter()
    for call, answer in zip(drawn, ask(program, [c.line for c in drawn])):
        found = check(call, answer, met)
        wrong[call.family] += len(found) > 0
        errors += found

    print(f"PyTorch {calls.torch.__version__}, seed {seed}: {len(drawn)} comparisons, by family")
    for family, number in collections.Counter(c.family for c in drawn).items():
        print(f"  {family:24} {number:5}" + (f", {wrong[family]} wrong" if wrong[family] else ""))
    print("counted by", ", ".join(sorted(calls.reached)))
    print(
        "weight gradients of g groups are",
        "counted g times"
        if groups_again
        else "counted once, as by kprof: PyTorch's PR #183405 is in",
    )
    print("known differences, and how often each was met")
    for name, (says, _) in (DIFFERENCES | READ_DIFFERENCES).items():
        print(f"  {name:20} {met[name]:5}  {says}")
        if met[name] == 0:
            errors.append(f"`{name}` is listed as a difference and was never met")
    for error in errors[:30] + ([f"and {len(errors) - 30} more"] if len(errors) > 30 else []):
        print(error)
    print("torch.flop_counter:", f"{len(errors)} errors" if errors else "in order")
    sys.exit(1 if errors else 0)


main()
