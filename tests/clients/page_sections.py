# SPDX-License-Identifier: MIT
"""What check_page.py checks of the page's sections behind the operators."""

import json
import pathlib
import re
import tempfile
import time

from opened_page import Page, check, holds


def show_all_rows(page):
    """Each row, in no group and with none folded."""
    page.click("#operators_t .seg button", "none")
    while page.count("#ops tr.more button"):
        page.click("#ops tr.more button")


def data_of(page):
    return page.js("JSON.parse(document.getElementById('data').textContent)")


def check_row_in_timeline(page, table):
    """Around the slowest call of a row the lane of rates has the rate that kprof's table has."""
    if page.js("timeline.hidden"):
        return
    show_all_rows(page)
    best = max(range(len(table)), key=lambda i: float(table[i]["gflops [GFLOP/s]"] or 0))
    if not page.count(f"#ops tr.row.open[data-row='{best}']"):  # the keys may have opened it
        page.click(f"#ops tr.row[data-row='{best}']")
    page.click(f"#ops tr.row[data-row='{best}'] + tr.detail .go button", "slowest call")
    time.sleep(0.4)
    rate = float(page.js("document.querySelector('#timeline_b canvas[data-rate]').dataset.rate"))
    wanted = 1e9 * float(table[best]["gflops [GFLOP/s]"])
    holds(f"the rate of {table[best]['operator']} is {rate:.4g}, at least {wanted:.4g} FLOP/s",
          0.97 * wanted <= rate <= 1.1 * wanted)
    page.click(f"#ops tr.row[data-row='{best}']")


def check_tree_order(page):
    tops = ("[...document.querySelectorAll('#tree_b button.box')]"
            ".filter(b => b.style.top === '0px').map(b => b.getAttribute('aria-label'))")
    by_time = page.js(tops)
    page.click("#tree_t .seg button", "as it ran")
    as_it_ran = page.js(tops)
    check("as it ran the same boxes", sorted(as_it_ran), sorted(by_time))
    holds("in another order", as_it_ran != by_time or len(by_time) < 3)
    page.click("#tree_t .seg button", "by time")
    check("and back", page.js(tops), by_time)


def check_types(driver, path):
    """The roofline of one type at a time, with its roofs: every other row as if of f64."""
    text = path.read_text(encoding="utf-8")
    columns = re.findall(r'"dtype":\{"all":\["f32"\],"of":\{"same":0,"count":(\d+)\}\}', text)
    rows = int(columns[0])  # of the rows; the groups come behind
    other = json.dumps({"all": ["f32", "f64"], "of": [i % 2 for i in range(rows)]})
    text = re.sub(r'"dtype":\{"all":\["f32"\],"of":\{[^}]*\}\}',
                  lambda _: f'"dtype":{other}', text, count=1)
    changed = pathlib.Path(tempfile.mkdtemp()) / "types.html"
    changed.write_text(text, encoding="utf-8")
    page = Page(driver, changed)
    shown = ("[...document.querySelectorAll('#roofline_b circle[data-row]')]"
             ".map(c => +c.dataset.row)")
    roofs = "document.getElementById('roofline_b').textContent.includes('f32, ')"
    every = sorted(page.js(shown))
    for name, at in (("f32", 0), ("f64", 1)):
        page.click("#roofline_t .seg button", name)
        check(f"rows of {name}", sorted(page.js(shown)), [i for i in every if i % 2 == at])
        check(f"roofs of f32 with {name}", page.js(roofs), name == "f32")
    page.click("#roofline_t .seg button", "all types")
    check("rows of all types", sorted(page.js(shown)), every)
    page.is_quiet()


def check_groups(page, spoiled=False):
    """A bar is solid by the share of the roof that is written beside it, or by less where
    calls are impossible: `spoiled`."""
    page.click("#operators_t .seg button", "operator")
    compared = 0
    for line in page.all("#ops tr.group"):
        rects, written = page.driver.execute_script(
            "return [[...arguments[0].querySelectorAll('td rect')].slice(0, 2)"
            ".map(r => +r.getAttribute('width')), [...arguments[0].cells]"
            ".map(c => c.textContent).find(t => /\\d\u202f%/.test(t))]", line)
        if len(rects) < 2 or rects[0] < 20 or not written:
            continue
        share = 100 * rects[1] / rects[0]
        compared += 1
        if written.startswith("▲"):
            holds(f"solid is {share:.1f} % of the bar of what is impossible",
                  spoiled and share <= 100)
            continue
        written = float(written.replace("<1", "0").split("\u202f")[0])
        # What is written leaves out the time of impossible calls, which is in the bar.
        holds(f"solid is {share:.1f} % of the bar, written is {written} %",
              share <= written + 1 and (spoiled or share >= written - 1))
    holds(f"{compared} bars", compared)


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
        check("idle time in the report", f"idle    {idle['idle']}, " in report, True)
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
    numbers = [s[0] for s in data_of(page)["steps"]["of"]]
    which = (f"spread over steps {numbers[0]:,} to {numbers[-1]:,}"
             if numbers[-1] - numbers[0] >= len(steps) else "the latest")
    check("how many there are", page.js("document.getElementById('steps_n').textContent"),
          f"{len(steps):,} of 10,000, {which}; parts sum to each")
    for i, seen in enumerate(columns):
        part = sorted(steps[i * len(steps) // len(columns):(i + 1) * len(steps) // len(columns)])
        if seen != [part[0], part[(len(part) - 1) // 2], part[-1]]:
            raise SystemExit(f"FAIL: column {i} has {seen} of {part}")
    print(f"{len(columns)} columns have the least, the median and the most of their steps")
    page.is_quiet()


#: The heads of the tips from left to right, at a height of the canvas.
SWEEP = """
const [canvas, y] = arguments, box = canvas.getBoundingClientRect(), seen = [];
for (let x = 152; x < box.width; x += 3) {
  canvas.dispatchEvent(new PointerEvent("pointermove",
    { clientX: box.left + x, clientY: box.top + y, bubbles: true }));
  const tip = document.getElementById("tip");
  const name = tip.hidden ? "" : tip.querySelector("b").textContent;
  if (name && name !== seen[seen.length - 1]) seen.push(name);
}
return seen;
"""


def check_regions(driver, path):
    """The device's regions lie where the items launched in them ran, behind their launch."""
    page = Page(driver, path)
    data = data_of(page)["timeline"]
    parents = dict(zip(data["node"], data["node_parent"]))
    known = set(data["node"])
    holds("each node's region is known", all(p == -1 or p in known for p in parents.values()))
    canvas = page.all("#timeline_b canvas")[-1]
    lanes = canvas.get_attribute("data-lanes").split()
    check("lanes", lanes[::2], ["steps", "thread", "calls", "regions", "stream", "stream", "rate"])
    top = float(lanes[2 * lanes[::2].index("regions") + 1])
    seen = page.driver.execute_script(SWEEP, canvas, top + 6)
    step = [name for name in seen if name in ("forward", "backward", "update")]
    check("regions of a step, from left to right, in its middle",
          step[step.index("forward"):][:3], ["forward", "backward", "update"])
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
      const solid = arguments[0].match(/\\d+/g).map(Number);  // white lies behind
      const hues = [solid];
      if (arguments[1]) hues.push(solid.map((c) => 0.26 * c + 0.74 * 255));
      let found = 0;
      for (let i = 0; i < all.length; i += 4)
        if (hues.some((hue) => hue.every((c, k) => Math.abs(all[i + k] - c) < 3))) found++;
      return found;
    """
    page.theme("light")
    hue = page.js("getComputedStyle(document.querySelector('#ops tr.row .sw')).backgroundColor")
    time.sleep(0.5)
    seen, solid = (page.driver.execute_script(counts, hue, pale) for pale in (True, False))
    holds(f"{seen} pixels have the hue of what bounds most of them, solid or pale", seen > 2000)
    page.all("#filter")[0].send_keys("nothing has this name")
    time.sleep(0.8)
    # A wide slice is drawn fainter instead: its solid part is as pale as a pale one then. On a busy
    # machine such slices, of calls that did not run, may take most of the picture.
    left, still = (page.driver.execute_script(counts, hue, pale) for pale in (True, False))
    holds(f"fewer with a filter that nothing matches, {left}", left < 0.9 * seen)
    holds(f"of {solid} solid ones {still} are left", solid > 50 and still == 0)
