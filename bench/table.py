# SPDX-License-Identifier: MIT
"""The table that results.py prints."""


class Table:
    """Rows of (what, one thread, two threads, times the floor, budget, ok), in sections."""

    HEAD = ("", "1 thread", "2 threads", "× floor", "budget", "ok")

    def __init__(self):
        self.rows = []

    def section(self, title):
        self.rows.append((title,))

    def add(self, what, one, two="", floor="", budget="", ok=None):
        self.rows.append(
            (what, one, two, floor, budget, "" if ok is None else "yes" if ok else "NO")
        )

    def __str__(self):
        full = [("  " + r[0], *r[1:]) for r in self.rows if len(r) > 1]
        widths = [max(len(r[i]) for r in [self.HEAD, *full]) for i in range(len(self.HEAD))]

        def line(row):
            return "  ".join(
                cell.ljust(w) if i == 0 else cell.rjust(w)
                for i, (cell, w) in enumerate(zip(row, widths))
            ).rstrip()

        out = [line(self.HEAD), "─" * (sum(widths) + 2 * (len(widths) - 1))]
        rows = iter(full)
        for row in self.rows:
            out += ["", row[0]] if len(row) == 1 else [line(next(rows))]
        return "\n".join(out)

    def failures(self):
        return [r[0] for r in self.rows if len(r) > 1 and r[5] == "NO"]
