#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What large pages of the output html cost in a browser: check_budgets.py FOLDER

Prints times of 10,000 rows, of 100,000 and of 10^6 slices. Times of a shared machine fail only
where they are far from what was aimed at; sizes and numbers of elements are exact.
"""

import pathlib
import re
import statistics
import sys

import browser
from opened_page import Page, holds

#: Milliseconds to a frame's end from its begin, of 60 keys that zoom in, move and zoom out: a
#: callback before and one behind the page's own in the same frame.
FRAMES = """
const done = arguments[0], canvas = document.querySelector("#timeline_b canvas[tabindex]");
const codes = ["KeyW", "KeyW", "KeyD", "KeyW", "KeyA", "KeyS"];
const times = [];
let left = 60;
canvas.scrollIntoView({ behavior: "instant" });
dispatchEvent(new KeyboardEvent("keydown", { code: "Digit0", key: "0" }));
const next = () => {
  let begin = 0;
  requestAnimationFrame(() => { begin = performance.now(); });
  document.dispatchEvent(new KeyboardEvent("keydown",
    { bubbles: true, code: left % 12 === 0 ? "Digit0" : codes[left % 6], key: "" }));
  requestAnimationFrame(() => {
    times.push(performance.now() - begin);
    if (--left > 0) setTimeout(next);
    else done(times);
  });
};
requestAnimationFrame(() => requestAnimationFrame(next));
"""
#: Milliseconds that a click takes with the layout after it.
CLICK = """
const found = [...document.querySelectorAll(arguments[0])]
  .find((e) => !arguments[1] || e.textContent === arguments[1]);
const begin = performance.now();
found.click();
document.body.getBoundingClientRect();
return performance.now() - begin;
"""
TYPE = """
const [text, done] = arguments, box = document.getElementById("filter");
box.value = text;
box.dispatchEvent(new Event("input"));
// Typing waits for the next letter first: only what comes behind is work.
let begin = performance.now();
const observer = new MutationObserver(() => {
  observer.disconnect();
  document.body.getBoundingClientRect();
  done(performance.now() - begin);
});
observer.observe(document.getElementById("operators_b"), { childList: true });
const wait = () => { begin = performance.now(); timer = setTimeout(wait); };
let timer = setTimeout(wait);
"""
READY = """
const paint = performance.getEntriesByType("paint").find((p) => /contentful/.test(p.name));
const [load] = performance.getEntriesByType("navigation");
return [paint ? paint.startTime : 0, load.domComplete];
"""
ELEMENTS = "document.querySelectorAll('*').length"


def show(what, ms, budget, gross):
    print(f"{what}: {ms:.1f} ms, aimed at {budget} ms")
    holds(f"{what} is below {gross} ms", ms < gross)


def check_size(path, most):
    text = path.read_text(encoding="utf-8")
    script = len(re.search(r"<script>\n(.*)</script>", text, re.S)[1])
    style = len(re.search(r"<style>\n(.*?)</style>", text, re.S)[1])
    holds(f"script and style: {script} + {style} bytes, 120,000 at most", script + style <= 120_000)
    timeline = text.find('"timeline":{')
    size = timeline if timeline > 0 else len(text)
    holds(f"{path.stem}: {size} bytes up to the timeline, {most} at most", size <= most)


def open_page(driver, path, budget):
    page = Page(driver, path)
    paint, ready = driver.execute_script(READY)
    print(f"{path.stem}: {path.stat().st_size} bytes, first paint {paint:.0f} ms, usable "
          f"{ready:.0f} ms, {page.js(ELEMENTS)} elements")
    show(f"{path.stem} is usable", ready, budget, 10 * budget)
    holds(f"{path.stem}: {page.js(ELEMENTS)} elements, 4000 at most", page.js(ELEMENTS) <= 4000)
    return page


def check_rows(driver, path):
    page = open_page(driver, path, 2000)
    costs = {}
    for _ in range(5):
        for what, css, text in (("sort", "#ops [data-sort=calls]", None),
                                ("group by bound", "#operators_t .seg button", "bound"),
                                ("group by operator", "#operators_t .seg button", "operator"),
                                ("select", "#ops tr.row", None)):
            costs.setdefault(what, []).append(driver.execute_script(CLICK, css, text))
        for text in ("Gemm", "n=12", ""):
            costs.setdefault("filter", []).append(driver.execute_async_script(TYPE, text))
            holds(f"{page.js(ELEMENTS)} elements with the filter {text!r}, 4000 at most",
                  page.js(ELEMENTS) <= 4000)
    for again in range(6):
        page.click("#ops tr.more button")
        holds(f"{page.js(ELEMENTS)} elements with more rows, {again}, 4000 at most",
              page.js(ELEMENTS) <= 4000)
    for what, times in costs.items():
        show(f"10,000 rows, {what}", statistics.median(times), 50, 500)
    page.is_quiet()


def check_slices(driver, path, budget, median):
    page = open_page(driver, path, budget)
    times = sorted(driver.execute_async_script(FRAMES))
    show(f"{path.stem}, a frame, median", statistics.median(times), median, 10 * median)
    show(f"{path.stem}, a frame, most of {len(times)}", times[-1], 16, 250)
    # The first frame sums up the slices, later ones search in the sums.
    page.is_quiet()
    return statistics.median(times)


def main():
    folder = pathlib.Path(sys.argv[1])
    driver = browser.chromium()
    try:
        check_size(folder / "train.html", 200_000)
        check_size(folder / "rows.html", 2_000_000)
        check_rows(driver, folder / "rows.html")
        few = check_slices(driver, folder / "slices.html", 1000, 8)
        many = check_slices(driver, folder / "million.html", 2000, 16)
        holds(f"ten times as many slices take {many / few:.1f} times as long, 5 at most",
              many < 5 * max(few, 1))
    finally:
        driver.quit()


main()
