# SPDX-License-Identifier: MIT
"""Calls of PyTorch's attention; for calls.py."""

from drawing import TYPES, counted, empty, gradients  # before torch

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

aten = torch.ops.aten

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
