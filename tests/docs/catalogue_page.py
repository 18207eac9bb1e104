#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/catalogue_reference.md from the catalogue.

    catalogue_page.py check|write <repository> <catalogue_samples>
    catalogue_page.py --self-test

The operators, fields, types, defaults, passes and units are those of the compiled code, as the
program catalogue_samples prints them. Formulas, fields' meanings and sources are in the comments of
include/kprof/ops; catalogue_comments.py has their notation.

Every formula is evaluated for every random call that catalogue_samples made, and must give what the
compiled one gave: the page cannot say anything else than the code does. "check" also compares the
page with the one in the repository.
"""

import pathlib
import re
import subprocess
import sys
import textwrap

sys.dont_write_bytecode = True
from catalogue_check import check, formulas_of, read
from catalogue_comments import COUNTS
from catalogue_self_test import self_test

PAGE = "docs/catalogue_reference.md"
TITLE = {
    "FLOPs": "FLOPs",
    "read": "bytes read",
    "written": "bytes written",
    "source": "follows",
    "others": "others",
    **{name: f"`{name}()`" for name in COUNTS[3:-3]},
    **{name: "`{}(cost_model::{})`".format(*name.split("_")) for name in COUNTS[-3:]},
}
UNITS = {
    frozenset(("cuda_core",)): "scalar",
    frozenset(("tensor_core",)): "matrix product, on tensor cores",
    frozenset(("unknown",)): "matrix product",
    frozenset(("unknown", "tensor_core")): "matrix product",
}

PREFACE = """# Every operator of the catalogue

Made from the code by `tests/docs/catalogue_page.py`, which also evaluates each formula for random
calls and compares it with what the compiled operator gives. How operators are used, and by what
rules they count, is on [the catalogue's page](catalogue.md).

What stands side by side is multiplied. `[condition]` is 1 where the condition holds, else 0.
`bytes(n, type)` is what `n` elements take, packed: `ceil(n bits(type) / 8)`; `dtypeW or type` is
the first of the two that is known, and `[condition] int64` is known where the condition holds; `Dv
or D` the first that is not 0. `sum(i < n: ...)` goes over i = 0 to n - 1. `fma(type)`, `mul(type)`
and `add(type)` are the FLOPs of a multiply-add, a multiplication and an addition: 2, 1 and 1, and
8, 6 and 2 of complex numbers; where a formula of a product says 2, complex types count 8 as well.
Of a list of sizes `prod(n)` is the product, `dims(n)` the number, `last(n)` the last; `n - 2 r`
takes `2 r` from each. Sizes are in elements unless a field says otherwise. A call without output
reads nothing. Enumerations are in `kprof::ops`, but for `kprof::dtype`.
"""


def cell(text):
    return text.replace("|", "\\|")


def spelt(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return (
            "{"
            + ", ".join(str(v) for v in value if not isinstance(v, dict) and v != -1 and any(value))
            + "}"
        )
    return str(value)


def table(op, glossary):
    lines = ["| field | type | default | |", "|---|---|---|---|"]
    rows = []
    for name, kind, extent, *values in op.fields:
        meaning = (
            f"direction: one of {', '.join(op.passes)}"
            if kind == "pass_kind"
            else op.meaning(name, glossary) or ""
        )
        if not all(re.search(rf"\b{value}\b", meaning) for value in values if value != "none"):
            meaning += f" ({', '.join(values)})"
        row = [
            [f"`{name}`"],
            kind + (f", at most {extent}" if extent else ""),
            f"`{spelt(op.defaults[name])}`",
            cell(meaning),
        ]
        if rows and rows[-1][1:] == row[1:]:
            rows[-1][0] += row[0]
        else:
            rows.append(row)
    return lines + ["| " + " | ".join([" ".join(r[0]), *r[1:]]) + " |" for r in rows]


def counts_table(op):
    lines = ["| | |", "|---|---|"]
    units = frozenset(s["unit"] for s in op.samples)
    for name in COUNTS:
        stated = op.comment.all(name)
        for of, text in stated:
            lines.append(
                f"| {TITLE[name]}{' of ' + of if of else ' otherwise' if len(stated) > 1 else ''} "
                f"| `{cell(text)}` |"
            )
    for _, text in op.comment.all("where"):
        lines.append(f"| where | `{cell(text)}` |")
    for name in ("source", "others"):
        for _, text in op.comment.all(name):
            lines.append(f"| {TITLE[name]} | {cell(text)} |")
    passes = f"; passes {', '.join(op.passes)}" if op.passes else ""
    lines.append("| arithmetic | " f"{UNITS.get(units, 'scalar or matrix product')}{passes} " "|")
    return lines


def wrapped(text):
    return textwrap.wrap(
        " ".join(text.split()), 100, break_long_words=False, break_on_hyphens=False
    )


def section(op, aliases, glossary):
    lines = [
        "",
        f"### {op.name}",
        "",
        *wrapped(" ".join(op.comment.text)),
        "",
        *table(op, glossary),
        "",
    ]
    if op.like:
        with_ = [f"`{field} = {spelt(value)}`" for field, value in op.given.items()]
        lacking = [f for f in op.like.defaults if f not in op.defaults and f not in op.given]
        with_ += [f"`{f} = {spelt(op.like.defaults[f])}`" for f in lacking]
        lines += wrapped(
            "Counts as "
            f"[{op.like.name}](#{op.like.name.lower()})"
            f"{' with ' + ', '.join(with_) if with_ else ''}."
        )
        lines += [f"Others: {others}." for _, others in op.comment.all("others")]
    else:
        lines += counts_table(op)
    if aliases:
        same = aliases[0].fields
        names = ", ".join(f"`{a.name}`" for a in aliases)
        lines += [
            "",
            *wrapped(
                "Under names of their own, with the fields "
                f"{', '.join(f'`{f[0]}`' for f in same)}: {names}."
            ),
        ]
    return lines


def index(operators):
    """All operators in the order of their names, as a table."""
    lines = ["", "| operator | header | FLOPs, of passes forward | passes |", "|---|---|---|---|"]
    for op in sorted(operators.values(), key=lambda o: o.name.lower()):
        of = op.like if op.comment.enumerator else op
        if op.like:
            counts = f"as [{op.like.name}](#{op.like.name.lower()})"
        else:
            stated = [
                (p, f.text)
                for p, f in formulas_of(op)[0].get("FLOPs", [])
                if not p or not set(p) <= {"bprop", "dgrad", "wgrad", "bgrad"}
            ]
            counts = "; ".join(
                f"`{cell(f)}`" + (f" of {', '.join(p)}" if p and p != ["fprop"] else "")
                for p, f in stated
            )
        lines.append(
            f"| [{op.name}](#{of.name.lower()}) | `{op.comment.header}` | {counts} | "
            f"{', '.join(op.passes)} |"
        )
    return lines


def page(operators, introductions, glossary):
    lines = PREFACE.rstrip().split("\n") + index(operators)
    headers = []
    for op in operators.values():
        if op.comment.header not in headers:
            headers.append(op.comment.header)
    for header in headers:
        lines += ["", f"## {header}", "", *wrapped(introductions[header])]
        mine = [op for op in operators.values() if op.comment.header == header]
        for op in mine:
            if not op.comment.enumerator:
                aliases = [a for a in mine if a.comment.enumerator and a.like is op]
                lines += section(op, aliases, glossary)
    return "\n".join(lines) + "\n"


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test(page))
    if len(sys.argv) != 4 or sys.argv[1] not in ("check", "write"):
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[2]).resolve()
    samples = subprocess.run([sys.argv[3]], text=True, check=True, capture_output=True).stdout
    operators, introductions, glossary, errors = read(root, samples)
    errors += check(operators, glossary)
    text = page(operators, introductions, glossary)
    path = root / PAGE
    if sys.argv[1] == "write":
        path.write_text(text)
    elif not path.exists() or path.read_text() != text:
        errors.append(f"{PAGE} is not what the code says; run catalogue_page.py write")
    for error in errors:
        print(error)
    calls = sum(len(op.samples) for op in operators.values())
    print(
        f"{len(operators)} operators, {calls} random calls: "
        f"{f'{len(errors)} errors' if errors else 'in order'}"
    )
    sys.exit(1 if errors else 0)


main()
