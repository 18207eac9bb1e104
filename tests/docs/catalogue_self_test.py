# SPDX-License-Identifier: MIT
"""Whether the page of the catalogue finds what it is there to find: changes one thing at a time."""

import json
import pathlib
import tempfile
from fractions import Fraction

from catalogue_check import check, read
from catalogue_comments import comments_of
from catalogue_formulas import Formula, Mistake

HEADER = """// SPDX-License-Identifier: MIT
#ifndef GUARD
#define GUARD

// Products.

/// C = A B.
/// FLOPs(fprop): 2 M N + [bias] N
/// FLOPs(bprop): 2 M N
/// read: bytes(tall, type)
///   + bytes(N, dtypeW or type)
/// written: bytes(M N, type)
/// where: tall = sum(i < M: min(i + 1, N))
/// source: somebody
/// others: nobody
struct Product {
  std::int64_t M = 1, N = 1;   ///< rows; columns
  bool bias = false;           ///< added
  ops::pass pass = ops::pass::fprop;   ///< direction
  dtype type = dtype::f32, dtypeW = dtype::unknown;   ///< as in Other
};
/// Something else.
/// like: Product, N = 3
struct Other {
  std::int64_t M = 1;
  dtype type = dtype::f32;   ///< of all
  dtype dtypeW = dtype::unknown;   ///< of weights; unknown: as `type`
};
"""


def sample_operators():
    """As catalogue_samples would print them, counted by other means than the formulas'."""
    width = {"f32": 32, "int4": 4}
    for name, other in (("Product", False), ("Other", True)):
        samples = []
        for i in range(60):
            m, n, bias, type_, weight = (
                1 + i % 7,
                3 if other else 1 + i % 5,
                not other and i % 3 == 1,
                ("f32", "int4")[i % 2],
                ("unknown", "int4")[i // 2 % 2],
            )
            tall = len([1 for row in range(m) for column in range(n) if column <= row])
            direction = "fprop" if other else ("fprop", "bprop")[i // 3 % 2]
            pack = lambda count, t: -(-count * width[t] // 8)
            call = {"M": m, "type": type_, "dtypeW": weight}
            if not other:
                call = {
                    "M": m,
                    "N": n,
                    "bias": bias,
                    "pass": direction,
                    "type": type_,
                    "dtypeW": weight,
                }
            samples.append(
                {
                    "with": call,
                    "unit": "cuda_core",
                    "flops": 2 * m * n + (n if bias and direction == "fprop" else 0),
                    "read": pack(tall, type_) + pack(n, type_ if weight == "unknown" else weight),
                    "written": pack(m * n, type_),
                }
            )
        kinds = {
            "M": "int64",
            "N": "int64",
            "bias": "bool",
            "pass": "pass_kind",
            "type": "dtype",
            "dtypeW": "dtype",
        }
        large = []
        for m in (
            2**33,
            2**61,
            2**70,
        ):  # their lower triangle is too long for the formulas where N is large
            call = (
                {"M": m, "type": "int4", "dtypeW": "int4"}
                if other
                else {
                    "M": 2,
                    "N": m,
                    "bias": False,
                    "pass": "fprop",
                    "type": "int4",
                    "dtypeW": "int4",
                }
            )
            counted = m < 2**61 and not other
            large.append(
                {
                    "with": call,
                    "counted": counted,
                    "flops": 4 * m if counted else 0,
                    "read": 2 + m // 2 if counted else 0,
                    "written": m if counted else 0,
                }
            )
        yield json.dumps(
            {
                "name": name,
                "fields": [[f, kinds[f], 0] for f in samples[0]["with"]],
                "samples": samples,
                "large": large,
            }
        )


MISTAKES = (  # what is changed, into what, and what is then said
    ("2 M N + [bias] N", "2 M N + [bias] M", "FLOPs is"),
    ("2 M N + [bias] N", "2 M N", "FLOPs is"),
    ("FLOPs(bprop): 2 M N", "FLOPs(bprop): M N", "FLOPs is"),
    ("FLOPs(bprop): 2 M N", "FLOPs(bprop, dgrad): 2 M N", "no random call is one of dgrad"),
    ("/// FLOPs(bprop): 2 M N\n", "", "no formula for FLOPs of bprop"),
    ("///   + bytes(N, dtypeW or type)\n", "", "read is"),
    ("dtypeW or type)", "type)", "read is"),
    ("i + 1, N", "i, N", "read is"),
    ("bytes(M N, type)", "M N bits(type) / 8", "written is"),
    ("where: tall = sum(i < M: min(i + 1, N))", "where: wide = N", "is no field"),
    ("bytes(tall, type)", "bytes(M N, type)", "no formula uses `tall`"),
    ("/// written: bytes(M N, type)\n", "", "no `written:`"),
    ("/// source: somebody\n", "", "no `source:`"),
    ("2 M N + [bias] N", "2 M N + [bias N", "expected `]`"),
    ("2 M N + [bias] N", "2 M N + % N", "cannot read"),
    ("N = 3", "N = 4", "Other: FLOPs is"),
    ("like: Product, N = 3", "like: Product, X = 3", "neither a field nor a `where` X"),
    ("like: Product", "like: Nothing", "no operator of the catalogue"),
    ("  ///< added", "", "nothing says what `bias` is"),
    ("   ///< of all", "", "nothing says what `type` is"),
    ("/// others: nobody\n", "/// others: nobody\n/// and more prose\n", "neither one nor goes on"),
    ("struct Other", "struct Another", "is called so"),
)

WRAPPED = """struct Wrapped {
  std::int64_t M = 1, N = 1;  ///< rows of A; columns
                              ///< of B
  dtype dtypeA = dtype::f32, dtypeB = dtype::unknown,
        dtypeC = dtype::unknown;  ///< of A; of B; of C
  fixed_string<64> text =
      {};  ///< any
};
"""
MEANINGS = {
    "M": "rows of A",
    "N": "columns of B",
    "dtypeA": "of A",
    "dtypeB": "of B",
    "dtypeC": "of C",
    "text": "any",
}


def self_test(page):
    samples = "\n".join(sample_operators())

    def errors_of(text, samples=samples):
        with tempfile.TemporaryDirectory() as folder:
            ops = pathlib.Path(folder) / "include/kprof/ops"
            ops.mkdir(parents=True)
            (ops / "product.hpp").write_text(text)
            (ops / "common.hpp").write_text("//\n" * 5)
            try:
                operators, introductions, glossary, errors = read(pathlib.Path(folder), samples)
                page(operators, introductions, glossary)
                return errors + check(operators, glossary)
            except Mistake as mistake:
                return [str(mistake)]

    failures = [f"the good header is refused: {e}" for e in errors_of(HEADER)]
    with tempfile.NamedTemporaryFile("w", suffix=".hpp") as file:
        file.write(WRAPPED)
        file.flush()
        _, (wrapped,) = comments_of(pathlib.Path(file.name))
        if wrapped.meanings != MEANINGS:
            failures.append(f"over several lines the meanings are {wrapped.meanings}")
    for was, becomes, said in MISTAKES:
        if was not in HEADER:
            failures.append(f"the header has no `{was}`")
        errors = errors_of(HEADER.replace(was, becomes, 1))
        if not any(said in e for e in errors):
            failures.append(f"`{was}` as `{becomes}` is not found: {errors}")
    for was, becomes, said in (
        (f'"flops": {2 ** 35}', '"flops": 7', "it counts {'FLOPs': 7"),
        ('"counted": true', '"counted": false', "does not count"),
    ):
        if not any(said in e for e in errors_of(HEADER, samples.replace(was, becomes, 1))):
            failures.append(
                f"a large call with `{becomes}` is not found: "
                f"{errors_of(HEADER, samples.replace(was, becomes, 1))}"
            )
    for text, value in (
        ("2 a b", 12),
        ("a / b a", Fraction(4, 3)),
        ("2 a^2", 8),
        ("-a + b", 1),
        ("ceil(7 / a) + floor(7 / a)", 7),
        ("[a = 2 and b != 2] b", 3),
        ("[not a > b]", 1),
        ("sum(i < b: i a)", 6),
        ("sum(list: x)", 7),
        ("numel(broadcast(s, t))", 24),
        ("gcd(12, 18) log2(8)", 18),
        ("dims(s) + prod(t - 5)", 11),
        ("[f in (ne, eq)] b", 3),
        ("bits([f = eq] int64 or f32)", 64),
        ("bits([f = a] int64 or f32)", 32),
        ("sum(n in t: n a)", 8),
        ("[a != 2] ceil(b / (a - 2))", 0),
        ("a - 2 or b", 3),
    ):
        if (
            found := Formula(text)(
                {
                    "a": 2,
                    "b": 3,
                    "list": [{"x": 3}, {"x": 4}],
                    "s": [2, 1, 4, -1],
                    "t": [3, 1],
                    "f": "eq",
                }
            )
        ) != value:
            failures.append(f"`{text}` gives {found}, not {value}")
    for failure in failures:
        print(failure)
    print(
        f"{len(MISTAKES)} mistakes: {'all found' if not failures else f'{len(failures)} failures'}"
    )
    return 1 if failures else 0
