#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a header of the page's sources in tools/page/:

    embed_page.py write | check | into PAGE... | --self-test

    write      writes include/kprof/report/html/source.hpp
    check      fails where that header is not what the sources give
    into PAGE  puts the sources' style and script into pages that were already written, so that a
               change can be looked at without a compiler

The scripts share one scope, in the order of SCRIPTS. Indentation, comments, and spaces and
new lines around punctuation are left out of the header; texts stay as they are.
"""

import difflib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
HEADER = "include/kprof/report/html/source.hpp"
STYLES = ("page.css", "sections.css")
SCRIPTS = """
    core.js overview.js columns.js operators.js detail.js roofline.js tree.js timeline_model.js
    timeline.js timeline_dense.js timeline_input.js steps.js rest.js
""".split()
COMPARE, LAST = "compare.js", "main.js"  # the first only in a page that compares
LONGEST = 60_000  # of a string literal: compilers need not take more than 65,536
TOP = """// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_HTML_SOURCE_HPP
#define KPROF_REPORT_HTML_SOURCE_HPP

// The frame, style and script of the page that the output "html" writes. Made from the files in
// tools/page/ by cmake/embed_page.py: change those, not this file. Included by page.hpp.

#include <kprof/build_options.hpp>

#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

"""
END = """
}  // namespace detail
KPROF_DETAIL_END

#endif
"""


def fail(message):
    sys.exit(f"embed_page: {message}")


def shortened(text):
    """Without indentation, empty lines and lines that are a comment."""
    lines, inside = [], False
    for line in text.split("\n"):
        line = line.strip()
        inside = inside or line.startswith("/*")
        if not inside and line and not line.startswith("//"):
            lines.append(line)
        if inside and line.endswith("*/"):
            inside = False
    return "\n".join(lines) + "\n"


#: A text, a comment, or an expression of a script, where it begins after what comes before it.
TEXT = re.compile(r"""
    (?P<kept> "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' )
  | (?P<comment> //[^\n]* | /\*.*?\*/ )
  | (?P<template> ` )
  | (?P<expression> (?<=[(,=:\[!&|?{};\n]) \ ? /(?![/*])
                    (?: [^/\\\[\n] | \\. | \[(?:[^\]\\]|\\.)*\] )+ /[a-z]* )
""", re.X | re.S)


def template_end(script, at):
    """Behind the template that begins at `at`, with the expressions in it."""
    at += 1
    while script[at] != "`":
        if script.startswith("${", at):
            depth, at = 0, at + 1
            while True:
                if script[at] == "`":
                    at = template_end(script, at) - 1
                elif script[at] in "\"'":
                    at = TEXT.match(script, at).end() - 1
                depth += {"{": 1, "}": -1}.get(script[at], 0)
                at += 1
                if depth == 0:
                    break
            continue
        at += 2 if script[at] == "\\" else 1
    return at + 1


def joined(script):
    """Declarations that follow one another as one, where nothing in the first may end it before."""

    def join(found):
        is_whole = found[1].count("(") == found[1].count(")")
        return found[1] + ("," if is_whole else ";let ")

    return re.sub(r"(\blet [^;{}`]*);let (?=[^;]*=)", join, script)


def packed_script(script):
    """Without comments, without spaces beside punctuation and without brackets around a single
    parameter, but for texts and new lines: these end statements where no semicolon does. What
    does not change is declared by the shorter word too."""
    out, at = [], 0

    def pack(code):
        code = re.sub(r"((?<!\+)\+|=>) *\n\s*", r"\1 ", code)
        code = re.sub(r" *([,;:{}()\[\]=<>?&|*!]) *", r"\1", re.sub(r" +", " ", code))
        # Beside a name, a bracket or a text, which is where `code` ends, a sign is no other one.
        code = re.sub(r"(^|[\w)\]]) ?([+-]) ?(?=[\w(\[]|$)", r"\1\2", code)
        code = re.sub(r"(?<![\w$)\]])\((\w+)\)=>", r"\1=>", code.replace(" / ", "/"))
        code = re.sub(r"\bconst\b(?=[ {\[])", "let", re.sub(r"(?<![\w.$])0\.(?=\d)", ".", code))
        code = re.sub(r" ([+-]=)|([)\]]/) ", r"\1\2", code)
        code = re.sub(r"([|&=?:])\n\s*", r"\1", re.sub(r"\s*\n\s*(?=[?:|&.)\]}])", "", code))
        code = re.sub(r"([,;({\[])\n\s*", r"\1", code)
        out.append(re.sub(r"[;,]\s*}|,(?=[\])])", lambda end: end[0][1:].strip(), code))

    while True:
        found = TEXT.search(script, at)
        if not found:
            pack(script[at:])
            whole = re.sub(r" *\n\s*", "\n", "".join(out))
            return joined(joined(re.sub(r"}\n(?=(?:function|return|let|if|for)\b)", "}", whole)))
        pack(script[at : found.start()])
        at = found.end()
        if found["template"]:
            at = template_end(script, found.start())
        if not found["comment"]:
            out.append(script[found.start() : at].strip())


def packed_style(style):
    style = re.sub(r"([:;,{])\s", r"\1", style).replace(" {", "{").replace(" }", "}")
    return style.replace(" > ", ">").replace(";}", "}").replace("}\n", "}") + "\n"


def sources(folder):
    """The frame, and piece by piece the style, the script, what compares, and the script's end."""

    def read(name):
        path = folder / name
        if not path.is_file():
            fail(f"{path} does not exist")
        return path.read_text()

    listed = {*STYLES, *SCRIPTS, COMPARE, LAST, "page.html"}
    for path in folder.iterdir():
        if path.suffix in (".js", ".css", ".html") and path.name not in listed:
            fail(f"{path} is in no list of embed_page.py")
    def packed(name):
        return packed_script(shortened(read(name)))

    return {
        "page_frame": read("page.html"),
        "page_style": [packed_style(shortened(read(n))) for n in STYLES],
        "page_script": ['"use strict";\n(() => {\n', *map(packed, SCRIPTS)],
        "page_comparing": [packed(COMPARE)],
        "page_script_end": [packed(LAST), "})();\n"],
    }


def literal(text, name):
    if ')page"' in text or "</script" in text.lower() and name != "page_frame":
        fail(f"{name} holds what ends a literal or an element")
    if len(text.encode()) > LONGEST:
        fail(f"{name} has a piece of {len(text.encode())} bytes, the limit is {LONGEST}")
    return f'R"page({text})page"'


def header(folder):
    all_pieces = sources(folder)
    frame = all_pieces.pop("page_frame")
    out = TOP + f"inline constexpr std::string_view page_frame = {literal(frame, 'page_frame')};\n"
    for name, pieces in all_pieces.items():
        out += f"\ninline constexpr std::string_view {name}[] = {{\n"
        out += "".join(literal(piece, name) + ",\n" for piece in pieces) + "};\n"
    return out + END


def into(page, folder):
    """The page with the sources' style and script."""
    found = sources(folder)
    scripts = found["page_script"] + found["page_comparing"] + found["page_script_end"]
    text = page.read_text()
    for tag, pieces in (("style", found["page_style"]), ("script", scripts)):
        begin = text.rindex(f"<{tag}>") + len(tag) + 2
        text = text[:begin] + "\n" + "".join(pieces) + text[text.index(f"</{tag}>", begin) :]
    page.write_text(text)


def self_test():
    cases = (
        ("  a();\n\n  // why\n  b();", "a();\nb();\n"),
        ("/** What\n *  it does. */\nf();", "f();\n"),
        ("/** One line. */\nconst a = 1;  // kept", "const a = 1;  // kept\n"),
        ("a { color: red; }\n/* two */\nb {}", "a { color: red; }\nb {}\n"),
    )
    for text, expected in cases:
        if shortened(text) != expected:
            fail(f"{text!r} gives {shortened(text)!r}")
    scripts = (
        ("const a = 1;  // why", "let a=1;"),
        ("f(a, \"b, c\", 'd : e');", "f(a,\"b, c\",'d : e');"),
        ("f(`a, ${g({ b: `c, ${d}` }, \"}\")} : e`, 1);",
         "f(`a, ${g({ b: `c, ${d}` }, \"}\")} : e`,1);"),
        ("x = t.replace(/[/ ] ,/g, \" \");", "x=t.replace(/[/ ] ,/g,\" \");"),
        ("a = b / c, d = e / f;", "a=b/c,d=e/f;"),
        ("return a - -b;\nlet x = y + +z;", "return a - -b;let x=y + +z;"),
        ("x = a + (b - c) + \"d\" + e + `f`;", "x=a+(b-c)+\"d\"+e+`f`;"),
        ("f(a,\n  { b,\n c });\ng();", "f(a,{b,c});g();"),
        ("if (a) {\n  b();\n}\nc();", "if(a){b()}\nc();"),
        ("return -a;\nx = \"b\" + -c;", "return-a;x=\"b\" + -c;"),
        ("x = a++ + b - --c;", "x=a++ + b - --c;"),
        ("const a = f(1);\nconst b = 2;\nc();", "let a=f(1),b=2;c();"),
        ("for (const a of b) c(a);\nconst { d } = e;", "for(let a of b)c(a);let{d}=e;"),
        ("a += (b) / c;\nf([0.5,\n10.5]);", "a+=(b)/c;f([.5,10.5]);"),
        ("f([d,\n]);", "f([d]);"),
        ("f(\"a\" +\n  b, (c) =>\n  d);", "f(\"a\"+b,c=>d);"),
        ("function f() {\n}\nfunction g() {}", "function f(){}function g(){}"),
        ("a = b ||\n  c\n    ? d\n    : e;", "a=b||c?d:e;"),
        ("for (const a of b) c(a);\nconst d = e;", "for(let a of b)c(a);let d=e;"),
        ("f((a) => g((b, c) => b));\nh(a)((b) => c);", "f(a=>g((b,c)=>b));h(a)(b=>c);"),
    )
    for text, expected in scripts:
        if packed_script(text) != expected:
            fail(f"{text!r} gives {packed_script(text)!r}")
    if packed_style("a > b { c: d, e;\nf: g; }\nh { i: j; }") != "a>b{c:d,e;f:g}h{i:j}\n":
        fail("a style has another form")
    if not re.fullmatch(r'R"page\(a\)page"', literal("a", "x")):
        fail("a literal has another form")
    for wrong in ('a)page"', "a</SCRIPT", "a" * (LONGEST + 1)):
        try:
            literal(wrong, "page_script")
        except SystemExit:
            continue
        fail(f"{wrong[:20]!r} is taken")
    print("embed_page: in order")


def main():
    what, *rest = sys.argv[1:] or [""]
    if what == "--self-test":
        self_test()
    elif what == "write":
        (ROOT / HEADER).write_text(header(ROOT / "tools" / "page"))
    elif what == "into":
        for page in rest:
            into(pathlib.Path(page), ROOT / "tools" / "page")
    elif what == "check":
        found, wanted = (ROOT / HEADER).read_text(), header(ROOT / "tools" / "page")
        if found != wanted:
            both = found.split("\n"), wanted.split("\n")
            lines = difflib.unified_diff(*both, "there", "tools/page/", n=1)
            print("\n".join(list(lines)[:40]))
            fail(f"{HEADER} is not what tools/page/ gives; write it by cmake/embed_page.py write")
        print(f"{HEADER} is up to date")
    else:
        sys.exit(__doc__)


main()
