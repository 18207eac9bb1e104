# SPDX-License-Identifier: MIT
"""Calls of PyTorch's operators with shapes drawn at random, what PyTorch's flop counter counts for
each, and the line that asks kprof for the same; for compare.py.

Tensors are on the meta device, which has shapes and no data, so that GPUs' attention is reached
too; only flash_for_cpu runs. Every formula is reached through the operator that it belongs to: none
is called by hand.
"""

import collections
import dataclasses
import logging
import math
import random
import warnings

logging.disable(logging.WARNING)  # no Triton, no NumPy: neither is needed
warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

aten = torch.ops.aten

TYPES = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "c64": torch.complex64,
    "int8": torch.int8,
}
REAL = ("f16", "bf16", "f32", "f64")


@dataclasses.dataclass
class Call:
    """The line that asks kprof, what PyTorch counted, the bytes of the tensors, the differences to
    expect and what they need to know.
    """

    family: str
    line: str
    flops: int
    read: int
    written: int
    differs: list
    facts: dict


class Shapes:
    """Draws, runs and notes calls of one family."""

    def __init__(self, family, seed):
        self.family, self.random, self.calls = family, random.Random(f"{seed} {family}"), []

    def size(self, most):
        """1 to most: as often between 1 and 10 as between 10 and 100."""
        return min(most, int(math.exp(self.random.uniform(0, math.log(most + 1)))))

    def sizes(self, most, count):
        """Now and then one of them is 0."""
        sizes = [self.size(most) for _ in range(count)]
        if self.random.random() < 0.05:
            sizes[self.random.randrange(count)] = 0
        return sizes

    def flag(self, likely=0.5):
        return self.random.random() < likely

    def choose(self, *from_these):
        return self.random.choice(from_these)

    def add(self, operator, fields, flops, takes, gives, differs=(), **facts):
        line = " ".join(
            [
                operator,
                *(
                    f"{name}={int(value) if isinstance(value, bool) else value}"
                    for name, value in fields.items()
                ),
            ]
        )
        written = size_of(*gives)
        read = size_of(*takes) if written else 0  # a call without output reads nothing
        facts.setdefault("outputs", gives[0].numel())
        self.calls.append(Call(self.family, line, flops, read, written, list(differs), facts))


reached = collections.Counter()


def counted(call, *by):
    """What the call gives, and its FLOPs, all of them counted by the formulas of these operators of
    aten.
    """
    with FlopCounterMode(display=False) as mode:
        result = call()
    names = {
        str(packet).removeprefix("aten.") for packet in mode.get_flop_counts().get("Global", {})
    }
    if names != set(by):
        raise SystemExit(f"expected to be counted by {set(by)}, was by {names}")
    reached.update(names)
    return result, mode.get_total_flops()


def empty(*shape, type="f32", gradient=False):
    return torch.empty(shape, dtype=TYPES[type], device="meta", requires_grad=gradient)


def size_of(*tensors):
    return sum(t.numel() * t.element_size() for t in tensors)


def gradients(y, *of):
    """The backward call that gives these gradients. It is to be counted without the forward one."""
    dy = torch.empty_like(y)
    return lambda: torch.autograd.grad(y, of, dy, retain_graph=True)


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


# Attention. Each variant has the operators that count it, forward and backward, its types, and a
# call that gives o and, but for math and the CPU's flash, the logsumexp.


def math_attention(q, k, v, causal, window=None):
    with sdpa_kernel(SDPBackend.MATH):
        return (
            F.scaled_dot_product_attention(
                q, k, v, attn_mask=window, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1]
            ),
            None,
        )


def cpu_attention(q, k, v, causal):
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        return (
            F.scaled_dot_product_attention(
                q, k, v, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1]
            ),
            None,
        )


VARIANTS = {
    "math": (("bmm", "bmm"), ("f16", "bf16", "f32", "f64"), math_attention),
    "flash": (
        ("_scaled_dot_product_flash_attention", "_scaled_dot_product_flash_attention_backward"),
        ("f16", "bf16"),
        lambda q, k, v, causal: aten._scaled_dot_product_flash_attention(
            q, k, v, 0.0, causal, False
        )[:2],
    ),
    "efficient": (
        (
            "_scaled_dot_product_efficient_attention",
            "_scaled_dot_product_efficient_attention_backward",
        ),
        ("f16", "bf16", "f32"),
        lambda q, k, v, causal: aten._scaled_dot_product_efficient_attention(
            q, k, v, None, True, 0.0, causal
        )[:2],
    ),
    "cudnn": (
        ("_scaled_dot_product_cudnn_attention", "_scaled_dot_product_cudnn_attention_backward"),
        ("f16", "bf16"),
        lambda q, k, v, causal: aten._scaled_dot_product_cudnn_attention(
            q, k, v, None, True, 0.0, causal, False
        )[:2],
    ),
    "flash_for_cpu": (
        (
            "_scaled_dot_product_flash_attention_for_cpu",
            "_scaled_dot_product_flash_attention_for_cpu_backward",
        ),
        ("f16", "bf16", "f32"),
        cpu_attention,
    ),
}


def window_of(s, Sq, Sk):
    """Fields of a sliding window that leaves something, and how many scores, counted in a mask of
    PyTorch's.
    """
    while True:
        left, right = s.choose(-1, s.random.randint(0, Sk)), s.choose(
            -1, 0, s.random.randint(0, Sk)
        )
        mask = torch.ones(Sq, Sk, dtype=torch.bool)
        mask = mask if right == -1 else mask.tril(Sk - Sq + right)
        mask = mask if left == -1 else mask.triu(Sk - Sq - left)
        if entries := int(mask.sum()):
            return dict(mask="sliding_window", window_left=left, window_right=right), entries


def attention(s, variant):
    (forward, backward), types, call = VARIANTS[variant]
    on_cpu = variant == "flash_for_cpu"
    B, Hkv, share = s.size(2 if on_cpu else 16), s.size(2 if on_cpu else 16), s.choose(1, s.size(8))
    Hq, type, mask, fprop = Hkv * share, s.choose(*types), s.choose("none", "causal"), s.flag()
    Sq, Sk = s.size(48 if on_cpu else 4096), s.size(48 if on_cpu else 4096)
    Sk = s.choose(Sq, Sk)
    D = 8 * s.size(8 if on_cpu else 32)
    Dv = D if on_cpu else s.choose(D, 8 * s.size(32))  # the CPU's has one size
    masked, known, more = dict(mask=mask), {}, {}
    if variant == "math" and s.flag(0.3):
        Sq, Sk, mask = min(Sq, 256), min(Sk, 256), "sliding_window"
        masked, known["entries"] = window_of(s, Sq, Sk)
        more["window"] = empty(Sq, Sk).to(torch.bool)

    def tensor(heads, length, size):
        if on_cpu:
            return torch.ones(B, heads, length, size, dtype=TYPES[type], requires_grad=True)
        return empty(B, heads, length, size, type=type, gradient=True)

    q, k, v = tensor(Hq, Sq, D), tensor(Hkv, Sk, D), tensor(Hkv, Sk, Dv)
    (o, lse), flops = counted(lambda: call(q, k, v, mask == "causal", **more), forward)
    lse_given = lse is not None
    lse = lse[:, :, :Sq] if lse_given else empty(B, Hq, Sq)  # of `efficient` it is longer

    fields = dict(B=B, Hq=Hq, Hkv=Hkv, Sq=Sq, Sk=Sk, D=D, Dv=Dv, type=type, lse=lse_given)
    fields["pass"] = "fprop" if fprop else "bprop"
    differs = {"none": [], "causal": ["causal"], "sliding_window": ["sliding window"]}[mask]
    known |= dict(B=B, Hq=Hq, Sq=Sq, Sk=Sk, D=D)
    takes, gives = [q, k, v], [o] + [lse] * lse_given
    if not fprop:
        takes, (gives, flops) = [q, k, v, o, o] + [lse] * (variant != "math"), counted(
            gradients(o, q, k, v), backward
        )
        fields["backward"] = "flash"
    if not fprop and variant == "math":
        s.add(
            "Sdpa",
            fields | masked,
            flops,
            takes,
            gives,
            differs + ["math backward", "math logsumexp"],
            **known,
        )
        fields["backward"] = "stored_P"
        differs = differs + ["math logsumexp"]
    s.add("Sdpa", fields | masked, flops, takes, gives, differs, **known)
    if mask != "none":  # what PyTorch counts is what kprof counts without a mask
        s.add(
            "Sdpa",
            fields,
            flops,
            takes,
            gives,
            [d for d in differs if d == "math logsumexp"],
            **known,
        )


def decode(s):
    """One token for each sequence against a cache."""
    (forward, _), types, call = VARIANTS[s.choose("flash", "cudnn")]
    B, Hkv, share, Sk, D, Dv = (
        s.size(256),
        s.size(16),
        s.choose(1, s.size(8)),
        s.size(32768),
        8 * s.size(32),
        8 * s.size(32),
    )
    type = s.choose(*types)
    q, k, v = (
        empty(B, Hkv * share, 1, D, type=type),
        empty(B, Hkv, Sk, D, type=type),
        empty(B, Hkv, Sk, Dv, type=type),
    )
    (o, _), flops = counted(lambda: call(q, k, v, False), forward)
    s.add(
        "DecodeAttention",
        dict(B=B, Hq=Hkv * share, Hkv=Hkv, Sk=Sk, D=D, Dv=Dv, type=type),
        flops,
        [q, k, v],
        [o],
    )


def mla_decode(s):
    """The values are a part of the keys."""
    (forward, _), types, call = VARIANTS[s.choose("flash", "cudnn")]
    B, H, Sk, L, R, type = (
        s.size(256),
        s.size(128),
        s.size(32768),
        8 * s.size(64),
        8 * s.size(16),
        s.choose(*types),
    )
    q, cache = empty(B, H, 1, L + R, type=type), empty(B, 1, Sk, L + R, type=type)
    (o, _), flops = counted(lambda: call(q, cache, cache[..., :L], False), forward)
    s.add("MlaDecode", dict(B=B, H=H, Sk=Sk, L=L, R=R, type=type), flops, [q, cache], [o])


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
