# SPDX-License-Identifier: MIT
"""Reads the blocks of the documentation's pages: what check_snippets.py, check_readme.py and
check_text.py share.

A block is fenced text with its language, such as ```cpp. A comment in the line before it says more:

    <!-- snippet: statements, as NAME, with OTHER ANOTHER -->   how a cpp block is compiled; see
                                                                check_snippets.py
    <!-- output of NAME -->                                     what the program called NAME prints

and a comment of its own holds code that is compiled but not shown:

    <!-- hidden: declarations, as NAME
    std::vector<float> x;
    -->
"""

import dataclasses
import pathlib
import re

OPEN = re.compile(r"^```(\w+)$")
DIRECTIVE = re.compile(r"^<!-- (snippet|hidden|output)(?::| of) (.*?)( -->)?$")


@dataclasses.dataclass
class Block:
    page: str
    line: int  # of its first line of text
    language: str  # "hidden" for code that is not shown
    directive: str  # what the comment says after its first word; "" without one
    of: str  # "snippet", "hidden", "output" or ""
    lines: list

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"

    @property
    def place(self):
        return f"{self.page}:{self.line}"


def pages(root):
    return [root / "README.md", *sorted((root / "docs").glob("*.md"))]


def blocks(path, name=None):
    """The blocks of a page in their order, and what is wrong with the page."""
    name, found, errors, block = name or path.name, [], [], None
    waiting = None  # a directive that waits for its block
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if block is not None:
            if line == ("-->" if block.language == "hidden" else "```"):
                found.append(block)
                block = None
            else:
                block.lines.append(line)
            continue
        opened, said = OPEN.match(line), DIRECTIVE.match(line)
        if line.startswith("```") and not opened:
            errors.append(
                f"{name}:{number}: a block needs a language, such as ```cpp, ```sh or ```text"
            )
        if opened:
            of, directive = waiting or ("", "")
            block, waiting = Block(name, number + 1, opened[1], directive, of, []), None
        elif waiting is not None:
            errors.append(f"{name}:{number}: no block follows the comment `{waiting[0]}`")
            waiting = None
        if said and (said[1] == "hidden") == bool(said[3]):
            errors.append(
                f"{name}:{number}: the comment `{said[1]}` must "
                f"{'go on in the next line' if said[3] else 'end in its line'}"
            )
        elif said and said[1] == "hidden":
            block = Block(name, number + 1, "hidden", said[2], said[1], [])
        elif said:
            waiting = (said[1], said[2])
    if block is not None:
        errors.append(f"{block.place}: the block does not end")
    return found, errors


def all_blocks(root):
    found, errors = [], []
    for path in pages(root):
        more, wrong = blocks(path, path.relative_to(root).as_posix())
        found += more
        errors += wrong
    return found, errors


def root_of(argument):
    return pathlib.Path(argument).resolve()


def tables(path, marker):
    """Number and cells of the rows of each table that follows the comment `<!-- MARKER -->`."""
    rows, state = [], ""
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line == f"<!-- {marker} -->":
            state = "header"
        elif state and not line.startswith("|"):
            state = ""
        elif state == "header":
            state = "rule"
        elif state == "rule":
            state = "rows"
        elif state == "rows":
            rows.append((number, [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]))
    return rows
