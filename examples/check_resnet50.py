#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the ResNet-50 example against oneDNN's own numbers.

    check_resnet50.py <resnet50_onednn> [batch] [iterations]

One run with DNNL_VERBOSE=1 gives two accounts of the same primitives: kprof's, printed by --sums,
and oneDNN's, a line for each execution with its parameters and its time. Checked are

- the convolutions of a pass: 53, with the parameters oneDNN reports, in both accounts;
- the time of all convolutions after the warm-up: within 3 %. oneDNN prints its line inside
  execute() after it has taken the time, so kprof's sum is larger by that; a batch of 8 makes it
  small. Up to three runs, since a busy machine may preempt a thread between the two clocks;
- the FLOPs of every convolution, counted here from oneDNN's parameters, and their sum with the
  classifier's.
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

TOLERANCE = 0.03
ATTEMPTS = 3
PUBLISHED_FLOPS = 2 * 4_089_184_256  # ResNet-50 v1.5, convolutions and classifier, without bias


def fail(message):
    sys.exit("check_resnet50: " + message)


def run(program, batch, iterations):
    """Both accounts of one run: oneDNN's executions in order, and kprof's rows."""
    env = dict(os.environ, DNNL_VERBOSE="1", ONEDNN_VERBOSE="1", KPROF="")
    with tempfile.TemporaryFile(
        "w+"
    ) as output:  # not a pipe, whose reader would be woken by every line and share the CPUs
        done = subprocess.run(
            [program, str(batch), str(iterations), "--sums"], env=env, stdout=output
        )
        output.seek(0)
        lines = output.read().splitlines()
    if done.returncode != 0:
        fail(
            "\n".join(
                [f"the program ended with {done.returncode}"]
                + [line for line in lines if "_verbose," not in line]
            )
        )
    executions, rows = [], []
    for line in lines:
        if re.match(r"(onednn|dnnl)_verbose,(v\d+,)?(primitive,)?exec,cpu,", line):
            fields = line.split(",")
            at = fields.index("cpu")
            executions.append((fields[at + 1], line, fields[-2], float(fields[-1])))
        elif line.startswith("sum\t"):
            _, path, operator, parameters, calls, total_ns, flops, moved = line.split("\t")
            rows.append(
                dict(
                    path=path,
                    operator=operator,
                    parameters=dict(p.split("=", 1) for p in parameters.split()),
                    calls=int(calls),
                    total_ns=float(total_ns),
                    flops=int(flops),
                    bytes=int(moved),
                )
            )
    return executions, rows


def of_onednn(line, problem):
    """A convolution's parameters from `mb8_ic64oc256_ih56oh56kh1sh1dh0ph0_iw56ow56kw1sw1dw0pw0`."""
    d = {name: int(value) for name, value in re.findall(r"(mb|ic|oc|[iokspd][hw])(\d+)", problem)}
    return (
        d["mb"],
        d["ic"],
        d["ih"],
        d["iw"],
        d["oc"],
        d["kh"],
        d["kw"],
        d["sh"],
        d["sw"],
        d["ph"],
        d["pw"],
        "bia_f32" in line or "bia:f32" in line,
        bool(re.search(r"post-ops:\S*sum", line)),
        "eltwise_relu" in line,
    )


def of_kprof(p):
    numbers = tuple(int(p[name]) for name in "N C H W K R S U V ph pw".split())
    return numbers + (p["bias"] == "true", p["residual"] == "true", p["act"] == "relu")


def flops_of(conv):
    n, c, h, w, k, r, s, u, v, ph, pw, *fused = conv
    outputs = n * k * ((h + 2 * ph - r) // u + 1) * ((w + 2 * pw - s) // v + 1)
    return outputs * (2 * c * r * s), outputs * sum(fused)


def check(program, batch, iterations):
    executions, rows = run(program, batch, iterations)
    passes = iterations + 1
    theirs = [
        (of_onednn(line, problem), ms)
        for kind, line, problem, ms in executions
        if kind == "convolution"
    ]
    if len(theirs) != 53 * passes:
        fail(f"oneDNN executed {len(theirs)} convolutions in {passes} passes, not 53 in each")
    theirs = theirs[53:]  # the first pass is the warm-up
    ours = [r for r in rows if r["operator"] == "Conv2d" and r["path"].startswith("inference")]
    if len(ours) != 53 or any(r["calls"] != iterations for r in ours):
        fail(
            f"kprof shows {len(ours)} convolutions with {sorted({r['calls'] for r in ours})} "
            f"calls, not 53 with {iterations}"
        )

    calls = collections.Counter(conv for conv, _ in theirs)
    shown = collections.Counter()
    for r in ours:
        shown[of_kprof(r["parameters"])] += r["calls"]
        if r["flops"] != sum(flops_of(of_kprof(r["parameters"]))):
            fail(
                f"{r['path']} {r['parameters']}: {r['flops']} FLOPs, expected "
                f"{sum(flops_of(of_kprof(r['parameters'])))}"
            )
        if not (r["total_ns"] > 0 and r["bytes"] > 0):
            fail(f"{r['path']} {r['parameters']} has no rate: {r}")
    if calls != shown:
        fail(
            f"parameters differ; only oneDNN has {dict(calls - shown)}, only kprof has "
            f"{dict(shown - calls)}"
        )

    linear = [r for r in rows if r["operator"] == "Linear" and r["path"].startswith("inference")]
    multiply_adds = sum(flops_of(conv)[0] for conv, _ in theirs) // (batch * iterations)
    multiply_adds += sum(2 * batch * 2048 * 1000 * r["calls"] for r in linear) // (
        batch * iterations
    )
    if (
        len(linear) != 1
        or linear[0]["flops"] != batch * (2 * 2048 + 1) * 1000
        or multiply_adds != PUBLISHED_FLOPS
    ):
        fail(f"{multiply_adds} FLOPs an image, published {PUBLISHED_FLOPS}; classifier: {linear}")

    kprof_ms = sum(r["total_ns"] for r in ours) / 1e6
    onednn_ms = sum(ms for _, ms in theirs)
    return kprof_ms, onednn_ms, kprof_ms / onednn_ms - 1


def main():
    if len(sys.argv) not in (2, 3, 4):
        sys.exit(__doc__)
    batch, iterations = [int(a) for a in sys.argv[2:]] + [8, 5][len(sys.argv) - 2 :]
    for attempt in range(ATTEMPTS):
        kprof_ms, onednn_ms, apart = check(sys.argv[1], batch, iterations)
        print(
            f"{53 * iterations} convolutions, batch {batch}: kprof {kprof_ms:.3f} ms, oneDNN "
            f"{onednn_ms:.3f} ms, {apart:+.3%}",
            flush=True,
        )
        if abs(apart) <= TOLERANCE:
            return
    fail(
        f"in {ATTEMPTS} runs the two sums were never within {TOLERANCE:.0%}; is the machine "
        "overloaded?"
    )


main()
