# SPDX-License-Identifier: MIT
"""Reads what the headers of the catalogue say of their operators in comments:

    /// FLOPs: 2 M N K batch                       for passes that no other line names
    /// FLOPs(dgrad, wgrad): 2 M N K               also: read, written, transcendentals, parameters,
                                                   flops_valid, ...; of an operator without passes
                                                   that has a `kind`: FLOPs(max): ...
    ///   + M N                                    a line goes on indented
    /// where: P = floor((H - R) / U) + 1          a name that the formulas use
    /// source: PyTorch flop_counter.py            whom the formulas follow
    /// others: CUTLASS adds 2 M N                 who counts differently
    /// like: Conv3d                               formulas, and meanings of fields, of another
                                                   operator: fields of it that this one lacks have
                                                   their defaults, or the value given, or that of
                                                   the field given: "like: Gemm, dtypeA = type"; and
                                                   names of `where`: "like: Rnn, G = 4"; of a
                                                   template the parameter: "kind = Kind"
    std::int64_t M = 1, N = 1;                     ///< rows of A; columns
                                                   ///< of B

A declaration, and the meaning of its fields, may go on in the lines that follow.
"""

import re

from catalogue_formulas import Mistake

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
                    f"{name}: `{line}` behind the formulas is neither one nor goes on with one, "
                    "indented"
                )
            elif not line.startswith("    "):  # an example
                self.text.append(line)

    def all(self, tag):
        return [(of, text) for t, of, text in self.tags if t == tag]

    def one(self, tag):
        found = self.all(tag)
        return found[0][1] if found else None


def joined(lines):
    """The lines, but a declaration and its meaning, each of which may take several, are one."""
    out = []
    for line in lines:
        before = out[-1] if out else ""
        if re.match(r" +///< ", line) and "///<" in before:
            out[-1] += " " + line.split("///< ", 1)[1]
        elif re.match(r"  \w.*[,=]$", before) and re.match(r"   +[\w{]", line):
            out[-1] += " " + line.strip()
        else:
            out.append(line)
    return out


def comments_of(header):
    """The operators that a header declares, and its introduction."""
    found, block, struct, templates = [], [], None, {}
    lines = header.read_text().split("\n")
    introduction, parameter = [], None
    for line in lines[4:]:
        if not line.startswith("//"):
            break
        introduction.append(line[3:])
    for line in joined(lines):
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
