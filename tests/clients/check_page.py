# SPDX-License-Identifier: MIT
"""Opens the pages of the output html from disk, as a reader does, and compares their numbers with
the output csv: check_page.py FOLDER

A page may ask nothing of the network and write nothing to the console, at any width.
"""

import csv
import pathlib
import sys
import time

import browser
import page_sections as sections
import page_states
from opened_page import Page, check, holds
from page_sections import show_all_rows
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

#: Columns of the page, their columns in the csv file, and how many csv units one unit of it is.
COLUMNS = {"calls": "calls", "lost": "lost [ns]", "median": "median [ns]", "gbs": "gbs [GB/s]",
           "gflops": "gflops [GFLOP/s]", "intensity": "intensity [FLOP/B]"}


def check_numbers(page, table):
    show_all_rows(page)
    check("rows", sorted(page.js("[...document.querySelectorAll('#ops tr.row')]"
                                 ".map(r => +r.dataset.row)")), list(range(len(table))))
    cells = page.js("[...document.querySelectorAll('#ops tr.row td[data-id]')]"
                    ".map(c => [+c.parentNode.dataset.row, c.dataset.id, c.dataset.value])")
    on_device = any(float(row["device [ns]"] or 0) > 0 for row in table)
    time_name = "device [ns]" if on_device else "self [ns]"
    compared = 0
    for row, column, value in cells:
        name = time_name if column == "time" else COLUMNS.get(column)
        if name is None:
            continue
        wanted = table[row][name]
        if (value is None) != (wanted == ""):
            raise SystemExit(f"FAIL: {column} of row {row}: {value}, the csv file has {wanted!r}")
        if wanted and abs(float(value) - float(wanted)) > 1e-5 * abs(float(wanted)):
            raise SystemExit(f"FAIL: {column} of row {row}: {value}, the csv file has {wanted}")
        compared += 1
    holds(f"{compared} numbers are those of the csv file", compared > 4 * len(table))


def check_table(page, table):
    name = table[0]["operator"]
    box = page.all("#filter")[0]
    box.send_keys(f"^{name} ")
    time.sleep(0.3)
    show_all_rows(page)
    check(f"rows that match ^{name}", page.count("#ops tr.row"),
          sum(row["operator"] == name for row in table))
    box.send_keys("(")
    time.sleep(0.3)
    check("a wrong expression", page.js("operators_n.textContent"), "not a regular expression")
    page.keys(Keys.ESCAPE)
    box.send_keys("(N|NN){1,30}x")
    time.sleep(0.3)
    holds("one that would never end", "not searched" in page.js("operators_n.textContent"))
    page.keys(Keys.ESCAPE)
    time.sleep(0.3)
    check("cleared by Esc", page.count("#ops tr.row"), len(table))
    box.send_keys("no such operator")
    time.sleep(0.3)
    check("nothing matches", page.count("#ops tr.row"), 0)
    page.click("#ops td .link", "clear")
    page.click("#ops [data-sort=calls]")
    calls = page.js("[...document.querySelectorAll('td[data-id=calls]')]"
                    ".map(c => +c.dataset.value)")
    check("sorted by calls", calls, sorted(calls, reverse=True))
    check("and says so", page.js("document.querySelector('th[aria-sort] button').dataset.sort"),
          "calls")
    page.click("#operators_t .seg button", "operator")
    check("groups", page.count("#ops tr.group") > 0, True)


def check_selection(page, table):
    page.click("#ops tr.row")
    row = page.js("+document.querySelector('#ops tr.sel').dataset.row")
    check("one row is selected", page.count("#ops tr.row.sel"), 1)
    check("it is open", page.count("#ops tr.detail"), 1)
    check("the address has it", page.js("location.hash"), "#row=" + table[row]["key"])
    holds("it is selected in the tree", page.count(f"#tree_b .box.sel[data-row='{row}']") or
          page.js("document.querySelector('#tree_b').children.length < 3"))
    address = page.js("location.hash")
    page.click("#ops tr.row.sel")
    check("selected no more", page.count("#ops tr.sel"), 0)
    page.driver.back()
    time.sleep(0.3)
    check("Back selects it again", page.count("#ops tr.sel"), 1)
    page.driver.back()
    time.sleep(0.3)
    check("Back once more undoes the selection", page.count("#ops tr.sel"), 0)
    page.driver.forward()
    time.sleep(0.3)
    if page.count("#roofline_s .item"):
        drawn = page.js("[...document.querySelectorAll('#roofline_s .item[aria-pressed=false]')]"
                        ".map(i => i.dataset.row).find(r => document.querySelector("
                        "`#roofline_b circle[data-row='${r}']`))")
        page.click(f"#roofline_s .item[data-row='{drawn}']")
        chosen = page.js("document.querySelector('#ops tr.sel').dataset.row")
        holds("the roofline selects", page.count(f"#roofline_b circle[data-row='{chosen}']"))
    return address


def check_keys(page):
    page.js("document.activeElement.blur()")
    page.keys("/")
    check("/ goes to the filter", page.js("document.activeElement.id"), "filter")
    page.keys(Keys.ESCAPE)
    page.keys("j")
    page.keys("j")
    focused = page.js("document.activeElement.dataset.row")
    holds("j goes to a row", focused is not None)
    page.keys(Keys.ENTER)
    check("Enter opens it and the focus stays", page.js("document.activeElement.dataset.row"),
          focused)
    holds("it is open", page.count("#ops tr.open"))
    before = page.js("getComputedStyle(document.body).backgroundColor")
    page.keys("t")
    holds("t switches the theme",
          page.js("getComputedStyle(document.body).backgroundColor") != before)
    page.keys("?")
    holds("? shows the keys", page.js("keys.open"))
    page.keys(Keys.ESCAPE)
    page.keys("2")
    time.sleep(0.8)
    holds("2 goes to the operators", abs(page.js("operators.getBoundingClientRect().top")) < 200)


def check_widths(page):
    for width in (360, 390, 701, 820, 1024, 1200, 1280, 1440):
        page.size(width, 800)
        check(f"columns beyond the window at {width}", page.js(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"), 0)
        check(f"short names that are cut at {width}", page.js(
            "[...document.querySelectorAll('#ops button[data-group]')]"
            ".filter(b => b.dataset.group.length <= 16)"
            ".filter(b => !b.textContent.startsWith(b.dataset.group)).map(b => b.textContent)"), [])
    page.size(1440, 900)


def check_timeline(page):
    if page.js("timeline.hidden"):
        return
    shown = page.js("document.querySelector('#timeline_b .line span').textContent")
    canvas = page.all("#timeline_b canvas")[-1]
    page.driver.execute_script("arguments[0].scrollIntoView()", canvas)
    canvas.send_keys("w")
    time.sleep(0.3)
    zoomed = page.js("document.querySelector('#timeline_b .line span').textContent")
    holds("w zooms the timeline", zoomed != shown)
    canvas.send_keys("0")
    time.sleep(0.3)
    all_ = page.js("document.querySelector('#timeline_b .line span').textContent")
    holds("0 shows all of it", all_.startswith("0\u202fns") and all_ != zoomed)


def check_page(driver, path):
    print(path.name, path.stat().st_size)
    with open(path.with_suffix(".csv"), newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    page = Page(driver, path)
    check_numbers(page, table)
    check_table(page, table)
    address = check_selection(page, table)
    check_keys(page)
    check_timeline(page)
    sections.check_row_in_timeline(page, table)
    sections.check_tree_order(page)
    sections.check_groups(page)
    sections.check_footer(page)
    check_widths(page)
    driver.execute_cdp_cmd("Page.printToPDF", {})
    page.is_quiet()
    opened = Page(driver, path, address)
    check("a link opens on its row", opened.count("#ops tr.sel"), 1)


def check_hostile(driver, path):
    page = Page(driver, path)
    check("no name is markup", page.count("main img, main b script"), 0)
    holds("it is shown as it is", "</script><img" in page.js("document.body.innerText"))
    check("and does nothing", page.js("window.hostile"), None)
    page.is_quiet()


def check_without_script(driver, path):
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    driver.get(path.resolve().as_uri() + "#no-script")
    driver.refresh()
    rows = driver.find_elements(By.CSS_SELECTOR, "noscript tbody tr")
    holds("without a script there is a table", rows and rows[0].is_displayed())
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def main():
    folder = pathlib.Path(sys.argv[1])
    driver = browser.chromium()
    try:
        for name in ("resnet50", "training", "train"):
            check_page(driver, folder / f"{name}.html")
        sections.check_idle(driver, folder / "training.html")
        sections.check_regions(driver, folder / "training.html")
        sections.check_steps(driver, folder / "steps.html")
        sections.check_devices(driver, folder / "devices.html")
        sections.check_types(driver, folder / "train.html")
        sections.check_groups(Page(driver, folder / "rows.html"), spoiled=True)
        sections.check_dense(driver, folder / "million.html")
        check_hostile(driver, folder / "hostile.html")
        page_states.check_states(driver, folder)
        check_without_script(driver, folder / "resnet50.html")
    finally:
        driver.quit()


main()
