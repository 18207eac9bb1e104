# SPDX-License-Identifier: MIT
"""Opens the section Compare of a page: check_compare.py FOLDER KPROF

The runs are made of resnet50.saved.json in FOLDER: each has a speed of its own, and in those of the
page's side the calls of one row take twice the time. compared_numbers.py has more.
"""

import json
import pathlib
import subprocess
import sys
import time

import browser
import compared_numbers
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

SPEEDS = (1.0, 1.004, 0.997, 1.002, 0.999)
BUCKETS = 64  # of a histogram, from a duration to twice as long a one


def check(what, seen, wanted):
    if seen != wanted:
        raise SystemExit(f"FAIL: {what}: the page has {seen}, wanted {wanted}")
    print(f"{what}: {str(wanted)[:80]}")


def holds(what, is_so):
    check(what, bool(is_so), True)


def longer(node, factor):
    for member in ("total_ns", "self_ns", "min_ns", "max_ns", "first_ns"):
        if member in node:
            node[member] *= factor


def is_call(node):
    return node.get("kind") == "op" and node.get("calls", 0) >= 5


def write_runs(folder, name, first, is_slow):
    """The files of a side; those of both sides were made in turns."""
    saved = json.loads((folder / "resnet50.saved.json").read_text())
    largest = max(filter(is_call, saved["nodes"]), key=lambda n: n["total_ns"])
    names = []
    for i, speed in enumerate(SPEEDS):
        run = json.loads(json.dumps(saved))
        run["clock"]["start_realtime_ns"] = 10**18 + (2 * i + first) * 10**9
        run["clock"]["ns_per_tick"] *= speed
        for node in run["nodes"]:
            longer(node, speed)
            same = is_call(node) and all(node[m] == largest[m] for m in ("op", "values"))
            if is_slow and same:
                longer(node, 2)
                node["durations"] = [x + BUCKETS * (i % 2 == 0)
                                     for i, x in enumerate(node["durations"])]
        names.append(f"compare_{name}_{i}.json")
        (folder / names[-1]).write_text(json.dumps(run))
    return names


def write_page(folder, kprof, page, runs, options):
    wanted = f"html(path={page}.html{options})"
    subprocess.run([kprof, "show", runs, "--output", wanted], cwd=folder, check=True)


def open_page(driver, path, width=1440):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
    driver.get("about:blank")
    driver.get_log("browser")
    driver.get(path.resolve().as_uri())
    browser.wait(driver, "return document.documentElement.dataset.ready", 20)


def texts(driver, css):
    return driver.execute_script(
        f"return [...document.querySelectorAll('{css}')].map((e) => e.textContent)")


def compared_rows(driver):
    """On a busy machine fewer rows take so much of the time that they are compared."""
    return driver.execute_script(
        "return JSON.parse(document.getElementById('data').textContent).compare.rows.length")


def check_rows(driver):
    check("its heading", texts(driver, "#compare_h"), ["Compared with compare_before_0.json and 4 "
                                                      "more"])
    verdicts = texts(driver, "#compare_b tbody + tbody td.verdict")
    check("the changed row comes first", verdicts[0], "▲ slower")
    check("it is the only one", [v for v in verdicts[1:] if v != "same"], [])
    check("ten of the others are shown", len(verdicts), min(11, compared_rows(driver)))
    change = texts(driver, "#compare_b tbody + tbody td.change")[0]
    # Calls of the warm-up, which take what they took, are in the row too.
    holds(f"it takes about twice the time: {change}", 90 < float(change.rstrip("\u202f%")) <= 101)
    first = texts(driver, "#compare_s b")[0]
    holds(f"the sentence says so: {first}", "slower" in first)
    label = driver.execute_script(
        "return document.querySelector('#compare [role=img]').getAttribute('aria-label')")
    holds("the picture's label has the finding", first in label)
    filled = driver.execute_script(
        "return [...document.querySelectorAll('#compare_b circle')]"
        ".map((c) => c.getAttribute('fill')).filter((f) => f !== 'var(--bg)')")
    # The total may have changed too.
    holds("the changed row's dot is filled", "var(--red)" in filled and len(filled) <= 2)


def check_order(driver):
    rows = compared_rows(driver)
    if rows > 11:
        driver.execute_script("document.querySelector('#compare_b > .link').click()")
    verdicts = texts(driver, "#compare_b tbody + tbody td.verdict")
    check("all rows are shown when asked", len(verdicts), rows)
    changed = texts(driver, "#compare_b tbody + tbody th")
    driver.execute_script("document.querySelector('#compare_t [data-value=time]').click()")
    by_time = texts(driver, "#compare_b tbody + tbody th")
    check("the same rows by time", sorted(by_time), sorted(changed))


def check_keyboard(driver):
    row = driver.find_element(By.CSS_SELECTOR, "#compare_b tr[data-row]")
    number = row.get_attribute("data-row")
    driver.execute_script("arguments[0].focus()", row)
    row.send_keys(Keys.ENTER)
    time.sleep(0.2)
    check("Enter selects the row everywhere", driver.execute_script(
        "return document.querySelector('#ops tr.sel').dataset.row"), number)
    check("and the focus stays", driver.execute_script(
        "return document.activeElement.closest('#compare_b tr').dataset.row"), number)


def check_widths(driver, path):
    for width in (360, 390, 701, 821, 1024, 1440):
        open_page(driver, path, width)
        check(f"columns beyond the window at {width}", driver.execute_script(
            "return document.documentElement.scrollWidth - innerWidth > 0"), False)
        check(f"what goes beyond its cell at {width}", driver.execute_script(
            "return [...document.querySelectorAll('#compare_b td')].filter((e) => "
            "e.scrollWidth > e.clientWidth + 1).length"), 0)
    driver.execute_cdp_cmd("Page.printToPDF", {})
    check("it writes nothing to the console", driver.get_log("browser"), [])


def main():
    folder, kprof = pathlib.Path(sys.argv[1]), sys.argv[2]
    before = write_runs(folder, "before", 0, False)
    after = write_runs(folder, "after", 1, True)
    write_page(folder, kprof, "compare", after[0],
               ",against=compare_before_*.json,also=" + "+".join(after[1:]))
    write_page(folder, kprof, "compare_one", after[0], f",against={before[0]}")
    write_page(folder, kprof, "compare_none", after[0], "")
    driver = browser.chromium()
    try:
        open_page(driver, folder / "compare.html")
        check_rows(driver)
        check_order(driver)
        check_keyboard(driver)
        check_widths(driver, folder / "compare.html")
        open_page(driver, folder / "compare_one.html")
        check("one run has no verdicts", texts(driver, "#compare_b td.verdict"), [])
        holds("and says so", "cannot be told from 1 run" in texts(driver, "#compare_s b")[0])
        open_page(driver, folder / "compare_none.html")
        check("without earlier runs there is no section", driver.execute_script(
            "return getComputedStyle(compare).display"), "none")
        check("and no link", "Compare" in texts(driver, "#links a"), False)
        compared_numbers.check_numbers(driver, folder, kprof)
    finally:
        driver.quit()


main()
