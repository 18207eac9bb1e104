# SPDX-License-Identifier: MIT
"""Rows of results.py: measured ceilings beside what others say they are."""


def add_ceilings(table, lines):
    table.section("Measured ceilings of the processors, by what others say")
    for c in lines:
        what = c["what"] + (f"; load {c['load']}" if c["load"] else "")
        if c["ratio"] is None:
            table.add(what, "n/a: too busy to measure it")
            continue
        off = c["tolerance"]
        table.add(
            what,
            f"{c['measured'] / 1e9:,.1f} G/s",
            f"{c['ratio']:.3f} ×",
            "",
            f"1 ± {off:.2f}",
            abs(c["ratio"] - 1) <= off,
        )
