#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the text of README.md and docs against the tree: check_text.py <repository> | --self-test

- Links lead to files of the tree, and to headings of pages.
- What the first column of a table after `<!-- messages -->` quotes is in a string of the headers
  ("..." stands for anything), and the messages of static_assert and #error are all quoted
  somewhere.
- A page has no spaces at the end of a line, no tabs, no line that is much too long, and ends with
  a line.
"""

import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True
import pages

LONGEST = 150  # of a line that is neither a table's nor a block's
STRINGS = re.compile(r'"((?:[^"\\\n]|\\.)*)"(?:\s*"((?:[^"\\\n]|\\.)*)")*')
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def strings_of(root):
    """The strings of the headers, adjacent ones joined, and the text of #error."""
    found = []
    for path in sorted((root / "include").rglob("*.hpp")):
        text = re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.MULTILINE)
        for literal in STRINGS.finditer(text):
            found.append(
                "".join(LITERAL.findall(literal[0])).replace('\\"', '"').replace("\\\\", "\\")
            )
    return found


def required(strings):
    """What a static_assert or an #error says: it begins with "kprof: "."""
    return [s for s in strings if s.startswith("kprof: ") and s != "kprof: " and "%" not in s]


def anchors(path):
    """Of the headings, as a page's reader makes them."""
    found = set()
    for line in path.read_text().split("\n"):
        if heading := re.match(r"#+ (.*)$", line):
            found.add(re.sub(r"[^\w\- ]", "", heading[1].lower()).replace(" ", "-"))
    return found


def check_links(root, path, name, errors):
    for number, line in enumerate(path.read_text().split("\n"), 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if "://" in target:
                continue
            file, _, anchor = target.partition("#")
            to = path.parent / file if file else path
            if not to.exists():
                errors.append(f"{name}:{number}: {target} leads nowhere")
            elif anchor and anchor not in anchors(to):
                errors.append(f"{name}:{number}: there is no heading #{anchor} in {to.name}")


def check_messages(root, errors):
    strings, quoted = strings_of(root), []
    for path in pages.pages(root):
        for number, cells in pages.tables(path, "messages"):
            for quote in re.findall(r"`([^`]+)`", cells[0]):
                quote = quote.replace("\\|", "|")
                quoted.append(quote)
                for part in filter(None, (p.strip() for p in quote.split("..."))):
                    if not any(part in s for s in strings):
                        errors.append(f"{path.name}:{number}: no header says `{part}`")
    for message in required(strings):
        if not any(message.startswith(q) for q in quoted):
            errors.append(f"no page explains the message `{message}`")


def check_lines(path, name, errors):
    in_block = False
    if not path.read_text().endswith("\n"):
        errors.append(f"{name}: the last line does not end")
    for number, line in enumerate(path.read_text().split("\n"), 1):
        in_block ^= line.startswith("```")
        if line != line.rstrip() or "\t" in line:
            errors.append(f"{name}:{number}: tab, or space at the end of the line")
        if len(line) > LONGEST and not in_block and not line.startswith(("|", "    ")):
            errors.append(
                f"{name}:{number}: {len(line)} characters in a line; "
                f"break it at {LONGEST} at the latest"
            )


def check(root):
    errors = []
    for path in pages.pages(root):
        name = path.relative_to(root).as_posix()
        check_links(root, path, name, errors)
        check_lines(path, name, errors)
    check_messages(root, errors)
    return errors


GOOD = {
    "README.md": "# Title\n[page](docs/reports.md#how-to)\n",
    "docs/reports.md": "## How to\n\n<!-- messages -->\n| a | b |\n|---|---|\n"
    "| `kprof: wrong`, `x ... is bad` | c |\n",
    "include/kprof/a.hpp": '"x " + y + " is bad"\n'
    'static_assert(a, "kprof: wrong; "\n   "mend it");\n',
}
BAD = {
    "a link to no file": ("README.md", "[a](docs/none.md)\n", "leads nowhere"),
    "a link to no heading": ("README.md", "[a](docs/reports.md#none)\n", "no heading #none"),
    "a message that no header has": (
        "docs/reports.md",
        GOOD["docs/reports.md"].replace("is bad", "is good"),
        "no header says `is good`",
    ),
    "a message that no page has": (
        "include/kprof/b.hpp",
        '#error "kprof: new"\n',
        "no page explains the message `kprof: new`",
    ),
    "a space at the end": ("README.md", "# Title \n", "space at the end"),
    "an open last line": ("README.md", "# Title", "does not end"),
    "a long line": ("README.md", "word " * 40 + "end\n", "characters in a line"),
}


def self_test():
    def run(files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check(pathlib.Path(folder))

    failures = [f"the good tree is refused: {e}" for e in run(GOOD)]
    for what, (file, text, expected) in BAD.items():
        errors = run({**GOOD, file: text})
        if not any(expected in e for e in errors):
            failures.append(f"{what} is not found; errors: {errors}")
    return failures


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    errors = self_test() if sys.argv[1] == "--self-test" else check(pages.root_of(sys.argv[1]))
    for error in errors:
        print(error)
    print("text of the documentation:", f"{len(errors)} errors" if errors else "in order")
    sys.exit(1 if errors else 0)


main()
