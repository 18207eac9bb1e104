#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Moves members of structs that modules share in a copy of the headers, and loads libraries built
with them beside a session: check_other_commit.py REPOSITORY PROGRAM SESSION COMPILER [FLAG...]

PROGRAM has a session and opens the library that it is given. The library is refused with a
sentence, and the program goes on. SESSION is libkprof_session.a: a file of the other commit cannot
be linked with it.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

repository, program, session, compiler, *flags = sys.argv[1:]
tests = pathlib.Path(__file__).parent
include = pathlib.Path(repository) / "include"
flags = [f for f in flags if f != f"-I{include}"]
failures = []


def check(name, holds, detail):
    if not holds:
        failures.append(name)
        print(f"FAILED: {name}\n{detail}")


def changed(folder, header, change):
    """A copy of the headers in which `change` was made to the text of one."""
    copy = pathlib.Path(folder) / "include"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(include, copy)
    path = copy / "kprof" / header
    before = path.read_text()
    after = change(before)
    assert after != before, header
    path.write_text(after)
    return copy


def swap(struct, first, second):
    """Swaps the lines of two members of a struct."""

    def change(text):
        begin = text.index(f"{struct} {{\n")
        end = text.index("\n};", begin)
        lines = text[begin:end].split("\n")
        at = {}
        for i, line in enumerate(lines):
            for name in (first, second):
                if re.search(rf"\b{name}\b[^;(]*(\)[^;]*)?;", line.split("//")[0]):
                    at[name] = i
        i, j = at[first], at[second]
        lines[i], lines[j] = lines[j], lines[i]
        return text[:begin] + "\n".join(lines) + text[end:]

    return change


def run(*command):
    return subprocess.run(command, text=True, capture_output=True, timeout=300)


def compile_library(copy, target, *more):
    return run(
        compiler, "-std=c++20", "-O0", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{copy}",
        *flags, *more, str(tests / "other_commit.cpp"), "-o", target,
    )  # fmt: skip


def check_library(name, copy, folder, *more):
    library = f"{folder}/{name.replace(' ', '_')}.so"
    r = compile_library(copy, library, *more)
    check(f"{name}: builds", r.returncode == 0, r.stderr)
    r = run(program, library)
    check(
        f"{name}: the program ends well and records",
        r.returncode == 7 and "program" in r.stdout,
        r,
    )
    return r


def layout(copy, *more):
    """What session_layout is with these headers; or what the compiler says."""
    probe = "#include <kprof/session/build_name.hpp>\n#include <cstdio>\nint main() { " + (
        'std::printf("%s", kprof::detail::session_build); }\n'
    )
    target = f"{folder}/probe"
    r = subprocess.run(
        [
            compiler, "-std=c++20", "-O0", "-DKPROF_SESSION_ELSEWHERE=1", f"-I{copy}", *flags,
            *more, "-x", "c++", "-", "-o", target,
        ],
        input=probe, text=True, capture_output=True,
    )  # fmt: skip
    return run(target).stdout if r.returncode == 0 else r.stderr


GUARDS = {
    "module_record": ("attach/abi.hpp", "hub", "ops"),
    "hub_record": ("attach/abi.hpp", "active", "session"),
    "scope_api": ("attach/abi.hpp", "capture", "adopt"),
    "work": ("declare/descriptor.hpp", "flops", "read"),
}
SHARED = {
    "report_options": ("report/options.hpp", "ascii", "legend"),
    "completeness": ("profile.hpp", "recorded", "open"),
    "device_work": ("profile/device_profile.hpp", "calls", "untimed"),
    "histogram": ("record/histogram.hpp", "first_", "gathered_size_"),
    "owner_functions": ("session/owner_functions.hpp", "pause", "resume"),
    "operator_field": ("profile/parameters.hpp", "fields", "enumerators"),
}

with tempfile.TemporaryDirectory() as folder:
    r = check_library("the same commit", include, folder)
    check("its guards are recorded", "OfLibrary" in r.stdout, r)
    for struct, (header, *members) in GUARDS.items():
        name = f"{struct} with members moved"
        r = check_library(name, changed(folder, header, swap(struct, *members)), folder)
        text = " ".join(r.stdout.split())
        check(
            f"{name}: a note says that it is left out",
            "has guards of another build of kprof, which are not recorded; build it with" in text
            and "OfLibrary" not in r.stdout,
            r,
        )

    copy = changed(folder, "profile.hpp", swap("profile", "threads", "nodes"))
    r = check_library("a session with profile changed", copy, folder, "-DSESSION")
    refusal = r"belongs to another build \(kprof \S+ .* layout \w{8}; this is kprof \S+ .* layout"
    for what in ("start", "snapshot"):
        check(f"{what} is refused", re.search(f"{what}: .*{refusal}", r.stdout), r)
    check("report is refused", "0 nodes" in r.stdout, r)
    check("its guards are recorded all the same", "OfLibrary" in r.stdout, r)

    known = layout(include)
    check("the name of the build can be read", re.search(r" layout [0-9a-f]{8}$", known), known)
    for struct, (header, *members) in SHARED.items():
        found = layout(changed(folder, header, swap(struct, *members)))
        check(
            f"{struct}: moving members changes the name of the build",
            re.search(r" layout [0-9a-f]{8}$", found) and found != known,
            found,
        )
    copy = changed(
        folder,
        "profile.hpp",
        lambda text: text.replace("struct profile {", "struct profile { bool added = false;"),
    )
    r = run(
        compiler, "-std=c++20", "-fsyntax-only", f"-I{copy}", f"-I{tests.parent / 'support'}",
        *flags, str(tests.parent / "unit/shared_layout.test.cpp"),
    )  # fmt: skip
    check(
        "a member that the list lacks does not compile in its test",
        r.returncode != 0 and "shared_layout.hpp lacks a member of a struct" in r.stderr,
        r.stderr,
    )
    object_of_other = f"{folder}/other.o"
    r = run(
        compiler, "-std=c++20", "-O0", "-DSESSION", "-DKPROF_SESSION_ELSEWHERE=1", f"-I{copy}",
        *flags, "-c", str(tests / "other_commit.cpp"), "-o", object_of_other,
    )  # fmt: skip
    check("a file of another commit compiles", r.returncode == 0, r.stderr)
    r = run(compiler, "-shared", "-Wl,-z,defs", object_of_other, session, "-o", f"{folder}/x.so")
    check(
        "it cannot be linked with a session of this one",
        r.returncode != 0 and "arm_session" in r.stderr,
        r,
    )
print(f"{len(failures)} failures" if failures else "all as expected")
sys.exit(1 if failures else 0)
