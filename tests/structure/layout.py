#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks how the sources are laid out.

    layout.py limits <repository>     no file has more than MAX_LINES lines, or a line of more than
                                      MAX_COLUMNS columns
    layout.py format <repository>     C++ and CUDA sources are as clang-format 14 writes them; ends
                                      with 77 where there is no clang-format 14
    layout.py --self-test

Generated and recorded files (GENERATED) have no limits, and pages of Markdown none of lines. Three
things have no limit of columns: rows of Markdown's tables, Markdown's code blocks of program output
(those without a language, and ```text), and what cannot be broken, such as a long address. The
recorded output at the end of an example is a report 100 columns wide behind the mark of a comment.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MAX_LINES = 350
MAX_COLUMNS = 100
FOLDERS = """.github bench cmake docs examples include packaging tests tools""".split()
CXX = {".hpp", ".h", ".cpp", ".cu", ".cuh"}
SUFFIXES = CXX | {".py", ".sh", ".cmake", ".in", ".yml", ".md", ".js", ".css", ".html"}
GENERATED = (
    "bench/results/",
    "docs/catalogue_reference.md",
    "include/kprof/report/html/source.hpp",
    "single_include/",
    "tests/golden/",
    "tests/gpu/records/",
)
OUTPUT = "// Output:"
FORMATTERS = ("clang-format-14", "clang-format")


def is_source(path):
    return path.suffix in SUFFIXES or path.name in ("CMakeLists.txt", ".clang-format")


def sources(root):
    """Every source file below `root` by its name there, without those that were generated."""
    found = [path for path in root.iterdir() if path.is_file()]
    for folder in FOLDERS:
        found += [path for path in (root / folder).rglob("*") if path.is_file()]
    for path in sorted(found):
        name = path.relative_to(root).as_posix()
        if is_source(path) and "__pycache__" not in path.parts:
            if not name.startswith(GENERATED):
                yield name, path


def lines_of_markdown(lines):
    """The lines with a limit, each with its number: prose and the code blocks of a language."""
    language = None
    for number, line in enumerate(lines, 1):
        fence = re.match(r" *```(\w*)", line)
        if fence:
            language = fence[1] or "text" if language is None else None
        elif language != "text" and not line.lstrip().startswith("|"):
            yield number, line, MAX_COLUMNS


def lines_of_source(lines):
    """Every line with its number and its limit."""
    limit = MAX_COLUMNS
    for number, line in enumerate(lines, 1):
        if line == OUTPUT:
            limit = MAX_COLUMNS + len("// ")
        yield number, line, limit


def is_unbreakable(line):
    """Whether the line is one word behind its indentation, a comment's mark or a list's."""
    return " " not in re.sub(r"^\s*(//+<?|#+|[-*]|\d+\.)?\s*", "", line)


def check_limits(root):
    errors = []
    for name, path in sources(root):
        lines = path.read_text().split("\n")
        if len(lines) - 1 > MAX_LINES and path.suffix != ".md":
            errors.append(
                f"{name}: {len(lines) - 1} lines, the limit is {MAX_LINES}; it probably holds two "
                "ideas"
            )
        limited = lines_of_markdown if path.suffix == ".md" else lines_of_source
        for number, line, limit in limited(lines):
            if len(line) > limit and not is_unbreakable(line):
                errors.append(f"{name}:{number}: {len(line)} columns, the limit is {limit}")
    return errors


def clang_format():
    """The program clang-format of version 14, which others lay out differently from, or None."""
    for name in FORMATTERS:
        if shutil.which(name):
            version = subprocess.run([name, "--version"], text=True, capture_output=True).stdout
            if re.search(r"version 14\.", version):
                return name
    return None


def check_format(root, program):
    names = [name for name, path in sources(root) if path.suffix in CXX]
    run = subprocess.run([program, "--dry-run", *names], text=True, capture_output=True, cwd=root)
    found = re.findall(r"^(.*?):(\d+):\d+: warning: code should be", run.stderr, re.MULTILINE)
    errors = [f"{name}:{line}: not as {program} writes it" for name, line in found]
    if run.returncode != 0 or (run.stderr and not errors):
        errors.append(run.stderr.strip() or f"{program} ended with {run.returncode}")
    return errors


LONG = "x = " + "1 + " * 30 + "1"


def limits_cases():
    """For each case: a file's name, its text and what is said of it, or None."""
    table = "| a | b |\n|---|---|\n| " + "word " * 30 + "| b |\n"
    address = "https://example.org/" + "a" * 100
    recorded = "int a;\n\n// Output:\n// " + "ab " * 33 + "a\n"
    return (
        ("include/kprof/a.hpp", "int a;\n" * MAX_LINES, None),
        ("include/kprof/a.hpp", "int a;\n" * (MAX_LINES + 1), "351 lines, the limit is 350"),
        ("tests/a.py", LONG[:MAX_COLUMNS] + "\n", None),
        ("tests/a.py", "\n" + LONG[: MAX_COLUMNS + 1] + "\n", "a.py:2: 101 columns"),
        ("tests/a.py", "# " + "\u2500 " * 50 + "\n", "columns"),
        ("CMakeLists.txt", LONG + "\n", "columns"),
        ("tests/CMakeLists.txt", LONG + "\n", "columns"),
        (".github/workflows/a.yml", LONG + "\n", "columns"),
        ("tests/golden/a.md", LONG + "\n", None),
        ("single_include/a.hpp", LONG + "\n", None),
        ("include/kprof/report/html/source.hpp", LONG + "\n", None),
        ("tools/page/a.js", LONG + "\n", "columns"),
        ("docs/a.md", "a\n" * 400, None),
        ("docs/a.md", LONG + "\n", "columns"),
        ("docs/a.md", table, None),
        ("docs/a.md", "```\n" + LONG + "\n```\n", None),
        ("docs/a.md", "```text\n" + LONG + "\n```\n", None),
        ("docs/a.md", "```cpp\n" + LONG + "\n```\n", "columns"),
        ("docs/a.md", "```\na\n```\n" + LONG + "\n", "columns"),
        ("docs/a.md", f"- {address}\n", None),
        ("docs/a.md", f"See {address}\n", "columns"),
        ("examples/a.cpp", f"// {address}\n", None),
        ("examples/a.cpp", recorded, None),
        ("examples/a.cpp", recorded.replace("ab ", "ab  ", 1), "104 columns, the limit is 103"),
        ("examples/a.cpp", recorded.replace("// Output:", "//"), "columns"),
    )


def with_file(name, text, judge):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        style = pathlib.Path(__file__).resolve().parents[2] / ".clang-format"
        (pathlib.Path(folder) / ".clang-format").write_text(style.read_text())
        return judge(pathlib.Path(folder))


def self_test():
    failures = []
    for name, text, expected in limits_cases():
        errors = with_file(name, text, check_limits)
        if expected is None and errors:
            failures.append(f"{name} is refused: {errors}")
        if expected is not None and not any(expected in e for e in errors):
            failures.append(f"{name}: `{expected}` is not found: {errors}")
    program = clang_format()
    if program:
        for name, text, right in (
            ("include/a.hpp", "int a = 1;\n", True),
            ("include/a.hpp", "int  a=1;\n", False),
            ("examples/a.cu", "int a = 1 ;\n", False),
            ("tests/golden/a.hpp", "int  a=1;\n", True),
        ):
            errors = with_file(name, text, lambda root: check_format(root, program))
            if right != (not errors):
                failures.append(f"{name} with `{text.strip()}`: {errors}")
    return failures


def main():
    what, *rest = sys.argv[1:] or [""]
    if what == "--self-test":
        errors = self_test()
    elif what == "limits":
        errors = check_limits(pathlib.Path(rest[0]))
    elif what == "format":
        program = clang_format()
        if not program:
            print("skipped: no clang-format 14 here; Debian's package is clang-format-14")
            sys.exit(77)
        errors = check_format(pathlib.Path(rest[0]), program)
    else:
        sys.exit(__doc__)
    for error in errors:
        print(error)
    print("layout:", f"{len(errors)} errors" if errors else "in order")
    sys.exit(1 if errors else 0)


main()
