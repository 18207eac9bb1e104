#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether people without a mouse, without sight of small contrasts or with a screen reader can use
the pages of the output html: check_access.py FOLDER

axe-core looks at each page, light and dark, wide and narrow, with a row open. What it does not see
is measured here from the rendered styles: text and marks in charts, hues as people see them who
see fewer (hues.py), sizes of controls, and the way from the filter to a row's slowest call and back
by keys alone.
"""

import pathlib
import sys
import time

import browser
import hues
from axe_core_python.base import AXE_SCRIPT
from opened_page import Page, check, holds
from selenium.webdriver.common.keys import Keys

PAGES = ("resnet50", "training", "train", "threads", "hostile")
RUN_AXE = """
const done = arguments[0];
axe.run(document, { resultTypes: ["violations"] }).then((found) => done(found.violations.map((v) =>
  `${v.id}: ${v.help}: ` + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | "))));
"""
#: Least contrasts: texts of charts on what they lie on, marks on the page, solid on its own pale.
CONTRASTS = """
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const rgb = (text) => {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = text;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
};
const light = (text) => {
  const [r, g, b] = rgb(text).map((c) => c / 255).map((c) =>
    c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
};
const style = getComputedStyle(document.documentElement), page = getComputedStyle(document.body);
const colour = (name) => style.getPropertyValue("--" + name).trim();
const pale = (name) => {  // as a browser renders it
  const probe = document.createElement("i");
  probe.style.background = `color-mix(in srgb, var(--${name}) var(--pale), var(--bg))`;
  document.body.append(probe);
  const found = getComputedStyle(probe).backgroundColor;
  probe.remove();
  return found;
};
const out = { text: [], ink: [], marks: [], solid: [] };
for (const node of document.querySelectorAll("svg text"))
  out.text.push(contrast(getComputedStyle(node).fill, page.backgroundColor));
for (const name of ["compute", "memory", "latency", "unknown", "red"]) {
  out.marks.push(contrast(colour(name), page.backgroundColor));
  out.ink.push(contrast(colour("ink"), pale(name)));
  out.solid.push(contrast(colour(name), pale(name)));
}
for (const node of document.querySelectorAll(".sw"))
  if (!/pale/.test(node.parentNode.textContent) && !node.classList.contains("hatch"))
    out.marks.push(contrast(getComputedStyle(node).backgroundColor, page.backgroundColor));
return Object.fromEntries(Object.entries(out).map(([name, all]) => [name, Math.min(21, ...all)]));
"""
LEAST = {"text": 4.5, "ink": 6, "marks": 3, "solid": 2.5}
#: Controls that are lower than `arguments[0]`, not counting links in running text.
LOW = """
return [...document.querySelectorAll("button, summary, input, select, nav a, #ops tr.row")]
  .filter((e) => e.checkVisibility() && !e.closest("#tree_b") &&
    !e.matches("#ops tr.row button") &&  // the row is the target
    !(e.type === "checkbox" && e.closest("label").getBoundingClientRect().height >= arguments[0]))
  .map((e) => [e.getBoundingClientRect().height, e.outerHTML.slice(0, 120)])
  .filter(([high]) => high > 0 && high < arguments[0] - 0.5);
"""
UNLABELLED = """
return [...document.querySelectorAll("svg, canvas")].filter((e) => !e.closest("[aria-hidden]") &&
  !(e.getAttribute("role") === "img" && e.getAttribute("aria-label"))).map((e) => e.outerHTML
  .slice(0, 120));
"""


def look(page, what):
    page.driver.execute_script(AXE_SCRIPT)
    check(f"{what}: axe-core finds", page.driver.execute_async_script(RUN_AXE), [])
    for name, least in page.driver.execute_script(CONTRASTS).items():
        holds(f"{what}: contrast of {name} is {least:.2f}, {LEAST[name]} at least",
              least >= LEAST[name])
    touch = page.js("innerWidth") <= 820
    check(f"{what}: controls that are too low",
          page.driver.execute_script(LOW, 36 if touch else 24), [])
    check(f"{what}: charts without a finding", page.driver.execute_script(UNLABELLED), [])
    check(f"{what}: elements out of the focus order",
          page.js("[...document.querySelectorAll('[tabindex]')]"
                  ".filter(e => e.tabIndex > 0).length"), 0)


def check_looks(driver, path):
    for width, height in ((1440, 900), (390, 844)):
        page = Page(driver, path, "", (width, height))
        if not page.count("#ops tr.row"):
            page.click("#ops tr.group button")
        page.click("#ops tr.row")
        for theme in ("light", "dark"):
            page.theme(theme)
            look(page, f"{path.stem} {width} {theme}")
            hues.check_hues(page, theme)
        if width > 820:
            hues.check_words(page)
    page.theme("")


def tab_until(page, css, most):
    for presses in range(1, most + 1):
        page.keys(Keys.TAB)
        if page.js(f"document.activeElement.matches({css!r})"):
            return presses
    raise SystemExit(f"FAIL: {css} is not reached by {most} presses of Tab")


def check_keyboard(driver, path, name):
    """No pointer: from the filter to the slowest call of a row, along the timeline, and back."""
    page = Page(driver, path)
    page.keys("/")
    page.keys(name)
    time.sleep(0.3)
    presses = tab_until(page, "#ops tr.row", 40)
    page.keys("/")
    page.keys(Keys.ARROW_DOWN)
    holds("so does the arrow down in the filter", page.js(
        "document.activeElement.matches('#ops tr.row')"))
    row = page.js("document.activeElement.dataset.row")
    page.keys(Keys.ENTER)
    before = page.js("document.querySelector('#timeline_b .line span').textContent")
    for _ in range(3):
        page.keys(Keys.TAB)
    check("Tab reaches the links of the open row", page.js("document.activeElement.textContent"),
          "slowest call")
    page.keys(Keys.ENTER)
    time.sleep(0.5)
    shown = page.js("document.querySelector('#timeline_b .line span').textContent")
    holds(f"{presses} presses of Tab lead to the row, its link to another stretch of the timeline",
          shown != before)
    check("the focus is on the timeline", page.js("document.activeElement.tagName"), "CANVAS")
    holds("which is in sight", page.js("document.activeElement.getBoundingClientRect().top < 800"))
    page.keys("s")
    time.sleep(0.3)
    holds("s shows more of it",
          page.js("document.querySelector('#timeline_b .line span').textContent") != shown)
    page.keys("2")
    time.sleep(0.8)
    page.keys("j")
    check("2 and j lead back to the row", page.js("document.activeElement.dataset.row"), row)
    page.keys(Keys.ENTER)
    check("Enter closes it and selects nothing", page.count("#ops tr.sel"), 0)
    driver.back()
    time.sleep(0.3)
    check("Back selects it again", page.js("document.querySelector('#ops tr.sel').dataset.row"),
          row)
    page.is_quiet()


def main():
    folder = pathlib.Path(sys.argv[1])
    driver = browser.chromium()
    try:
        check_keyboard(driver, folder / "training.html", "^Gemm")
        check_keyboard(driver, folder / "resnet50.html", "^Conv2d")
        for name in PAGES:
            check_looks(driver, folder / f"{name}.html")
    finally:
        driver.quit()


main()
