#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the recipes and the workflow against the build: recipes.py <repository> | --self-test

- The vcpkg port has the version of version.hpp, fields that vcpkg documents, the parts of Boost
  that the headers include, and a feature for each option that the portfile asks about.
- The port and the Conan recipe set options that CMakeLists.txt has, those of tests, examples and
  benchmarks among them, and the recipe exports every folder that the build reads.
- The workflow runs the commands that README.md names, and nothing else of the tree.
- Every path in backticks in CONTRIBUTING.md exists.
"""

import json
import pathlib
import re
import sys
import tempfile

PORT = "packaging/vcpkg/kprof/vcpkg.json"
PORTFILE = "packaging/vcpkg/kprof/portfile.cmake"
RECIPE = "packaging/conan/conanfile.py"
WORKFLOW = ".github/workflows/ci.yml"
NEVER_PACKAGED = {"KPROF_BUILD_TESTS", "KPROF_BUILD_EXAMPLES", "KPROF_BUILD_BENCH"}
PORT_FIELDS = set(
    """
    $schema builtin-baseline default-features dependencies description documentation features
    homepage license maintainers name overrides port-version supports version version-date
    version-semver version-string
""".split()
)
FEATURE_FIELDS = {"description", "dependencies", "supports", "license"}
OPTION = re.compile(r"^option\((KPROF_\w+)", re.MULTILINE)
SET = re.compile(r"^set\((KPROF_\w+) \w+ CACHE", re.MULTILINE)


def version_of(root):
    header = (root / "include/kprof/version.hpp").read_text()
    return ".".join(re.findall(r"#define KPROF_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))


def check_port(root, options, errors):
    port, portfile = json.loads((root / PORT).read_text()), (root / PORTFILE).read_text()
    if port.get("version") != version_of(root):
        errors.append(f"{PORT}: version {port.get('version')}, kprof is {version_of(root)}")
    for field in sorted(set(port) - PORT_FIELDS):
        errors.append(f"{PORT}: vcpkg knows no field {field}")
    parts = set()
    for header in (root / "include").rglob("*.hpp"):
        parts |= set(re.findall(r"#include <boost/(\w+)[/.]", header.read_text()))
    for part in sorted({f"boost-{part}" for part in parts} - set(map(str, port["dependencies"]))):
        errors.append(f"{PORT}: the headers need {part}")
    features = port.get("features", {})
    for name, feature in features.items():
        for field in sorted(set(feature) - FEATURE_FIELDS):
            errors.append(f"{PORT}: feature {name}: vcpkg knows no field {field}")
    asked = re.search(r"vcpkg_check_features\([^)]*\bFEATURES ([^)]*)\)", portfile)
    asked = dict(zip(*[iter(asked[1].split())] * 2)) if asked else {}
    if set(asked) != set(features):
        errors.append(f"{PORTFILE} asks about {sorted(asked)}, {PORT} has {sorted(features)}")
    check_options(PORTFILE, re.findall(r"(?:-D|\b)(KPROF_\w+)", portfile), options, errors)


def check_options(name, used, options, errors):
    for option in sorted(set(used) - options):
        errors.append(f"{name}: CMakeLists.txt has no option {option}")
    for option in sorted(NEVER_PACKAGED - set(used)):
        errors.append(f"{name}: does not turn {option} off")


def check_recipe(root, options, errors):
    recipe = (root / RECIPE).read_text()
    used = re.findall(r'cache_variables\["(KPROF_\w+)"\]', recipe)
    check_options(RECIPE, [o for o in used if o != "KPROF_BOOST_INCLUDE_DIR"], options, errors)
    exported = set(re.findall(r'"(\w+)/\*"', recipe))
    build = (root / "CMakeLists.txt").read_text()
    build += "".join(path.read_text() for path in sorted((root / "cmake").glob("*.cmake")))
    for folder in sorted(set(re.findall(r"(?:_SOURCE_DIR\}/|[( ])(include|tools|cmake)/", build))):
        if folder not in exported:
            errors.append(f"{RECIPE}: does not export {folder}, which the build reads")


def check_workflow(root, errors):
    commands = set(re.findall(r"^ *- run: (.*)$", (root / WORKFLOW).read_text(), re.MULTILINE))
    readme = (root / "README.md").read_text()
    named = set(re.findall(r"^(bash \S+\.sh)\b", readme, re.MULTILINE))
    for command in sorted(commands ^ named):
        where = "not in README.md" if command in commands else "not run"
        errors.append(f"{WORKFLOW}: `{command}` is {where}")
    for script in re.findall(r"bash (\S+\.sh)", " ".join(commands)):
        if not (root / script).is_file():
            errors.append(f"{WORKFLOW}: there is no {script}")


def check_paths(root, errors):
    for quoted in re.findall(r"`([^`\n]+)`", (root / "CONTRIBUTING.md").read_text()):
        path = quoted.rstrip("/")
        if "NAME" in path or not re.fullmatch(r"[\w.-]+(/[\w.-]+)+", path):
            continue
        if not (root / path).exists() and not (root / "include/kprof" / path).exists():
            errors.append(f"CONTRIBUTING.md: there is no {quoted}")


def check(root):
    errors = []
    cmake = (root / "CMakeLists.txt").read_text()
    options = set(OPTION.findall(cmake)) | set(SET.findall(cmake))
    check_port(root, options, errors)
    check_recipe(root, options, errors)
    check_workflow(root, errors)
    check_paths(root, errors)
    return errors


GOOD = {
    "include/kprof/version.hpp": "#define KPROF_VERSION_MAJOR 1\n#define KPROF_VERSION_MINOR 2\n"
    "#define KPROF_VERSION_PATCH 3\n",
    "include/kprof/a.hpp": "#include <boost/pfr/core.hpp>\n#include <boost/json.hpp>\n",
    "CMakeLists.txt": "".join(f'option({o} "o" ON)\n' for o in sorted(NEVER_PACKAGED))
    + 'option(KPROF_BUILD_TOOLS "o" ON)\ninclude(cmake/a.cmake)\n',
    "cmake/a.cmake": "add_library(a ${PROJECT_SOURCE_DIR}/tools/a.cpp)\n",
    PORT: '{"name": "kprof", "version": "1.2.3", "dependencies": ["boost-json", "boost-pfr", '
    '{"name": "b"}], "features": {"tools": {"description": "d"}}}',
    PORTFILE: "vcpkg_check_features(OUT_FEATURE_OPTIONS F FEATURES tools KPROF_BUILD_TOOLS)\n"
    "-DKPROF_BUILD_TESTS=OFF -DKPROF_BUILD_EXAMPLES=OFF -DKPROF_BUILD_BENCH=OFF\n",
    RECIPE: 'SOURCES = ("cmake/*", "tools/*")\n'
    + "".join(f'toolchain.cache_variables["{o}"] = False\n' for o in sorted(NEVER_PACKAGED)),
    WORKFLOW: "steps:\n  - run: bash tests/run.sh\n",
    "README.md": "```sh\nbash tests/run.sh   # all\n```\n",
    "tests/run.sh": "",
    "CONTRIBUTING.md": "See `tests/run.sh`, `version.hpp`, `a b/c` and `tests/`.\n",
}
MISTAKES = (  # the file, what is changed, into what, and what is then said
    (PORT, "1.2.3", "1.2.4", "version 1.2.4, kprof is 1.2.3"),
    (PORT, '"name"', '"title"', "no field title"),
    (PORT, '"description"', '"summary"', "feature tools: vcpkg knows no field summary"),
    (PORT, '"boost-json", ', "", "the headers need boost-json"),
    (PORT, '"tools"', '"tool"', "asks about ['tools']"),
    (PORTFILE, "tools KPROF_BUILD_TOOLS", "tools KPROF_TOOLS", "has no option KPROF_TOOLS"),
    (PORTFILE, "-DKPROF_BUILD_BENCH=OFF", "", "does not turn KPROF_BUILD_BENCH off"),
    (RECIPE, "KPROF_BUILD_TESTS", "KPROF_TESTS", "has no option KPROF_TESTS"),
    (RECIPE, ', "tools/*"', "", "does not export tools"),
    (WORKFLOW, "bash tests/run.sh", "make", "`make` is not in README.md"),
    (WORKFLOW, "bash tests/run.sh", "make", "`bash tests/run.sh` is not run"),
    ("tests/run.sh", None, None, "there is no tests/run.sh"),
    ("CONTRIBUTING.md", "tests/run.sh", "tests/walk.sh", "there is no tests/walk.sh"),
)


def self_test():
    def errors_of(files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                if text is not None:
                    path = pathlib.Path(folder) / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text)
            return check(pathlib.Path(folder))

    failures = [f"the good tree is refused: {e}" for e in errors_of(GOOD)]
    for name, was, becomes, said in MISTAKES:
        text = GOOD[name].replace(was, becomes, 1) if was else None
        errors = errors_of({**GOOD, name: text})
        if text == GOOD[name] or not any(said in e for e in errors):
            failures.append(f"{name}: `{said}` is not found: {errors}")
    return failures


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    self = sys.argv[1] == "--self-test"
    errors = self_test() if self else check(pathlib.Path(sys.argv[1]))
    for error in errors:
        print(error)
    print("recipes:", f"{len(errors)} errors" if errors else "in order")
    sys.exit(1 if errors else 0)


main()
