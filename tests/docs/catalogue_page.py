#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/catalogue_reference.md from the catalogue: catalogue_page.py check|write <repository> <catalogue_samples> | --self-test

The operators, fields, types, defaults, passes and units are those of the compiled code, as the program catalogue_samples prints
them. Formulas, fields' meanings and sources are in the comments of include/kprof/ops, which say them so:

    /// FLOPs: 2 M N K batch                       for passes that no other line names
    /// FLOPs(dgrad, wgrad): 2 M N K               also: read, written, transcendentals, parameters, flops_valid, ...; of an operator
                                                   without passes that has a `kind`: FLOPs(max): ...
    ///   + M N                                    a line goes on indented
    /// where: P = floor((H - R) / U) + 1          a name that the formulas use
    /// source: PyTorch flop_counter.py            whom the formulas follow
    /// others: CUTLASS adds 2 M N                 who counts differently
    /// like: Conv3d                               formulas, and meanings of fields, of another operator: fields of it that this one lacks
                                                   have their defaults, or the value given, or that of the field given: "like: Gemm, dtypeA = type";
                                                   and names of `where`: "like: Rnn, G = 4"; of a template the parameter: "kind = Kind"
    std::int64_t M = 1, N = 1;                     ///< rows of A; columns of B

Every formula is evaluated for every random call that catalogue_samples made, and must give what the compiled one gave: the page
cannot say anything else than the code does. "check" also compares the page with the one in the repository.
"""

import functools
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
from fractions import Fraction

sys.dont_write_bytecode = True
from catalogue_formulas import COMPLEX, Formula, Mistake, TooLong

PAGE = "docs/catalogue_reference.md"
COUNTS = (
    "FLOPs",
    "read",
    "written",
    "transcendentals",
    "parameters",
    "flops_valid",
    "flops_exact",
    "sparse_flops",
    "flops_pyprof",
    "flops_expressions",
    "transcendentals_expressions",
)  # the last three of another cost_model
TAG = re.compile(rf"^({'|'.join(COUNTS)}|where|source|others|like)(?:\(([^)]*)\))?: (.*)$")
TITLE = {
    "FLOPs": "FLOPs",
    "read": "bytes read",
    "written": "bytes written",
    "source": "follows",
    "others": "others",
    **{name: f"`{name}()`" for name in COUNTS[3:-3]},
    **{name: "`{}(cost_model::{})`".format(*name.split("_")) for name in COUNTS[-3:]},
}
FEWEST = 12  # calls of each pass
UNITS = {
    frozenset(("cuda_core",)): "scalar",
    frozenset(("tensor_core",)): "matrix product, on tensor cores",
    frozenset(("unknown",)): "matrix product",
    frozenset(("unknown", "tensor_core")): "matrix product",
}


class Comment:
    """What is said of an operator in front of its struct."""

    def __init__(self, name, header, lines):
        self.name, self.header, self.text, self.tags, self.meanings = name, header, [], [], {}
        self.parameter = self.enumerator = None  # of a template, and its argument of an alias
        for line in lines:
            tag = TAG.match(line)
            if tag:
                self.tags.append([tag[1], tag[2], tag[3]])
            elif self.tags and line.startswith("  "):
                self.tags[-1][2] += " " + line.strip()
            elif self.tags:
                raise Mistake(
                    f"{name}: `{line}` behind the formulas is neither one nor goes on with one, indented"
                )
            elif not line.startswith("    "):  # an example
                self.text.append(line)

    def all(self, tag):
        return [(of, text) for t, of, text in self.tags if t == tag]

    def one(self, tag):
        found = self.all(tag)
        return found[0][1] if found else None


def comments_of(header):
    """The operators that a header declares, and its introduction."""
    found, block, struct, templates = [], [], None, {}
    lines = header.read_text().split("\n")
    introduction, parameter = [], None
    for line in lines[4:]:
        if not line.startswith("//"):
            break
        introduction.append(line[3:])
    for line in lines:
        if line.startswith("/// ") or line == "///":
            block.append(line[4:])
            continue
        if opened := re.match(r"struct (\w+) \{", line):
            struct = Comment(opened[1], header.name, block)
            struct.parameter = parameter
            found.append(struct)
            templates[struct.name] = struct
        elif alias := re.match(r"using (\w+) = (\w+)<\w+::(\w+)>;", line):
            if alias[2] in templates:
                of = templates[alias[2]]
                one = Comment(alias[1], header.name, [])
                one.text, one.tags, one.meanings, one.parameter, one.enumerator = (
                    of.text,
                    of.tags,
                    of.meanings,
                    of.parameter,
                    alias[3],
                )
                found.append(one)
        elif line == "};" or line.startswith("  constexpr bool valid"):
            struct = None
        elif struct and "///<" in line:
            code, meaning = line.split("///<", 1)
            names = re.findall(
                r"(\w+)\s*(?=[={;,])",
                re.sub(
                    r"=[^,;]*(,(?=\s*\w+\s*[=;{])|;)",
                    r"=\1",
                    re.sub(r"\{[^}]*\}", "{", re.sub(r"<[^<>]*>", "", code)),
                ),
            )
            parts = meaning.strip().split("; ")
            struct.meanings.update(
                zip(names, parts if len(parts) == len(names) else [meaning.strip()] * len(names))
            )
        if not line.startswith("template"):
            block = []
        parameter = re.match(r"template <\w+ (\w+)>", line)
        parameter = parameter and parameter[1]
    return " ".join(introduction), found


class Operator:
    def __init__(self, compiled, comment):
        self.name, self.comment = compiled["name"], comment
        self.fields, self.samples, self.large = (
            compiled["fields"],
            compiled["samples"],
            compiled["large"],
        )
        if not self.samples:
            raise Mistake(f"{self.name}: no random call was valid")
        self.defaults = self.samples[0]["with"]
        self.passes = [
            p
            for p in ("fprop", "bprop", "dgrad", "wgrad", "bgrad")
            if any(s["with"].get("pass") == p for s in self.samples)
        ]
        self.like, self.given, self.renamed = (
            None,
            {},
            {},
        )  # renamed: fields of `like` that have another name here

    def find_like(self, operators):
        like = self.comment.one("like")
        if not like:
            return
        name, *given = like.split(", ")
        if name not in operators:
            raise Mistake(f"{self.name}: like {name}, which is no operator of the catalogue")
        self.like = operators[name]
        for one in given:
            field, _, value = one.partition(" = ")
            value = self.comment.enumerator if value == self.comment.parameter else value
            if field not in self.like.defaults and field not in (
                text.partition(" = ")[0] for _, text in self.like.comment.all("where")
            ):
                raise Mistake(
                    f"{self.name}: like {name}, which has neither a field nor a `where` {field}"
                )
            self.given[field] = (
                int(value) if value.isdigit() else {"true": True, "false": False}.get(value, value)
            )
            if value in self.defaults:
                self.renamed[field] = value

    def origin(self):
        """The operator whose formulas hold."""
        return self.like.origin() if self.like else self

    def values(self, call):
        if not self.like:
            return call
        own = {k: v for k, v in call.items() if k in self.like.defaults}
        return self.like.values(
            {
                **self.like.defaults,
                **self.given,
                **own,
                **{field: call[name] for field, name in self.renamed.items()},
            }
        )

    def meaning(self, field, glossary, asked=()):
        """Of a field: what its own comment says, or that of the operator it refers to, of `like`, of the glossary, of the header's first."""
        if self in asked:
            return None
        asked = (*asked, self)
        said = self.comment.meanings.get(field)
        if said and (reference := re.fullmatch(r"as in (\w+)", said)):
            return (
                self.references[reference[1]].meaning(field, glossary, asked)
                if reference[1] in self.references
                else None
            )
        if said:
            return said
        if self.like and field in self.like.defaults:
            return self.like.meaning(field, glossary, asked)
        if field in glossary:
            return glossary[field]
        for other in Operator.references.values():
            if other.comment.header == self.comment.header and field in other.comment.meanings:
                return other.meaning(field, glossary, asked)
        return None

    references = {}


@functools.cache
def formulas_of(op):
    """For each count: a list of (passes, formula); and the names that they use."""
    counts = {}
    for name in COUNTS:
        for of, text in op.comment.all(name):
            counts.setdefault(name, []).append(
                ([p.strip() for p in of.split(",")] if of else None, Formula(text))
            )
    where = {}
    for _, text in op.comment.all("where"):
        name, _, formula = text.partition(" = ")
        where[name] = Formula(formula)
    return counts, where


def formula_for(counts, name, direction):
    named = [f for passes, f in counts.get(name, []) if passes and direction in passes]
    rest = [f for passes, f in counts.get(name, []) if not passes]
    return (named or rest or [None])[0]


def call_of(op, sample):
    """The values that the formulas see."""
    return {k: None if v == "unknown" else v for k, v in op.values(sample["with"]).items()}


def check_large(op, counts, where):
    """Calls with sizes of any magnitude: what fits 61 bits must be counted, exactly, and what does not fit 64 must not be."""
    for sample in op.large:
        if any(v in COMPLEX for v in sample["with"].values() if isinstance(v, str)):
            continue
        call = call_of(op, sample)
        direction = call.get("pass") or call.get("kind", "fprop")
        try:
            stated = {
                name: formula_for(counts, name, direction)({**where, **call})
                for name in ("FLOPs", "read", "written")
            }
        except TooLong:
            continue
        largest = max(stated["FLOPs"], stated["read"] + stated["written"])
        if sample["counted"]:
            compiled = {
                "FLOPs": sample["flops"],
                "read": sample["read"],
                "written": sample["written"],
            }
            if compiled != stated:
                return [
                    f"{op.name}: of {sample['with']} it counts {compiled}, and the formulas say {({k: int(v) for k, v in stated.items()})}"
                ]
        elif largest < 2**61:
            return [
                f"{op.name}: does not count {sample['with']}, where nothing is larger than {int(largest)}"
            ]
    return []


def check_operator(op):
    errors, met = [], {}
    origin = op.origin()
    counts, where = formulas_of(origin)
    used = set()
    for text in (f for fs in counts.values() for _, f in fs):
        used |= text.names
    for formula in where.values():
        used |= formula.names
    for name in where:
        if name not in used:
            errors.append(f"{origin.name}: no formula uses `{name}`")
    sees_complex = any(
        re.search(r"\b(fma|mul|add)\(", f.text) for fs in counts.values() for _, f in fs
    )
    for sample in op.samples:
        real_only = not sees_complex and any(
            v in COMPLEX for v in sample["with"].values() if isinstance(v, str)
        )
        call = call_of(op, sample)
        direction = call.get("pass") or call.get("kind", "fprop")
        met[direction] = met.get(direction, 0) + 1
        for name in COUNTS:
            compiled = sample.get({"FLOPs": "flops"}.get(name, name))
            formula = formula_for(counts, name, direction)
            if (
                real_only and "flops" in name.lower()
            ):  # of complex numbers the formulas state bytes alone
                continue
            if compiled is None and (formula is None or op is not origin):
                continue
            if compiled is None:
                return errors + [f"{op.name} has no {name}() in the code"]
            if formula is None:
                if compiled == 0 and name in ("transcendentals", "parameters"):
                    continue
                if (
                    name in COUNTS[-3:] and compiled == sample[name.split("_")[0]]
                ):  # no other than by primitives
                    continue
                return errors + [f"{op.name}: the comment has no formula for {name} of {direction}"]
            try:
                stated = formula({**where, **call})
            except (TypeError, ZeroDivisionError, KeyError) as error:
                return errors + [
                    f"{op.name}: `{formula.text}` cannot be evaluated for {sample['with']}: {error!r}"
                ]
            if stated != compiled:
                return errors + [
                    f"{op.name}: {name} is {compiled}, but `{formula.text}` gives {stated} for {sample['with']}"
                ]
    for name, stated in counts.items() if op is origin else ():
        errors += [
            f"{op.name}: no random call is one of {p}, of which the comment states {name}"
            for passes, _ in stated
            for p in passes or ()
            if p not in met
        ]
    for direction, calls in met.items():
        by_itself = any(
            other.like is op and direction in other.given.values()
            for other in Operator.references.values()
        )  # AllReduce of Collective
        if calls < FEWEST and not by_itself:
            errors.append(
                f"{op.name}: only {calls} random calls of {direction} are valid; nothing is shown by so few"
            )
    return errors + check_large(op, counts, where)


# ---- the page

PREFACE = """# Every operator of the catalogue

Made from the code by `tests/docs/catalogue_page.py`, which also evaluates each formula for random calls and compares it with what the
compiled operator gives. How operators are used, and by what rules they count, is on [the catalogue's page](catalogue.md).

What stands side by side is multiplied. `[condition]` is 1 where the condition holds, else 0. `bytes(n, type)` is what `n` elements take,
packed: `ceil(n bits(type) / 8)`; `dtypeW or type` is the first of the two that is known, and `[condition] int64` is
known where the condition holds; `Dv or D` the first that is not 0.
`sum(i < n: ...)` goes over i = 0 to n - 1. `fma(type)`, `mul(type)` and `add(type)` are the FLOPs of a multiply-add, a multiplication
and an addition: 2, 1 and 1, and 8, 6 and 2 of complex numbers; where a formula of a product says 2, complex types count 8 as well.
Of a list of sizes `prod(n)` is the product, `dims(n)` the number, `last(n)` the last; `n - 2 r` takes `2 r` from each.
Sizes are in elements unless a field says otherwise. A call without output reads nothing. Enumerations are in `kprof::ops`, but for
`kprof::dtype`.
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
            if kind == "pass"
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
                f"| {TITLE[name]}{' of ' + of if of else ' otherwise' if len(stated) > 1 else ''} | `{cell(text)}` |"
            )
    for _, text in op.comment.all("where"):
        lines.append(f"| where | `{cell(text)}` |")
    for name in ("source", "others"):
        for _, text in op.comment.all(name):
            lines.append(f"| {TITLE[name]} | {cell(text)} |")
    lines.append(
        f"| arithmetic | {UNITS.get(units, 'scalar or matrix product')}{'; passes ' + ', '.join(op.passes) if op.passes else ''} |"
    )
    return lines


def wrapped(text):
    return textwrap.wrap(
        " ".join(text.split()), 140, break_long_words=False, break_on_hyphens=False
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
            f"Counts as [{op.like.name}](#{op.like.name.lower()}){' with ' + ', '.join(with_) if with_ else ''}."
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
                f"Under names of their own, with the fields {', '.join(f'`{f[0]}`' for f in same)}: {names}."
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
            f"| [{op.name}](#{of.name.lower()}) | `{op.comment.header}` | {counts} | {', '.join(op.passes)} |"
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


def read(root, samples):
    introductions, comments, glossary = {}, {}, {}
    for header in sorted((root / "include/kprof/ops").glob("*.hpp")):
        introductions[header.name], found = comments_of(header)
        for comment in found:
            comments.setdefault(comment.name, comment)
    for line in (root / "include/kprof/ops/common.hpp").read_text().split("\n"):
        if said := re.match(r"^//   `(\w+)`\s+(.*)$", line):
            glossary[said[1]] = said[2]
    operators, errors = {}, []
    for line in samples.splitlines():
        compiled = json.loads(line)
        if compiled["name"] not in comments:
            errors.append(
                f"{compiled['name']}: no struct or alias of include/kprof/ops is called so"
            )
            continue
        operators[compiled["name"]] = Operator(compiled, comments[compiled["name"]])
    Operator.references = operators
    for op in operators.values():
        op.find_like(operators)
    return operators, introductions, glossary, errors


def check(operators, glossary):
    errors = []
    for op in operators.values():
        try:
            if op.origin() is op:
                for tag in ("FLOPs", "read", "written", "source"):
                    if not op.comment.all(tag):
                        errors.append(f"{op.name}: the comment has no `{tag}:`")
            errors += check_operator(op)
        except Mistake as mistake:
            errors.append(f"{op.name}: {mistake}")
        errors += [
            f"{op.name}: nothing says what `{f[0]}` is"
            for f in op.fields
            if not op.meaning(f[0], glossary)
        ]
    return errors


# ---- whether it finds what it is there to find

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
            "pass": "pass",
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


def self_test():
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
                f"a large call with `{becomes}` is not found: {errors_of(HEADER, samples.replace(was, becomes, 1))}"
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


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
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
        f"{len(operators)} operators, {calls} random calls: {f'{len(errors)} errors' if errors else 'in order'}"
    )
    sys.exit(1 if errors else 0)


main()
