#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs what README.md and docs say can be run: check_readme.py [--accept] [--session <library>]
<repository> <compiler> [flags...]

The programs are linked with the session in the library; without one it is compiled.

- README.md's program is examples/01_first_report.cpp, and its command, run as it stands in a copy
  of the tree, prints what README.md shows.
- Each program on a page that has a block `<!-- output of NAME -->` prints that; times, rates and
  shares may differ (examples/check_output.py compares). --accept writes what is printed into the
  page.
- Every KPROF="..." in a block of shell commands is valid, and every mistake in a table after `<!--
  settings -->` is described as the table says.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import pages

EXAMPLE = "examples/01_first_report.cpp"
# After the headers of all outputs.
SETTINGS_PROGRAM = """#include <kprof/settings.hpp>
#include <cstdio>
int main(int, char** argv) {
  for (const std::string& error : kprof::settings::parse(argv[1]).errors) std::puts(error.c_str());
}
"""


class Checker:
    def __init__(self, root, compiler, flags, folder, session, accept):
        self.root, self.compiler, self.flags, self.folder = root, compiler, flags, folder
        self.session, self.accept = session, accept
        self.errors = []
        self.env = {
            name: value for name, value in os.environ.items() if name not in ("KPROF", "COLUMNS")
        }
        # The README's command names no include folder of Boost: it is where the compiler looks, or
        # where these flags say.
        found = [
            re.sub("^-(I|isystem)", "", flag)
            for flag in flags
            if flag.startswith(("-I", "-isystem"))
        ]
        self.env["CPLUS_INCLUDE_PATH"] = ":".join(
            found + [p for p in [os.environ.get("CPLUS_INCLUDE_PATH")] if p]
        )

    def fail(self, place, what):
        self.errors.append(f"{place}: {what}")

    def run(self, command, **more):
        return subprocess.run(
            command, env=self.env, text=True, capture_output=True, timeout=300, **more
        )

    def build(self, text, name, place):
        source = self.folder / f"{name}.cpp"
        source.write_text(text)
        compile = [self.compiler, "-std=c++20", f"-I{self.root / 'include'}", *self.flags]
        if not self.session:  # compiled once, and by no program
            self.session = str(self.folder / "session.o")
            self.run(
                [*compile, "-c", str(self.root / "tools/session.cpp"), "-o", self.session],
                check=True,
            )
        done = self.run(
            [
                *compile,
                "-DKPROF_SESSION_ELSEWHERE=1",
                str(source),
                self.session,
                "-o",
                str(self.folder / name),
                "-pthread",
                "-ldl",
            ]
        )
        if done.returncode != 0:
            self.fail(place, f"does not compile\n{done.stderr}")
            return None
        return str(self.folder / name)

    def compare(self, block, command):
        """What the command prints with what the block shows."""
        source = self.folder / "shown.cpp"
        source.write_text(
            "\n// Output:\n" + "".join(f"// {line}".rstrip() + "\n" for line in block.lines)
        )
        check = [
            sys.executable,
            str(self.root / "examples/check_output.py"),
            *(["--accept"] if self.accept else []),
            str(source),
            *command,
        ]
        done = self.run(check, cwd=self.folder)
        if done.returncode != 0:
            self.fail(
                block.place, f"not what {shlex.join(command)} prints\n{done.stdout}{done.stderr}"
            )
        elif self.accept:
            self.replace(
                block,
                [
                    re.sub("^// ?", "", line)
                    for line in source.read_text().split("\n// Output:\n")[1].rstrip().split("\n")
                ],
            )

    def replace(self, block, lines):
        path = self.root / block.page
        before, shown = path.read_text().split("\n"), "\n".join(block.lines)
        at = block.line - 1
        if (
            "\n".join(before[at : at + len(block.lines)]) != shown
        ):  # an earlier block of the page has grown
            at = next(
                i
                for i in range(len(before))
                if before[i - 2] == f"<!-- output of {block.directive} -->"
                and before[i - 1] == "```text"
            )
        path.write_text("\n".join(before[:at] + lines + before[at + len(block.lines) :]))

    def readme(self, found):
        of_readme = [b for b in found if b.page == "README.md"]
        program = next((b for b in of_readme if b.language == "cpp"), None)
        command = next((b for b in of_readme if b.language == "sh"), None)
        if program is None or command is None or EXAMPLE not in command.text:
            return self.fail("README.md", f"needs a program and a command that builds {EXAMPLE}")
        text = (self.root / EXAMPLE).read_text().split("\n// Output:")[0]
        code = text[text.index("#include") :].strip() + "\n"
        if code != program.text:
            self.fail(program.place, f"is not the code of {EXAMPLE}")
        tree = self.folder / "tree"
        tree.mkdir()
        for name in ("include", "examples"):
            (tree / name).symlink_to(self.root / name)
        # Optimising takes as long as all the rest, and prints the same.
        quick = command.text.replace(" -O2 ", " -O0 ")
        shell = ["sh", "-c", f"cd {shlex.quote(str(tree))} && {quick}"]
        for block in of_readme:
            if block.of == "output" and block.directive == "first_report":
                return self.compare(block, shell)
        self.fail("README.md", "shows no output of first_report")

    def outputs(self, found):
        programs = {
            (b.page, name[1]): b
            for b in found
            if (name := re.search(r"\bas (\w+)", b.directive)) and "int main(" in b.text
        }
        for block in found:
            if block.of != "output" or (block.page, block.directive) == (
                "README.md",
                "first_report",
            ):
                continue
            program = programs.get((block.page, block.directive))
            if program is None:
                self.fail(block.place, f"there is no program called {block.directive} on this page")
            elif built := self.build(program.text, block.directive, program.place):
                self.compare(block, [built])

    def settings(self, found):
        headers = sorted((self.root / "include/kprof/report").glob("*.hpp"))
        outputs = "".join(f"#include <kprof/report/{header.name}>\n" for header in headers)
        parse = self.build(outputs + SETTINGS_PROGRAM, "settings", "KPROF")
        if parse is None:
            return
        for block in found:
            for number, line in enumerate(block.lines, block.line):
                if block.language == "sh" and "KPROF=" in line:
                    words = [
                        word
                        for word in shlex.split(line.removesuffix(" \\"), comments=True)
                        if word.startswith("KPROF=")
                    ]
                    said = (
                        self.run([parse, words[0].removeprefix("KPROF=")]).stdout
                        if words
                        else "no KPROF=... in this line"
                    )
                    if said:
                        self.fail(f"{block.page}:{number}", said.strip())
        for path in pages.pages(self.root):
            for number, cells in pages.tables(path, "settings"):
                text, shown = (cell.strip("`").replace("\\|", "|") for cell in cells[:2])
                said = self.run([parse, text]).stdout.strip()
                if said != shown and not (shown.endswith("...") and said.startswith(shown[:-3])):
                    self.fail(f"{path.name}:{number}", f"of {text} kprof says: {said}")

    def check(self):
        found, self.errors = pages.all_blocks(self.root)
        self.readme(found)
        self.outputs(found)
        self.settings(found)
        return self.errors


def main():
    arguments = sys.argv[1:]
    accept = arguments[:1] == ["--accept"]
    if accept:
        arguments = arguments[1:]
    session = None
    if arguments[:1] == ["--session"] and len(arguments) > 1:
        session, arguments = str(pathlib.Path(arguments[1]).resolve()), arguments[2:]
    if len(arguments) < 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        errors = Checker(
            pages.root_of(arguments[0]),
            arguments[1],
            arguments[2:],
            pathlib.Path(folder),
            session,
            accept,
        ).check()
    for error in errors:
        print(error)
    print("what the documentation runs:", f"{len(errors)} errors" if errors else "in order")
    sys.exit(1 if errors else 0)


main()
