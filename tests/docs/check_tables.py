#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the tables of settings, options and columns in the documentation with the code's.

    check_tables.py check|write <repository> <program tables>
    check_tables.py --self-test

A table of a page that follows `<!-- table: NAME -->` has the rows that the program prints under
NAME. The comment at the head of settings.hpp has the settings too. "write" puts them there.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

sys.dont_write_bytecode = True
import pages

SETTINGS = "include/kprof/settings.hpp"
FIRST = "//   on "  # of the comment's lines that list the settings; an empty line ends them


def tables_of(printed):
    """The rows of each table, by its name."""
    tables = {}
    for line in printed.splitlines():
        name, *cells = line.split("\t")
        tables.setdefault(name, []).append(cells)
    return tables


def markdown(cells):
    row = "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    return row.replace("|  |", "| |")


def page_with(text, tables, found):
    """The text of a page with its tables as they should be; notes the tables that it has."""
    out, lines = [], text.split("\n")
    while lines:
        out.append(lines.pop(0))
        marker = re.fullmatch(r"<!-- table: (.*) -->", out[-1])
        if not marker:
            continue
        found.append(marker[1])
        out += lines[:2]  # the header and its rule
        rest = lines[2:]
        while rest and rest[0].startswith("|"):
            rest.pop(0)
        out += [markdown(row) for row in tables.get(marker[1], [])]
        lines = rest
    return "\n".join(out)


def comment(rows):
    lines = []
    for usage, default, meaning in rows:
        words = meaning.replace("`", "") + (f" (default {default.strip('`')})" if default else "")
        usage = usage.strip("`")
        if len(usage) > 22:  # too long to have its meaning beside it
            lines.append(f"//   {usage}")
            usage = ""
        for i, line in enumerate(textwrap.wrap(words, 100 - 28)):
            lines.append(f"//   {usage if i == 0 else '':<22} {line}")
    return lines


def settings_with(text, rows):
    lines = text.split("\n")
    begin = next((i for i, line in enumerate(lines) if line.startswith(FIRST)), None)
    if begin is None:
        return None
    end = begin + lines[begin:].index("//")
    return "\n".join(lines[:begin] + comment(rows) + lines[end:])


def check(root, tables, write=False):
    errors, found = [], []
    wanted = {}
    for path in pages.pages(root):
        wanted[path] = page_with(path.read_text(), tables, found)
    settings = root / SETTINGS
    wanted[settings] = settings_with(settings.read_text(), tables.get("settings", []))
    for path, text in wanted.items():
        name = path.relative_to(root).as_posix()
        if text is None:
            errors.append(f"{name}: no line begins with `{FIRST}`")
        elif text != path.read_text() and write:
            path.write_text(text)
        elif text != path.read_text():
            errors.append(f"{name}: a table is not the code's; run this script with `write`")
    errors += [f"no page has the table `{name}`" for name in tables if name not in found]
    errors += [f"the program prints no table `{name}`" for name in found if name not in tables]
    return errors


def self_test():
    printed = "settings\t`on`\t\tdo\nsettings\t`a=x|y`\t`x`\twhat\ncolumns\t`c`\tC\td\n"
    page = "<!-- table: settings -->\n| a | b | c |\n|---|---|---|\n| `on` | | do |\n"
    page += "| `a=x\\|y` | `x` | what |\n\n<!-- table: columns -->\n| a |\n|---|\n| `c` | C | d |\n"
    header = "//\n" + "\n".join(comment(tables_of(printed)["settings"])) + "\n//\n"
    good = {"README.md": page, SETTINGS: header}
    bad = {
        "a row that differs": ("README.md", "| do |", "| done |", "is not the code's"),
        "a row that is missing": ("README.md", "| `on` | | do |\n", "", "is not the code's"),
        "a comment that differs": (SETTINGS, "what", "that", "is not the code's"),
        "a comment that is gone": (SETTINGS, FIRST, "//   of ", "no line begins"),
        "a table that is gone": ("README.md", "table: columns", "list", "has the table `columns`"),
        "an unknown table": ("README.md", "table: columns", "table: c", "no table `c`"),
    }

    def run(files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check(pathlib.Path(folder), tables_of(printed))

    failures = [f"the good tree is refused: {e}" for e in run(good)]
    for what, (file, old, new, expected) in bad.items():
        errors = run({**good, file: good[file].replace(old, new)})
        if not any(expected in e for e in errors):
            failures.append(f"{what} is not found; errors: {errors}")
    return failures


def main():
    if sys.argv[1:] == ["--self-test"]:
        errors = self_test()
    elif len(sys.argv) == 4 and sys.argv[1] in ("check", "write"):
        printed = subprocess.run([sys.argv[3]], capture_output=True, text=True, check=True).stdout
        errors = check(pages.root_of(sys.argv[2]), tables_of(printed), sys.argv[1] == "write")
    else:
        sys.exit(__doc__)
    for error in errors:
        print(error)
    print("tables of the documentation:", f"{len(errors)} errors" if errors else "in order")
    sys.exit(1 if errors else 0)


main()
