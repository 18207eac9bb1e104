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
from opened_page import Page, check, holds
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

#: Columns of the page, their columns in the csv file, and how many csv units one unit of it is.
COLUMNS = {"calls": "calls", "lost": "lost [ns]", "median": "median [ns]", "gbs": "gbs [GB/s]",
           "gflops": "gflops [GFLOP/s]", "intensity": "intensity [FLOP/B]"}


def show_all_rows(page):
    """Each row, in no group and with none folded."""
    page.click("#operators_t .seg button", "none")
    while page.count("#ops tr.more button"):
        page.click("#ops tr.more button")


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
    for width in (360, 390, 701, 820, 1024, 1200, 1440):
        page.size(width, 800)
        check(f"columns beyond the window at {width}", page.js(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"), 0)
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


def data_of(page):
    return page.js("JSON.parse(document.getElementById('data').textContent)")


def check_row_in_timeline(page, table):
    """Around the slowest call of a row the lane of rates has the rate that kprof's table has."""
    if page.js("timeline.hidden"):
        return
    show_all_rows(page)
    best = max(range(len(table)), key=lambda i: float(table[i]["gflops [GFLOP/s]"] or 0))
    page.click(f"#ops tr.row[data-row='{best}']")
    page.click(f"#ops tr.row[data-row='{best}'] + tr.detail .go button", "slowest call")
    time.sleep(0.4)
    rate = float(page.js("document.querySelector('#timeline_b canvas[data-rate]').dataset.rate"))
    wanted = 1e9 * float(table[best]["gflops [GFLOP/s]"])
    holds(f"the rate of {table[best]['operator']} is {rate:.4g}, at least {wanted:.4g} FLOP/s",
          0.97 * wanted <= rate <= 1.1 * wanted)
    page.click(f"#ops tr.row[data-row='{best}']")


def check_tree_order(page):
    tops = ("[...document.querySelectorAll('#tree_b .box')].filter(b => b.style.top === '0px')"
            ".map(b => b.getAttribute('aria-label'))")
    by_time = page.js(tops)
    page.click("#tree_t .seg button", "as it ran")
    as_it_ran = page.js(tops)
    check("as it ran the same boxes", sorted(as_it_ran), sorted(by_time))
    holds("in another order", as_it_ran != by_time or len(by_time) < 3)
    page.click("#tree_t .seg button", "by time")
    check("and back", page.js(tops), by_time)


def check_footer(page):
    page.driver.execute_script("window.saved = []; URL.createObjectURL = (blob) => {"
                               "blob.text().then((t) => window.saved.push(t)); return '#'; }")
    page.click("#foot button")
    time.sleep(0.3)
    check("the footer saves the numbers", page.js("window.saved.length === 1 && "
          "window.saved[0] === document.getElementById('data').textContent"), True)


def check_idle(driver, path):
    """The causes sum to the idle time, which is that of the report."""
    page = Page(driver, path)
    report = path.with_suffix(".txt").read_text()
    for idle in data_of(page)["steps"]["idle"]:
        check("idle time in the report", f"{idle['idle']}: " in report, True)
        window = page.js("document.getElementById('steps_s').textContent").replace("\u202f", " ")
        for cause, text, ns in idle["causes"]:
            holds(f"{cause} {text} is on the page, and {cause} in the report",
                  f"{cause}{text}" in window and cause in report)
        whole = sum(ns for _, _, ns in idle["causes"])
        unit = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[idle["idle"].split()[1]]
        holds(f"causes sum to {whole} ns, {idle['idle']} in all",
              abs(whole / unit / float(idle["idle"].split()[0]) - 1) < 0.005)


def check_steps(driver, path):
    page = Page(driver, path)
    steps = [s[2] for s in data_of(page)["steps"]["of"]]
    columns = page.js("[...document.querySelectorAll('#steps_b .column')].map(c => "
                      "['least', 'median', 'most'].map(w => +c.dataset[w]))")
    check("more than one step a pixel: columns, and marks of each",
          (100 < len(columns) < 400, page.count("#steps_b .column > rect")),
          (True, 3 * len(columns)))
    check("how many there are", page.js("document.getElementById('steps_n').textContent"),
          f"the latest {len(steps):,} of 10,000")
    check("least of all columns", min(c[0] for c in columns), min(steps))
    check("most of all columns", max(c[2] for c in columns), max(steps))
    holds("medians lie between", all(a <= b <= c for a, b, c in columns))
    page.is_quiet()


def check_devices(driver, path):
    page = Page(driver, path)
    shown = {}
    for gpu in ("GPU 0", "GPU 1"):
        page.click("#roofline_t .seg button", gpu)
        shown[gpu] = (page.js("[...document.querySelectorAll('#roofline_b circle[data-row]')]"
                              ".map(c => +c.dataset.row).sort()"),
                      page.js("document.querySelector('#roofline_b .ink').textContent"))
    check("rows of both GPUs", sorted(shown["GPU 0"][0] + shown["GPU 1"][0]), [0, 1, 2, 3])
    holds(f"roofs of their own: {shown['GPU 0'][1]}, {shown['GPU 1'][1]}",
          shown["GPU 0"][1] != shown["GPU 1"][1])
    lanes = [lane["device"] for lane in data_of(page)["timeline"]["lanes"]
             if lane["kind"] == "stream"]
    check("lanes of streams know their GPU", sorted(set(lanes)), [0, 1])
    page.is_quiet()


def check_dense(driver, path):
    """Of 10^6 slices a column shows what bounds them, and the filter takes their hue away."""
    page = Page(driver, path)
    page.click("#timeline_t .seg button", "all")
    page.is_quiet()
    counts = """
      const node = document.querySelector("#timeline_b canvas[tabindex]");
      const all = node.getContext("2d").getImageData(0, 0, node.width, node.height).data;
      const hex = getComputedStyle(document.documentElement).getPropertyValue("--latency").trim();
      const wanted = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
      let found = 0;
      for (let i = 0; i < all.length; i += 4)
        if (wanted.every((c, k) => Math.abs(all[i + k] - c) < 3)) found++;
      return found;
    """
    time.sleep(0.5)
    seen = page.driver.execute_script(counts)
    holds(f"{seen} pixels are solid in the hue of latency", seen > 1000)
    page.all("#filter")[0].send_keys("nothing has this name")
    time.sleep(0.8)
    check("with a filter that nothing matches", page.driver.execute_script(counts), 0)


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
    check_row_in_timeline(page, table)
    check_tree_order(page)
    check_footer(page)
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
        check_idle(driver, folder / "training.html")
        check_steps(driver, folder / "steps.html")
        check_devices(driver, folder / "devices.html")
        check_dense(driver, folder / "million.html")
        check_hostile(driver, folder / "hostile.html")
        check_without_script(driver, folder / "resnet50.html")
    finally:
        driver.quit()


main()
