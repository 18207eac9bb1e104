# SPDX-License-Identifier: MIT
"""Compares the catalogue's operators, as compiled, with what their comments say."""

import functools
import json
import re

from catalogue_comments import COUNTS, comments_of
from catalogue_formulas import COMPLEX, Formula, Mistake, TooLong

FEWEST = 12  # calls of each pass


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
        """Of a field: what its own comment says, or that of the operator it refers to, of `like`,
        of the glossary, of the header's first.
        """
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
    """Calls with sizes of any magnitude: what fits 61 bits must be counted, exactly, and what does
    not fit 64 must not be.
    """
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
                    f"{op.name}: of {sample['with']} it counts {compiled}, and the formulas say "
                    f"{({k: int(v) for k, v in stated.items()})}"
                ]
        elif largest < 2**61:
            return [
                f"{op.name}: does not count {sample['with']}, where nothing is larger than "
                f"{int(largest)}"
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
                    f"{op.name}: `{formula.text}` cannot be evaluated for {sample['with']}: "
                    f"{error!r}"
                ]
            if stated != compiled:
                return errors + [
                    f"{op.name}: {name} is {compiled}, but `{formula.text}` gives {stated} for "
                    f"{sample['with']}"
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
                f"{op.name}: only {calls} random calls of {direction} are valid; nothing is shown "
                "by so few"
            )
    return errors + check_large(op, counts, where)


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
