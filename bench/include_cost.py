#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What including kprof costs, beside what else one could include: preprocessed lines and the
compiler's front end; how long whole files take to compile; and how much code a scope adds where it
stands. Prints JSON.

usage: include_cost.py [--cxx COMPILER] [--runs N] [--include FOLDER]...
"""

import argparse
import json
import pathlib
import re
import resource
import subprocess
import tempfile

HEADERS = [  # key, what to include
    ("guard.hpp", "#include <kprof/guard.hpp>"),
    ("op.hpp", "#include <kprof/op.hpp>"),
    ("op.hpp + guard.hpp", "#include <kprof/op.hpp>\n#include <kprof/guard.hpp>"),
    ("kprof.hpp", "#include <kprof/kprof.hpp>"),
    ("boost/pfr/core.hpp", "#include <boost/pfr/core.hpp>"),
    ("<chrono>", "#include <chrono>"),
    ("<string>", "#include <string>"),
    ("<x86intrin.h>", "#include <x86intrin.h>"),
    ("nvtx3/nvToolsExtPayload.h", "#include <nvtx3/nvToolsExtPayload.h>"),
    ("nvtx3/nvtx3.hpp", "#include <nvtx3/nvtx3.hpp>"),
    ("lttng/tracepoint.h", "#include <lttng/tracepoint.h>"),
    ("ATen/record_function.h", "#include <ATen/record_function.h>"),
]

# Whole files: the one that has the session compiles all of kprof, the others only declare and
# guard.
GUARDED = """struct Gemm {
  std::int64_t M = 0, N = 0, K = 0;
  constexpr kprof::count flops() const { return kprof::count{2} * M * N * K; }
  constexpr kprof::traffic bytes() const {
    return {.read = 4 * (kprof::count{M} * K + kprof::count{K} * N),
            .written = 4 * kprof::count{M} * N};
  }
};
void work();
void gemm(const Gemm& p) {
  KPROF_OP(Gemm, p);
  work();
}
"""
FILES = {
    "an operator and a guard, with guard.hpp": "#include <kprof/guard.hpp>\n" + GUARDED,
    "the same with kprof.hpp, main() and report()": "#include <kprof/kprof.hpp>\n"
    + GUARDED
    + "int main() {\n  gemm({1, 2, 3});\n  return kprof::report() ? 0 : 1;\n}\n",
    "nothing but kprof.hpp": "#include <kprof/kprof.hpp>\n",
    "nothing but kprof.hpp, with kprof::session linked": "#define KPROF_SESSION_ELSEWHERE 1\n"
    + "#include <kprof/kprof.hpp>\n",
}
LEVELS = ("-O2", "-O0")

# What a scope is made of: what precedes all functions, what opens it, what closes it. The function
# around it has two tensors.
OPERATOR = """#include <kprof/guard.hpp>
struct Conv { std::int64_t n = 0, c = 0, h = 0, w = 0, k = 0, r = 0, s = 0, stride = 1; };
"""
PARAMS = "x.n, x.c, x.h, x.w, y.n, y.c, y.h, y.w"
NVTX = """#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
struct Conv { std::int64_t n, c, h, w, k, r, s, stride; };
extern nvtxDomainHandle_t domain;
extern nvtxStringHandle_t name;
extern std::uint64_t schema;
"""
NVTX_PUSH = (
    """const Conv params{%s};
  const nvtxPayloadData_t data{schema, sizeof params, &params};
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = name;
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = 1;
  event.payload.ullValue = reinterpret_cast<std::uintptr_t>(&data);
  nvtxDomainRangePushEx(domain, &event);"""
    % PARAMS
)
SCOPES = {
    "kprof operator, 8 fields": (OPERATOR, "KPROF_OP(Conv, {%s});" % PARAMS, ""),
    "kprof operator, 8 fields, from a struct": (
        OPERATOR + "extern const Conv params;",
        "KPROF_OP(Conv, params);",
        "",
    ),
    "kprof region": ("#include <kprof/guard.hpp>", 'KPROF_REGION("encoder.layer");', ""),
    "NVTX payload push, 8 fields": (NVTX, NVTX_PUSH, "nvtxDomainRangePop(domain);"),
    "LTTng tracepoint pair, 8 fields": (
        '#include "peer_lttng_events.h"',
        "lttng_ust_tracepoint(kprof_bench, conv_begin, %s);" % PARAMS,
        "lttng_ust_tracepoint(kprof_bench, conv_end);",
    ),
}
# The memory clobber keeps the last call from being a jump, which a scope forbids.
WORK = (
    "#include <cstdint>\nstruct Tensor { void* data; std::int64_t n, c, h, w; };\nvoid work(const "
    "Tensor&, const Tensor&);\n"
)
FUNCTION = (
    'void f%d(const Tensor& x, const Tensor& y) { %s work(x, y); %s asm volatile("" ::: '
    '"memory"); }\n'
)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--cxx", default="g++")
    parser.add_argument(
        "--runs", type=int, default=10, help="compilations of which the fastest counts"
    )
    parser.add_argument("--include", action="append", default=[], metavar="FOLDER")
    return parser.parse_args()


def children_cpu_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Compiler:
    def __init__(self, cxx, includes, folder):
        self.command = [
            cxx,
            "-std=c++20",
            "-w",
            *(flag for i in includes for flag in ("-isystem", i)),
        ]
        self.folder = pathlib.Path(folder)
        # Code without padding between functions or before the targets of jumps, and g++ must not
        # merge functions that are alike.
        self.code_flags = [
            f
            for f in ("-falign-functions=1", "-falign-jumps=1", "-fno-ipa-icf")
            if self.run("-fsyntax-only", f, str(self.write(""))).returncode == 0
        ]

    def write(self, text):
        path = self.folder / "source.cpp"
        path.write_text(text)
        return path

    def run(self, *arguments):
        return subprocess.run(
            [*self.command, *arguments], check=False, capture_output=True, text=True
        )

    def lines(self, text):
        """Preprocessed lines, or None when it cannot be included."""
        done = self.run("-E", "-P", str(self.write(text)))
        return done.stdout.count("\n") if done.returncode == 0 else None

    def seconds(self, texts, runs):
        """Processor time of the fastest of `runs` front ends of each text, taken in turn."""
        best = [float("inf")] * len(texts)
        for turn in range(runs):
            for i, text in enumerate(texts):
                if turn >= 2 and best[i] > 0.3:
                    continue  # long ones vary less
                path = self.write(text)
                begin = children_cpu_s()
                self.run("-fsyntax-only", str(path))
                best[i] = min(best[i], children_cpu_s() - begin)
        return best

    def object_seconds(self, text, level, runs):
        """Processor time to compile the text to an object, the least of `runs`; None when it does
        not compile.
        """
        best = float("inf")
        for _ in range(runs):
            path = self.write(text)
            begin = children_cpu_s()
            if (
                self.run(level, "-c", str(path), "-o", str(self.folder / "object.o")).returncode
                != 0
            ):
                return None
            best = min(best, children_cpu_s() - begin)
            if best > 2:
                break  # long ones vary less
        return round(best, 2)

    def code_bytes(self, text):
        """Bytes in executable sections, or None when it does not compile."""
        compiled = self.folder / "object.o"
        if (
            self.run(
                "-O2", *self.code_flags, "-c", str(self.write(text)), "-o", str(compiled)
            ).returncode
            != 0
        ):
            return None
        sections = subprocess.run(
            ["size", "-A", "-d", str(compiled)], check=True, capture_output=True, text=True
        ).stdout
        return sum(
            int(size) for _, size in re.findall(r"^(\.text\S*)\s+(\d+)", sections, re.MULTILINE)
        )


def bytes_a_scope(compiler, prologue, begin, end):
    """What each call site adds, and not each file: the slope from 1 to 17 functions, less that of
    functions without a scope.
    """

    def slope(begin, end):
        sizes = [
            compiler.code_bytes(
                "\n".join([WORK, prologue, *(FUNCTION % (i, begin, end) for i in range(n))])
            )
            for n in (1, 17)
        ]
        return None if None in sizes else (sizes[1] - sizes[0]) / 16

    with_scope, bare = slope(begin, end), slope("", "")
    return None if with_scope is None or bare is None else round(with_scope - bare)


def main():
    arguments = parse_arguments()
    here = pathlib.Path(__file__).resolve().parent
    includes = [str(here.parent / "include"), str(here), *arguments.include]
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(arguments.cxx, includes, folder)
        lines = {key: compiler.lines(text) for key, text in HEADERS}
        found = [(key, text) for key, text in HEADERS if lines[key] is not None]
        nothing, *seconds = compiler.seconds(["", *(text for _, text in found)], arguments.runs)
        front_end = {key: round(1000 * (s - nothing), 1) for (key, _), s in zip(found, seconds)}
        result = {
            "headers": {
                key: lines[key] and {"lines": lines[key], "front_end_ms": front_end[key]}
                for key, _ in HEADERS
            },
            "object_s": {
                key: {
                    level: compiler.object_seconds(text, level, arguments.runs) for level in LEVELS
                }
                for key, text in FILES.items()
            },
            "code_bytes": {key: bytes_a_scope(compiler, *scope) for key, scope in SCOPES.items()},
        }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
