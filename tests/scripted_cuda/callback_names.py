#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the tables of names that CUPTI has of its own enumerations: callback_names.py <include
folder of CUDA> <output>."""

import pathlib
import re
import sys


def names(header: pathlib.Path, prefix: str) -> list:
    found = re.findall(rf"\b{prefix}(\w+)\s*=\s*(\d+)\b", header.read_text(errors="replace"))
    by_value = {int(value): name for name, value in found if name not in ("SIZE", "FORCE_INT")}
    return [by_value.get(value) for value in range(max(by_value) + 1)]


def table(name: str, entries: list) -> str:
    lines = "".join("  " + (f'"{entry}"' if entry else "nullptr") + ",\n" for entry in entries)
    return f"constexpr const char* {name}[] = {{\n{lines}}};\n"


def main() -> None:
    include, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    runtime = names(include / "cupti_runtime_cbid.h", "CUPTI_RUNTIME_TRACE_CBID_")
    driver = names(include / "cupti_driver_cbid.h", "CUPTI_DRIVER_TRACE_CBID_")
    results = names(include / "cupti_result.h", "CUPTI_(?=SUCCESS|ERROR_)")
    output.write_text(
        table("runtime_names", runtime)
        # CUpti_CallbackData::functionName is the function's own name, cuptiGetCallbackName's answer
        # the enumerator's.
        + table("runtime_functions", [entry and re.sub(r"_v\d+$", "", entry) for entry in runtime])
        + table("driver_names", driver)
        + table("result_names", [entry and f"CUPTI_{entry}" for entry in results])
    )


if __name__ == "__main__":
    main()
