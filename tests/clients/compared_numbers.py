# SPDX-License-Identifier: MIT
"""What check_compare.py checks of a page's numbers: they are those of `kprof compare`, of
operators, kernels and steps, of one run a side and of more.

The runs are made of training.saved.json. In those of the page's side one product of matrices takes
1.5 times as long on the device, another operator with its kernel stands in the place of Sgd, and
the processor is another one.
"""

import json
import re
import subprocess

from opened_page import Page, check, holds

SPEEDS = (1.0, 1.004, 0.997, 1.002, 0.999)
SLOWER = [4, 256, 1]  # the grid of the product that takes longer


def changed(run):
    for work in run["device"]["work"]:
        if work.get("grid") == SLOWER:
            for member in ("total_ns", "min_ns", "max_ns"):
                work[member] = round(1.5 * work[member])
    for node in [*run["operators"], *run["nodes"]]:
        for member in ("name", "declared_name"):
            if node.get(member) == "Sgd":
                node[member] = "Adam"
    run["device"]["kernels"] = [name.replace("sgd", "adm") for name in run["device"]["kernels"]]
    run["machine"]["cpu"]["model"] = "Another CPU"


def write_runs(folder, side, is_after):
    saved = json.loads((folder / "training.saved.json").read_text())
    names = []
    for i, speed in enumerate(SPEEDS):
        run = json.loads(json.dumps(saved))
        run["clock"]["start_realtime_ns"] = 10**18 + (2 * i + is_after) * 10**9
        for work in run["device"]["work"]:
            for member in ("total_ns", "min_ns", "max_ns"):
                work[member] = round(speed * work[member])
        if is_after:
            changed(run)
        names.append(f"numbers_{side}_{i}.json")
        (folder / names[-1]).write_text(json.dumps(run))
    return names


def text_lines(folder, kprof, before, after):
    """Of `kprof compare`: before, after, change, interval and verdict of each line, and all of it
    in the letters of the page."""
    text = subprocess.run([kprof, "compare", *before, "--with", *after], cwd=folder, check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    found = re.findall(r"^\S.*?\s{2,}([\d.,]+ (?:ns|µs|ms|s))\s+([\d.,]+ (?:ns|µs|ms|s))\s+"
                       r"(\S+%)(?:\s+(\S+ to \S+))?\s+(slower|faster|same|not shown|no verdict)",
                       text, re.M)
    return sorted(found), " ".join(text.split())


def page_lines(page):
    cells = page.js("""[...document.querySelectorAll("#compare_b tbody tr")]
      .filter((line) => !line.closest(".of, .new, .gone"))
      .map((line) => ["times", "change", "interval", "verdict"].map((name) =>
        line.querySelector("." + name)?.textContent || ""))""")
    out = []
    for times, change, interval, verdict in cells:
        before, after = times.replace("\u202f", " ").split(" → ")
        verdict = verdict.replace("▲ ", "").split(",")[0] or "no verdict"
        out.append((before, after, change.replace("\u202f", "").replace("≠ ", ""),
                    "" if interval == "n/a" else interval, verdict))
    return sorted(out)


def of_class(page, name, css):
    return page.js(f"[...document.querySelectorAll('#compare_b .{name} {css}')]"
                   ".map(e => e.textContent)")


def check_page(driver, folder, kprof, runs):
    before, after = (side[:runs] for side in SIDES)
    also = ",also=" + "+".join(after[1:]) if runs > 1 else ""
    wanted = f"html(path=numbers_{runs}.html,against={'+'.join(before)}{also})"
    subprocess.run([kprof, "show", after[0], "--output", wanted], cwd=folder, check=True)
    page = Page(driver, folder / f"numbers_{runs}.html")
    lines, text = text_lines(folder, kprof, before, after)
    # Two totals, three operators of both sides, two kernels that have them.
    holds(f"{runs} runs a side: {len(lines)} lines of text", len(lines) >= 7)
    check(f"{runs} runs a side: numbers of the text", page_lines(page), lines)
    for section in ("compare_s", "compare_w"):
        said = page.js(f"document.getElementById('{section}').textContent")
        for part in re.split(r"(?<=\.)\s*▲? ", said.replace("\u202f", " ")):
            part = part.strip("▲ ")
            holds(f"the text says so too: {part}", re.sub(r"(\d) ?%", r"\1%", part) in text)
    check("new operators and kernels", [t.split(" ")[0] for t in of_class(page, "new", "th")],
          ["Adam", "adm_kernel"])
    check("gone ones", [t.split(" ")[0] for t in of_class(page, "gone", "th")],
          ["Sgd", "sgd_kernel"])
    check("they say so", of_class(page, "new", ".change") + of_class(page, "gone", ".change"),
          ["new", "new", "gone", "gone"])
    marks = page.js("[...document.querySelectorAll('#compare_b td.change')]"
                    ".filter(e => e.textContent.startsWith('≠')).length")
    check("each line of another machine is marked", marks, len(lines))
    first = page.js("document.querySelector('#compare_b tbody + tbody th').textContent")
    holds(f"what changed most stands first: {first}", first.startswith("Gemm 256×512×512"))
    page.click("#compare_b .new tr")
    holds("a new row is selected everywhere", "Adam" in page.js(
        "[...document.querySelectorAll('#ops tr.sel th')].map(e => e.title).join()"))
    for width in (360, 390, 701, 821, 1024, 1200):
        page.size(width, 800)
        check(f"columns and cells beyond their room at {width}", page.js(
            "[document.documentElement.scrollWidth > innerWidth, ...[...document"
            ".querySelectorAll('#compare_b td')].filter(e => e.scrollWidth > e.clientWidth + 1)"
            ".map(e => e.textContent)]"), [False])
    page.is_quiet()


SIDES = []


def check_numbers(driver, folder, kprof):
    SIDES[:] = [write_runs(folder, "before", False), write_runs(folder, "after", True)]
    for runs in (1, 2, 5):
        check_page(driver, folder, kprof, runs)
