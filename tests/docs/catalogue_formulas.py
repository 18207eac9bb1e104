# SPDX-License-Identifier: MIT
"""The formulas that the comments of the catalogue's operators state: a small language, read and
evaluated exactly.

    2 batch M N K                    what stands side by side is multiplied; / is exact;
                                     ^ is a power
    2 N K P Q + [bias] N K P Q       [condition] is 1 where it holds, else 0; conditions have
                                     = != < <= > >= and or not
                                     [n != 0] ceil(x / n) is 0 where n is
    bytes(M K, dtypeW or type)       bytes of so many elements, packed; "or": the first type that
                                     is known, the first size that is not 0
    [f in (eq, ne)] boolean          an enumeration that is one of these; types stand for
                                     themselves: here none, where f is another
    sum(i < Sq: min(i + 1, Sk))      over i = 0 ... Sq - 1
    sum(groups: M N K)               over a list, whose fields are then names
    sum(n in inputs: bytes(n, type)) over a list of numbers
    prod(n - 2 r)                    a list less a number: each of its sizes is

Functions: bytes bits ceil floor round min max gcd log2 dims prod last numel broadcast. fma(type),
mul(type) and add(type) are the FLOPs of a multiply-add, a multiplication and an addition: 2, 1 and
1; of complex types 8, 6 and 2.
"""

import decimal
import fractions
import functools
import math
import re

TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?)|([A-Za-z_]\w*)|(!=|<=|>=|[-+/^()\[\]<>=,:]))")
WORDS = ("and", "or", "not", "in")
BITS = {
    "f64": 64,
    "f32": 32,
    "tf32": 32,
    "f16": 16,
    "bf16": 16,
    "fp8_e4m3": 8,
    "fp8_e5m2": 8,
    "fp6_e2m3": 6,
    "fp6_e3m2": 6,
    "fp4_e2m1": 4,
    "int64": 64,
    "int32": 32,
    "int16": 16,
    "int8": 8,
    "int4": 4,
    "uint64": 64,
    "uint32": 32,
    "uint16": 16,
    "uint8": 8,
    "uint4": 4,
    "boolean": 8,
    "c64": 64,
    "c128": 128,
}
COMPLEX = ("c64", "c128")
PRECISE = decimal.Context(prec=60)


LONGEST = 10_000  # terms of a sum over numbers


class Mistake(Exception):
    """Of a formula: the message says where."""


class TooLong(Exception):
    """A sum of more terms than anybody waits for."""


@functools.cache
def log2(x):
    return fractions.Fraction(
        PRECISE.divide(PRECISE.ln(decimal.Decimal(int(x))), PRECISE.ln(decimal.Decimal(2)))
    )


def bits(dtype):
    if dtype is None:
        return 0
    if dtype not in BITS:
        raise Mistake(f"{dtype!r} is no type")
    return BITS[dtype]


def broadcast(*shapes):
    out = [1] * 8
    for shape in shapes:
        for k, size in enumerate(reversed(sizes(shape))):
            out[-1 - k] = max(out[-1 - k], size)
    return out


def sizes(shape):
    """Without those that are left out."""
    return [size for size in shape if size != -1]


FUNCTIONS = {
    "bytes": lambda n, dtype: math.ceil(n * bits(dtype) / fractions.Fraction(8)),
    "bits": bits,
    "ceil": math.ceil,
    "floor": math.floor,
    "round": round,
    "min": min,
    "max": max,
    "gcd": lambda a, b: math.gcd(int(a), int(b)),
    "log2": log2,
    "dims": lambda v: len(sizes(v)),
    "prod": lambda v: math.prod(sizes(v)),
    "last": lambda v: sizes(v)[-1],
    "numel": lambda shape: math.prod(sizes(shape)),
    "broadcast": broadcast,
    "fma": lambda dtype: 8 if dtype in COMPLEX else 2,
    "mul": lambda dtype: 6 if dtype in COMPLEX else 1,
    "add": lambda dtype: 2 if dtype in COMPLEX else 1,
}


class Formula:
    def __init__(self, text):
        self.text, self.tokens, self.names, at = text, [], set(), 0
        while at < len(text.rstrip()):
            found = TOKEN.match(text, at)
            if not found:
                raise Mistake(f"cannot read `{text[at:]}` in `{text}`")
            self.tokens.append(found.group().strip())
            at = found.end()
        self.at = 0
        self.tree = self.either()
        if self.at != len(self.tokens):
            raise Mistake(f"`{self.tokens[self.at]}` is unexpected in `{text}`")

    def __call__(self, values):
        return evaluate(self.tree, values, self.text)

    # ---- reading

    def next(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, token=None):
        found = self.next()
        if token is not None and found != token:
            raise Mistake(f"expected `{token}`, not `{found}`, in `{self.text}`")
        self.at += 1
        return found

    def chain(self, operators, part):
        left = part()
        while self.next() in operators:
            left = (self.take(), left, part())
        return left

    def either(self):
        return self.chain(("or",), self.both)

    def both(self):
        return self.chain(("and",), self.negation)

    def negation(self):
        if self.next() == "not":
            self.take()
            return ("not", self.negation())
        left = self.total()
        if self.next() in ("=", "!=", "<", "<=", ">", ">="):
            return (self.take(), left, self.total())
        if self.next() == "in":
            self.take()
            self.take("(")
            names = [self.take()]
            while self.next() == ",":
                self.take()
                names.append(self.take())
            self.take(")")
            return ("among", left, names)
        return left

    def total(self):
        return self.chain(("+", "-"), self.product)

    def product(self):
        left = self.power()
        while True:
            if self.next() == "/":
                self.take()
                left = ("/", left, self.power())
            elif re.match(r"[\w(\[]", self.next()) and self.next() not in WORDS:
                left = ("*", left, self.power())
            else:
                return left

    def power(self):
        base = self.atom()
        if self.next() == "^":
            self.take()
            return ("^", base, self.power())
        return base

    def atom(self):
        token = self.take()
        if token == "-":
            return ("-", ("number", 0), self.power())
        if token in ("(", "["):
            inner = self.either()
            self.take(")" if token == "(" else "]")
            return inner if token == "(" else ("truth", inner)
        if re.match(r"\d", token):
            return ("number", fractions.Fraction(token))
        if not re.match(r"[A-Za-z_]", token) or token in WORDS:
            raise Mistake(f"`{token}` is unexpected in `{self.text}`")
        if self.next() != "(" or token not in (*FUNCTIONS, "sum"):
            self.names.add(token)
            return ("name", token)
        self.take("(")
        if token == "sum":
            index = self.take()
            if self.next() == "<":
                self.take()
                over = ("sum", index, self.total())
            elif self.next() == "in":
                self.take()
                over = ("in", index, self.take())
            else:
                over = ("each", index)
            self.take(":")
            arguments = (*over, self.total())
            self.take(")")
            return arguments
        arguments = [self.either()]
        while self.next() == ",":
            self.take()
            arguments.append(self.either())
        self.take(")")
        return ("call", token, arguments)


COMPARE = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def evaluate(tree, values, text):
    kind = tree[0]
    of = lambda t: evaluate(t, values, text)
    if kind == "number":
        return tree[1]
    if kind == "name":
        if tree[1] not in values:
            if tree[1] in BITS:
                return tree[1]
            raise Mistake(
                f"`{tree[1]}` in `{text}` is no field and no name that a `where` explains"
            )
        found = values[tree[1]]
        return found(values) if isinstance(found, Formula) else found
    if kind == "truth":
        return 1 if of(tree[1]) else 0
    if kind == "not":
        return not of(tree[1])
    if kind == "or":
        return of(tree[1]) or of(tree[2])
    if kind == "and":
        return of(tree[1]) and of(tree[2])
    if kind == "among":
        return of(tree[1]) in tree[2]
    if kind in COMPARE:
        left = of(tree[1])
        # An enumerator is a name that is compared with an enumeration's value, but for the name of
        # a field of that kind.
        named = (
            (isinstance(left, str) or left is None)
            and tree[2][0] == "name"
            and not isinstance(values.get(tree[2][1], 0), (str, type(None), Formula))
        )
        right = tree[2][1] if named else of(tree[2])
        return COMPARE[kind](left, right)
    if kind == "call":
        return FUNCTIONS[tree[1]](*[of(t) for t in tree[2]])
    if kind == "sum":
        terms = int(of(tree[2]))
        if terms > LONGEST:
            raise TooLong()
        return sum(evaluate(tree[3], {**values, tree[1]: i}, text) for i in range(terms))
    if kind == "each":
        return sum(evaluate(tree[2], {**values, **entry}, text) for entry in values[tree[1]])
    if kind == "in":
        return sum(evaluate(tree[3], {**values, tree[1]: entry}, text) for entry in values[tree[2]])
    left = of(tree[1])
    try:
        right = of(tree[2])
    except ZeroDivisionError:
        if kind == "*" and left == 0:
            return 0
        raise
    if kind == "+":
        return left + right
    if kind == "-":
        return [size - right for size in sizes(left)] if isinstance(left, list) else left - right
    if kind == "*":
        return left * right
    if kind == "/":
        return fractions.Fraction(left) / right
    return left**right
