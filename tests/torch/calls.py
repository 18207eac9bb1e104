# SPDX-License-Identifier: MIT
"""Calls of PyTorch's operators with shapes drawn at random, what PyTorch's flop counter counts for
each, and the line that asks kprof for the same; for compare.py.

Tensors are on the meta device, which has shapes and no data, so that GPUs' attention is reached
too; only flash_for_cpu runs. Every formula is reached through the operator that it belongs to: none
is called by hand.
"""

import math

from drawing import REAL, TYPES, Shapes, counted, empty, gradients, reached  # before torch

import torch
import torch.nn.functional as F
from attention_calls import VARIANTS, attention, decode, mla_decode

aten = torch.ops.aten


# Products of matrices


def operand(s, rows, columns, type):
    """A matrix, or the transpose of one."""
    transposed = s.flag()
    return (
        empty(columns, rows, type=type).t() if transposed else empty(rows, columns, type=type)
    ), transposed


def complex_differs(type):
    return ["complex product"] if type == "c64" else []


def mm(s):
    M, N, K = s.sizes(8192, 3)
    type = s.choose(*TYPES)
    (a, transA), (b, transB) = operand(s, M, K, type), operand(s, K, N, type)
    d, flops = counted(lambda: torch.mm(a, b), "mm")
    s.add(
        "Gemm",
        dict(M=M, N=N, K=K, dtypeA=type, dtypeB=type, dtypeC=type, transA=transA, transB=transB),
        flops,
        [a, b],
        [d],
        complex_differs(type),
    )


def addmm(s):
    """With C, or with what is fused behind a product."""
    M, N, K = s.sizes(8192, 3)
    type = s.choose(*TYPES)
    (a, transA), (b, transB) = operand(s, M, K, type), operand(s, K, N, type)
    fields = dict(
        M=M, N=N, K=K, dtypeA=type, dtypeB=type, dtypeC=type, transA=transA, transB=transB
    )
    if s.flag(0.4):
        c = empty(M, N, type=type)
        d, flops = counted(lambda: torch.addmm(c, a, b), "addmm")
        s.add("Gemm", dict(fields, beta=1), flops, [a, b, c], [d], complex_differs(type))
        return
    bias, act, residual = (
        s.choose("per_col", "per_row"),
        s.choose("none", "relu", "silu", "tanh") if type in REAL else "none",
        s.flag(),
    )
    c = empty(*((N,) if bias == "per_col" else (M, 1)), type=type)
    more = empty(M, N, type=type)

    def call():
        d = torch.addmm(c, a, b)
        d = d + more if residual else d
        return d if act == "none" else getattr(F, act)(d)

    d, flops = counted(call, "addmm")
    s.add(
        "GemmEpilogue",
        dict(fields, bias=bias, act=act, residual=residual),
        flops,
        [a, b, c] + [more] * residual,
        [d],
        ["epilogue"] + complex_differs(type),
        fused=1 + (act != "none") + residual,
    )


def bmm(s):
    """Also with one operand for all products of the batch."""
    batch, M, N, K = s.sizes(1024, 4)
    type, shared = s.choose(*TYPES), s.choose("", "", "A", "B")
    a = empty(*(() if shared == "A" else (batch,)), M, K, type=type)
    b = empty(*(() if shared == "B" else (batch,)), K, N, type=type)
    d, flops = counted(lambda: torch.bmm(a.expand(batch, M, K), b.expand(batch, K, N)), "bmm")
    fields = dict(batch=batch, M=M, N=N, K=K)
    if shared:
        s.add(
            "GemmStridedBatched",
            dict(fields, dtypeA=type, dtypeB=type, dtypeC=type, **{f"stride{shared}": 0}),
            flops,
            [a, b],
            [d],
            complex_differs(type),
        )
    else:
        s.add("Bmm", dict(fields, type=type), flops, [a, b], [d], complex_differs(type))


def baddbmm(s):
    batch, M, N, K = s.sizes(1024, 4)
    type = s.choose(*TYPES)
    a, b, c = (
        empty(batch, M, K, type=type),
        empty(batch, K, N, type=type),
        empty(batch, M, N, type=type),
    )
    d, flops = counted(lambda: torch.baddbmm(c, a, b), "baddbmm")
    s.add(
        "Gemm",
        dict(batch=batch, M=M, N=N, K=K, dtypeA=type, dtypeB=type, dtypeC=type, beta=1),
        flops,
        [a, b, c],
        [d],
        complex_differs(type),
    )


def scaled_mm(s):
    """Scales are kprof's GemmQuant's; Gemm is without."""
    M, N, K = s.size(4096), 16 * s.size(256), 16 * s.size(256)
    a, b, scale = (
        empty(M, K).to(torch.float8_e4m3fn),
        empty(N, K).to(torch.float8_e4m3fn).t(),
        empty(),
    )
    type = s.choose("bf16", "f16", "f32")
    d, flops = counted(
        lambda: torch._scaled_mm(a, b, scale, scale, out_dtype=TYPES[type]), "_scaled_mm"
    )
    s.add(
        "Gemm",
        dict(M=M, N=N, K=K, dtypeA="fp8_e4m3", dtypeB="fp8_e4m3", dtypeC=type),
        flops,
        [a, b],
        [d],
    )


def linear(s):
    """Leading dimensions make the tokens; a single vector is one."""
    leading = s.sizes(64, count) if (count := s.choose(0, 1, 1, 2, 3)) else []
    I, O, bias = s.size(8192), s.size(8192), s.flag()
    type, call = s.choose(*REAL, "c64"), s.choose("fprop", "dgrad", "wgrad", "bgrad")
    layer = torch.nn.Linear(I, O, bias=bias or call == "bgrad", device="meta", dtype=TYPES[type])
    w, b = layer.weight, [layer.bias] * (layer.bias is not None)
    x = empty(*leading, I, type=type, gradient=True)
    y, flops = counted(lambda: layer(x), "addmm" if b else "mm")
    fields = dict(tokens=math.prod(leading), in_features=I, out_features=O, type=type, bias=len(b))
    fields["pass"] = call
    if call == "fprop":
        s.add(
            "Linear",
            fields,
            flops,
            [x, w, *b],
            [y],
            ["epilogue"] * len(b) + complex_differs(type),
            fused=1,
        )
        return
    of = {"dgrad": x, "wgrad": w, "bgrad": layer.bias}[call]
    d, flops = counted(gradients(y, of), *([] if call == "bgrad" else ["mm"]))
    takes = {"dgrad": [y, w], "wgrad": [y, x], "bgrad": [y]}[call]
    s.add(
        "Linear",
        fields,
        flops,
        takes,
        d,
        ["bias gradient"] if call == "bgrad" else complex_differs(type),
        outputs=y.numel(),
    )


# Convolutions

AXES = {
    "D": ("D", "T", "pd", "opd", "sd", "dd"),
    "H": ("H", "R", "ph", "oph", "U", "dh"),
    "W": ("W", "S", "pw", "opw", "V", "dw"),
}


def axis(s, transposed, most):
    """Input, taps, padding, output padding, stride and dilation of one dimension that has an
    output.
    """
    while True:
        taps, stride, dilation = s.size(7), s.size(4), s.size(3)
        extent, padding = s.size(most), s.random.randint(0, dilation * (taps - 1) + 1)
        behind = s.random.randrange(max(stride, dilation)) if transposed and s.flag(0.3) else 0
        span = dilation * (taps - 1) + 1
        if (
            (extent - 1) * stride - 2 * padding + span + behind >= 1
            if transposed
            else extent + 2 * padding >= span
        ):
            return extent, taps, padding, behind, stride, dilation


def convolution(s, dimensions, transposed):
    axes = ("D", "H", "W")[3 - dimensions :]
    drawn = [axis(s, transposed, (512, 128, 32)[dimensions - 1]) for _ in axes]
    extents, taps, padding, behind, strides, dilations = zip(*drawn)
    g = s.choose(1, 1, s.size(32))
    C, K = g * s.choose(1, s.size(64)), g * s.choose(1, s.size(64))
    N, type = s.sizes(64, 1)[0], s.choose(*REAL, "c64")
    call = s.choose("fprop", "fprop", "dgrad", "wgrad", "bgrad")
    bias = call == "bgrad" or s.flag()
    act, residual = s.choose("none", "none", "relu", "silu") if type in REAL else "none", s.flag(
        0.3
    )

    fields = dict(N=N, C=C, K=K, g=g, type=type, bias=bias, act=act, residual=residual)
    fields["pass"] = call
    for names, values in zip((AXES[a] for a in axes), drawn):
        fields |= {
            name: value
            for name, value in zip(names, values)
            if transposed or not name.startswith("op")
        }
    x = empty(N, C, *extents, type=type, gradient=True)
    w = empty(*((C, K // g) if transposed else (K, C // g)), *taps, type=type, gradient=True)
    b = empty(K, type=type, gradient=True) if bias else None
    function = getattr(F, f"conv{'_transpose' * transposed}{dimensions}d")
    options = dict(stride=strides, padding=padding, dilation=dilations, groups=g) | (
        dict(output_padding=behind) if transposed else {}
    )
    y, flops = counted(lambda: function(x, w, b, **options), "convolution")

    operator = f"Conv{'Transpose' * transposed}{dimensions}d"
    differs = ["complex convolution"] if type == "c64" else []
    if call == "fprop":
        more = empty(*y.shape, type=type)
        fused = bias + (act != "none") + residual

        def epilogue():  # none of which PyTorch counts
            out = y + more if residual else y
            return out if act == "none" else getattr(F, act)(out)

        out, none = counted(epilogue)
        s.add(
            operator,
            fields,
            flops + none,
            [x, w, *[b] * bias, *[more] * residual],
            [out],
            ["epilogue"] * (fused > 0) + differs,
            fused=fused,
        )
        return
    d, flops = counted(
        gradients(y, {"dgrad": x, "wgrad": w, "bgrad": b}[call]), "convolution_backward"
    )
    takes = {"dgrad": [y, w], "wgrad": [y, x], "bgrad": [y]}[call]
    differs = (
        ["bias gradient"] if call == "bgrad" else differs + ["grouped wgrad"] * (call == "wgrad")
    )
    s.add(operator, fields, flops, takes, d, differs, g=g, outputs=y.numel())


# How often each family is drawn.
FAMILIES = {
    "mm": (mm, 500),
    "addmm": (addmm, 500),
    "bmm": (bmm, 500),
    "baddbmm": (baddbmm, 300),
    "scaled_mm": (scaled_mm, 200),
    "linear": (linear, 600),
}
for n in (1, 2, 3):
    FAMILIES[f"conv{n}d"] = (lambda s, n=n: convolution(s, n, False), 600)
    FAMILIES[f"conv_transpose{n}d"] = (lambda s, n=n: convolution(s, n, True), 600)
for variant in VARIANTS:
    FAMILIES[f"attention, {variant}"] = (
        lambda s, variant=variant: attention(s, variant),
        600 if variant == "math" else 300,
    )
FAMILIES |= {"decode": (decode, 200), "mla_decode": (mla_decode, 200)}


def wgrad_counts_groups():
    """Whether this version counts weight gradients of groups as often as there are groups; nothing
    between is accepted.
    """
    x, w = empty(1, 2, 1), empty(2, 1, 1, gradient=True)
    _, flops = counted(gradients(F.conv1d(x, w, groups=2), w), "convolution_backward")
    if flops not in (4, 8):
        raise SystemExit(
            f"a weight gradient of 2 multiply-adds in 2 groups is {flops} FLOPs, neither 4 nor 8"
        )
    return flops == 8


def draw(seed):
    calls = []
    for family, (function, times) in FAMILIES.items():
        shapes = Shapes(family, seed)
        for _ in range(times):
            function(shapes)
        calls += shapes.calls
    return calls
