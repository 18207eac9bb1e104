#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles every cpp block of README.md and docs: check_snippets.py [--self-test] <repository>
[<compiler> [flags...]]

Without a compiler: g++, and clang++ where there is one. A block is
- a program if it has a main(); it is compiled exactly as it stands (check_readme.py runs those
  whose output is shown);
- declarations, at namespace scope; this needs no comment;
- statements, in a function of their own;
- rejected: TEXT: declarations that must not compile, with TEXT among the compiler's messages.

The comment before a block (see pages.py) gives its kind, `as NAME` a name, and `with NAME...` the
blocks that come before it, hidden ones among them. What is no program is compiled behind the
headers in PREAMBLE, unless it includes a kprof header of its own, and `off` compiles it with
KPROF_ENABLE=0 too.
"""

import concurrent.futures
import dataclasses
import pathlib
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
import pages
from snippet_compiler import Compiler

PREAMBLE = [
    "array",
    "cstdint",
    "cstdio",
    "cstdlib",
    "functional",
    "memory",
    "string",
    "string_view",
    "thread",
    "utility",
    "vector",
    "kprof/kprof.hpp",
    "kprof/report/destination.hpp",
    "kprof/tables.hpp",
]  # kprof.hpp with its session has them
JOBS = 2
OFF = ("-DKPROF_ENABLE=0",)
# What cannot stand in a namespace.
OUTSIDE = re.compile(r"^(#include|struct kprof::|template class kprof::)", re.MULTILINE)


@dataclasses.dataclass
class Snippet:
    block: pages.Block
    kind: str
    name: str = ""
    needs: tuple = ()
    message: str = ""
    off: bool = False


def read(block, errors):
    text = block.directive
    text, _, message = text.partition("rejected: ")
    kind = (
        "rejected"
        if message
        else "program"
        if re.search(r"^int main\(", block.text, re.MULTILINE)
        else "declarations"
    )
    snippet = Snippet(block, kind, message=message)
    for part in filter(None, text.split(", ")):
        word, _, rest = part.partition(" ")
        if part in ("declarations", "statements"):
            snippet.kind = part
        elif part == "off":
            snippet.off = True
        elif word == "as" and rest:
            snippet.name = rest
        elif word == "with" and rest:
            snippet.needs = tuple(rest.split())
        else:
            errors.append(
                f"{block.place}: `{part}` in the comment is unknown; see check_snippets.py"
            )
    return snippet


def snippets(found, errors):
    """Those of the pages, and by page and name those that others may need."""
    listed, named = [], {}
    for block in found:
        if block.language not in ("cpp", "hidden"):
            continue
        snippet = read(block, errors)
        if snippet.name:
            key = (block.page, snippet.name)
            if key in named:
                errors.append(f"{block.place}: a second block called {snippet.name}")
            named[key] = snippet
        if block.language == "cpp":
            listed.append(snippet)
    for snippet in listed:
        for name in snippet.needs:
            if (snippet.block.page, name) not in named:
                errors.append(
                    f"{snippet.block.place}: there is no block called {name} on this page"
                )
    return listed, named


def with_needs(snippet, named, seen=None):
    """The snippet behind all that it needs."""
    seen = [] if seen is None else seen
    for name in snippet.needs:
        other = named.get((snippet.block.page, name))
        if other is not None and other not in seen:
            with_needs(other, named, seen)
    seen.append(snippet)
    return seen


def code(snippet, named):
    parts = with_needs(snippet, named)
    marked = {id(p): f'#line {p.block.line} "{p.block.page}"\n{p.block.text}' for p in parts}
    text = "".join(marked[id(p)] for p in parts if p.kind != "statements")
    inside = "".join(marked[id(p)] for p in parts if p.kind == "statements")
    return text + (f"void snippet() {{\n{inside}\n}}\n" if inside else "")


def check_one(snippet, named, compiler):
    text, place, errors = code(snippet, named), snippet.block.place, []
    alone = snippet.kind == "program" or "#include <kprof/" in text
    if snippet.kind == "rejected":
        good, output = compiler.check(text, alone)
        output = output.replace("\u2018", "'").replace("\u2019", "'")
        if good:
            errors.append(
                f"{place}: compiles with {compiler.command}, but must be rejected: "
                f"{snippet.message}"
            )
        elif snippet.message not in output:
            errors.append(
                f"{place}: {compiler.command} rejects it, but does not say "
                f"`{snippet.message}`:\n{output}"
            )
        return errors
    for more in [(), OFF] if snippet.off else [()]:
        good, output = compiler.check(text, alone, more)
        if not good:
            errors.append(f"{place}: {compiler.command} {' '.join(more)}\n{output}")
    return errors


def good_together(listed, named, compiler):
    """Those that compile in one file, each in a namespace of its own: most do, in a tenth of the
    time. Where one does not, each is compiled by itself."""
    good = set()
    for more in [(), OFF]:
        some = [
            s
            for s in listed
            if s.kind in ("declarations", "statements")
            and (s.off or not more)
            and not OUTSIDE.search(code(s, named))
        ]
        text = "".join(
            f"namespace snippet_{i} {{\n{code(s, named)}\n}}\n" for i, s in enumerate(some)
        )
        if not compiler.check(text, False, more)[0]:
            return set()
        good |= {id(s) for s in some}
    return good


def check(found, compilers):
    errors = []
    listed, named = snippets(found, errors)
    if not listed:
        errors.append("there is no cpp block at all")
    for compiler in compilers:
        compiler.prepare([(), OFF] if any(s.off for s in listed) else [()])
        good = good_together(listed, named, compiler) if len(listed) > 1 else set()
        rest = [s for s in listed if id(s) not in good]
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            for wrong in pool.map(lambda s: check_one(s, named, compiler), rest):
                errors += wrong
    return errors, len(listed)


BAD = {  # page text, and what must be said about it
    "a syntax error": ("```cpp\nint x\n```\n", "page.md:2"),
    "a warning": ("<!-- snippet: statements -->\n```cpp\nint unused = 1;\n```\n", "unused"),
    "a lossy conversion": ("```cpp\ninline int f(long n) { return n; }\n```\n", "onversion"),
    "a name that does not exist": (
        "<!-- snippet: statements -->\n```cpp\nkprof::finish();\n```\n",
        "finish",
    ),
    "an unknown word": (
        "<!-- snippet: statement -->\n```cpp\nint x;\n```\n",
        "`statement` in the comment is unknown",
    ),
    "an unknown need": (
        "<!-- snippet: declarations, with nothing -->\n```cpp\nextern int x;\n```\n",
        "no block called nothing",
    ),
    "two of a name": (
        "<!-- snippet: declarations, as a -->\n```cpp\nextern int x;\n```\n<!-- snippet: "
        "declarations, as a -->\n```cpp\nextern int y;\n```\n",
        "a second block called a",
    ),
    "a comment without a block": (
        "<!-- snippet: statements -->\n\n```cpp\nint x;\n```\n",
        "no block follows",
    ),
    "a block without a language": ("```\nint x;\n```\n", "needs a language"),
    "a block that does not end": ("```cpp\nint x;\n", "does not end"),
    "a rejection that compiles": (
        "<!-- snippet: rejected: kprof: no -->\n```cpp\nextern int x;\n```\n",
        "must be rejected",
    ),
    "a rejection for another reason": (
        "<!-- snippet: rejected: kprof: no -->\n```cpp\nint x\n```\n",
        "does not say",
    ),
    "guards that do not compile when off": (
        "<!-- snippet: statements, off "
        "-->\n```cpp\nstatic_cast<void>(kprof::detail::this_module.api);\n```\n",
        "KPROF_ENABLE=0",
    ),
    "no block": ("nothing\n", "no cpp block"),
}
GOOD = """<!-- hidden: declarations, as op
struct Op { int n = 0; };
-->
<!-- hidden: statements, as values
const int n = 3;
-->
<!-- snippet: statements, with op values, off -->
```cpp
KPROF_OP(Op, {n});
```
<!-- snippet: rejected: kprof: a parameter is a pointer -->
```cpp
struct Bad { float* data; };
static_assert(kprof::flops_of(Bad{}) == 0);
```
```cpp
#include <kprof/guard.hpp>
int main() { KPROF_REGION("r"); }
```
"""


def self_test(compiler):
    def run(text):
        path = compiler.folder / "page.md"
        path.write_text(text)
        found, errors = pages.blocks(path)
        wrong, _ = check(found, [compiler])
        return errors + wrong

    failures = [f"the good page is refused: {e}" for e in run(GOOD)]
    for what, (text, expected) in BAD.items():
        errors = run(text)
        if not any(expected in e for e in errors):
            failures.append(f"{what} is not found; errors: {errors}")
    return failures


def main():
    arguments = sys.argv[1:]
    testing = arguments[:1] == ["--self-test"]
    if testing:
        arguments = arguments[1:]
    if not arguments:
        sys.exit(__doc__)
    root, flags = pages.root_of(arguments[0]), [f"-I{pages.root_of(arguments[0]) / 'include'}"]
    commands = (
        [arguments[1]] if len(arguments) > 1 else [c for c in ("g++", "clang++") if shutil.which(c)]
    )
    with tempfile.TemporaryDirectory() as folder:
        compilers = []
        for number, command in enumerate(commands):
            (pathlib.Path(folder) / str(number)).mkdir()
            compilers.append(
                Compiler(
                    command,
                    flags + arguments[2:],
                    pathlib.Path(folder) / str(number),
                    ["kprof/guard.hpp"] if testing else PREAMBLE,
                )
            )
        if testing:
            errors, count = self_test(compilers[0]), len(BAD) + 1
        else:
            found, errors = pages.all_blocks(root)
            wrong, count = check(found, compilers)
            errors += wrong
    for error in errors:
        print(error)
    print(
        f"snippets: {count}, compilers: {' '.join(commands)}:",
        f"{len(errors)} errors" if errors else "in order",
    )
    sys.exit(1 if errors else 0)


main()
