# SPDX-License-Identifier: MIT
"""Draws shapes at random, calls PyTorch with them under its flop counter, and notes what it
counted; for calls.py.
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
from torch.utils.flop_counter import FlopCounterMode

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
