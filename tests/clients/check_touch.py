# SPDX-License-Identifier: MIT
"""Whether fingers alone can use the pages of the output html: check_touch.py FOLDER

A phone and a tablet without mouse and keys: from the filter to a row, its slowest call and back;
one finger and two on the timeline; taps on each chart, and what a tap shows.
"""

import pathlib
import re
import sys
import time

import browser
from opened_page import READY, Page, check, holds
from touch import Fingers

SIZES = ((390, 844), (1024, 768))
CANVAS = "#timeline_b canvas[tabindex]"
UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
#: Controls that are lower than a finger needs.
LOW = """
return [...document.querySelectorAll("button, summary, input, select, nav a, #ops tr.row")]
  .filter((e) => e.checkVisibility() && !e.closest("#tree_b") && !e.matches("#ops tr.row button"))
  .map((e) => e.type === "checkbox" ? e.closest("label") : e)
  .map((e) => [e.getBoundingClientRect().height, e.outerHTML.slice(0, 120)])
  .filter(([high]) => high > 0 && high < 35.5);
"""


def in_sight(page):
    """From when until when the timeline shows, in nanoseconds."""
    text = page.js("document.querySelector('#timeline_b .line span').textContent")
    values = re.findall(r"([\d,.]+)\u202f(\S+)", text)[:2]
    return [float(value.replace(",", "")) * UNITS[unit] for value, unit in values]


def selected(page):
    return page.js("location.hash")


def check_way(page, fingers, name):
    fingers.tap("#links a", "Operators")
    time.sleep(0.6)
    holds("a tap on a link leads to its section",
          page.js("operators.getBoundingClientRect().top") < 100)
    fingers.tap("#filter")
    check("a tap on the filter takes letters", page.js("document.activeElement.id"), "filter")
    page.driver.execute_cdp_cmd("Input.insertText", {"text": name})
    time.sleep(0.4)
    holds(f"rows of {name} are left", " of " in page.js("operators_n.textContent"))
    if not page.count("#ops tr.row"):
        fingers.tap("#ops tr.group button")
    fingers.tap("#ops tr.row > th")
    row = selected(page)
    holds("a tap selects and opens a row", row and page.count("#ops tr.detail") == 1)
    check("controls that are too low for a finger", page.driver.execute_script(LOW), [])
    before = in_sight(page)
    fingers.tap("#ops tr.detail .go button", "slowest call")
    time.sleep(0.6)
    holds("its link leads to another stretch of the timeline", in_sight(page) != before)
    holds("which is in sight", page.js(f"document.querySelector('{CANVAS}')"
                                       ".getBoundingClientRect().top < innerHeight - 100"))
    fingers.tap("#ops tr.sel > th")
    check("a second tap selects nothing", page.count("#ops tr.sel"), 0)
    page.driver.back()
    time.sleep(0.3)
    check("Back selects it again", selected(page), row)


def check_timeline(page, fingers):
    """What lies under a finger stays there; up and down one finger scrolls the page."""
    if page.count("#timeline_t .seg button"):
        fingers.tap("#timeline_t .seg button", "median")
    x, _, left, top, wide, high = fingers.middle(CANVAS)
    y = max(120, top) + min(high, 300) / 2
    label = 0 if page.js("innerWidth") <= 820 else 150
    row, scrolled = selected(page), page.js("scrollY")
    share = (x - left - label) / (wide - label)

    def under(part):
        begin, end = in_sight(page)
        return begin + (end - begin) * part

    def near(what, seen, wanted):
        begin, end = in_sight(page)
        holds(f"{what}: {seen:.0f} ns, {wanted:.0f} wanted",
              abs(seen - wanted) < (end - begin) / 20)

    before, at = in_sight(page), under(share)
    fingers.move([(x, y)], [(x + 90, y + 4)])
    near("one finger moves the timeline", under(share + 90 / (wide - label)), at)
    at = under(share)
    fingers.move([(x - 30, y), (x + 30, y)], [(x - 90, y), (x + 90, y)])
    near("two fingers apart zoom between them", under(share), at)
    begin, end = in_sight(page)
    holds("by as much as they part", 2.5 < (before[1] - before[0]) / (end - begin) < 3.5)
    at = under(share - 40 / (wide - label))
    fingers.move([(x - 40, y), (x + 20, y)], [(x - 40, y + 90), (x + 80, y + 120)])
    near("a finger that moves down keeps its time", under(share - 40 / (wide - label)), at)
    zoomed = in_sight(page)
    holds("also where both move down", zoomed[1] - zoomed[0] < 0.7 * (end - begin))
    check("the page has not scrolled, nor is it zoomed",
          (page.js("scrollY"), page.js("visualViewport.scale")), (scrolled, 1))
    check("no finger that lifts has selected", selected(page), row)
    fingers.move([(x - 90, y), (x + 90, y)], [(x - 30, y), (x + 30, y)])
    wider = in_sight(page)
    holds("fingers together show more", wider[1] - wider[0] > 2 * (zoomed[1] - zoomed[0]))
    fingers.move([(x, y)], [(x + 4, y - 160)])
    holds("up and down the page scrolls", page.js("scrollY") > scrolled + 50)
    check("and the timeline stays", in_sight(page), wider)
    fingers.tap("#timeline_t button", "all")
    holds("a tap shows all of it", in_sight(page)[1] - in_sight(page)[0] > wider[1] - wider[0])


def check_slices(page, fingers):
    """The slowest call of a row lies in the timeline's middle, in some row of its lane."""
    fingers.tap("#ops tr.row > th")
    if not page.count("#ops tr.detail"):  # it was open
        fingers.tap("#ops tr.row > th")
    row = selected(page)
    fingers.tap("#ops tr.detail .go button", "slowest call")
    time.sleep(0.6)
    fingers.tap("#ops tr.sel > th")
    check("no row is selected", page.count("#ops tr.sel"), 0)
    _, _, left, top, wide, _ = fingers.middle(CANVAS)
    kinds = page.js(f"document.querySelector('{CANVAS}').dataset.lanes").split()
    kind = "stream" if "stream" in kinds else "thread"
    top += float(kinds[2 * kinds[::2].index(kind) + 1])
    page.driver.execute_script("scrollBy({ top: arguments[0], behavior: 'instant' })", top - 300)
    label = 0 if page.js("innerWidth") <= 820 else 150
    for y in [318] if kind == "stream" else range(308, 308 + 8 * 17, 17):
        fingers.tap_at(left + label + (wide - label) / 2, y)
        if page.count("#ops tr.sel"):
            break
    check("a tap on a slice selects its row", selected(page), row)
    holds(f"and tells of it: {page.js('tip.textContent')[:60]}",
          not page.js("tip.hidden") and "from" in page.js("tip.textContent"))
    holds("with its time below", page.js("tip.textContent").count("\u202f") >= 2)
    fingers.tap("#sentence")
    check("the next touch puts it away", page.js("tip.hidden"), True)


def check_charts(page, fingers):
    x, y = fingers.middle("#tree_b button.box")[:2]
    scrolled = page.js("scrollY")
    fingers.move([(x, y)], [(x + 3, y - 150)])
    holds("over the tree the page scrolls", page.js("scrollY") > scrolled + 50)
    y, x = fingers.middle("#tree_b button.box")[1], page.js("innerWidth") / 2
    for _ in range(3):  # on a busy machine fingers may rest for so long that it is another gesture
        if page.js("visualViewport.scale") == 1:
            fingers.move([(x - 30, y), (x + 30, y)], [(x - 90, y), (x + 90, y)])
    holds("two fingers make the tree larger", page.js("visualViewport.scale") > 1.5)
    fingers.move([(x - 90, y), (x + 90, y)], [(x - 15, y), (x + 15, y)])
    check("and as it was", page.js("visualViewport.scale"), 1)
    scopes = page.js("tree_l.querySelectorAll('button').length")
    fingers.tap("#tree_b .box.region")
    check("a tap zooms into a scope", page.js("tree_l.querySelectorAll('button').length"),
          scopes + 1)
    fingers.tap("#tree_l .link", "all")
    check("the path leads up", page.js("tree_l.querySelectorAll('button').length"), scopes)
    for css, what in (("#tree_b .box.op:not(.sel)", "a box of the tree"),
                      ("#roofline_b circle[data-row]", "a bubble"),
                      ("#roofline_s .item[aria-pressed=false]", "what is furthest from the roof")):
        before = selected(page)
        fingers.tap(css)
        holds(f"{what} selects by a tap", selected(page) != before or page.count(css) == 0)
    fingers.tap("#roofline_b circle[data-row]")
    holds("a tap tells of a bubble", not page.js("tip.hidden"))


def check_controls(page, fingers):
    heads = "[...document.querySelectorAll('#ops thead button')].map(b => b.textContent)"
    wanted = page.js("document.querySelector('details.menu label:last-child').textContent")
    holds(f"no column {wanted}", wanted not in page.js(heads))
    fingers.tap("details.menu summary")
    fingers.tap("details.menu label:last-child")
    holds("the menu stays while columns are chosen",
          page.js("document.querySelector('details.menu').open"))
    holds(f"the table has the column {wanted}", wanted in page.js(heads))
    fingers.tap("#sentence")
    check("a tap beside it closes it", page.js("document.querySelector('details.menu').open"),
          False)
    before = page.js("getComputedStyle(document.body).backgroundColor")
    fingers.tap("#theme")
    holds("the theme switches",
          page.js("getComputedStyle(document.body).backgroundColor") != before)
    fingers.tap("#help")
    holds("the keys open", page.js("keys.open"))
    fingers.tap("#keys button")
    check("and close", page.js("keys.open"), False)
    if page.count("#steps_b g[opacity]"):
        before = in_sight(page)
        fingers.tap("#steps_b g[opacity]")
        time.sleep(0.6)
        holds("a tap on a step shows it in the timeline", in_sight(page) != before)


def main():
    folder = pathlib.Path(sys.argv[1])
    driver = browser.chromium()
    try:
        for name, operator, sizes in (("training", "^Gemm", SIZES),
                                      ("resnet50", "^Conv2d", SIZES[:1])):
            for size in sizes:
                print(f"{name}, {size[0]} wide")
                page = Page(driver, folder / f"{name}.html", "", size)
                fingers = Fingers(page, *size)
                browser.wait(driver, READY, 20)
                check_way(page, fingers, operator)
                check_timeline(page, fingers)
                check_slices(page, fingers)
                check_charts(page, fingers)
                check_controls(page, fingers)
                page.is_quiet()
                fingers.lift()
    finally:
        driver.quit()


main()
