#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens traces for TensorBoard in Catapult's viewer, which TensorBoard and chrome://tracing have:
check_catapult.py FOLDER

Fails on any warning, and where it does not have every scope and every arrow of the profile.
"""

import pathlib
import sys

import browser
import saved

READY = """const v = document.querySelector('x-profiling-view');
return !!(v && v.setActiveTrace && v.timelineView_);"""
LOAD = """
const [name, text] = arguments, view = document.querySelector('x-profiling-view');
view.timelineView_.model = undefined;
window.refused = '';
window.alert = t => { window.refused = t; };
try { view.setActiveTrace(name, text); } catch (e) { window.refused = String(e); }"""
LOADED = """
const m = document.querySelector('x-profiling-view').timelineView_.model;
if (!m) return window.refused ? {refused: window.refused} : null;
const titles = {};
let slices = 0, counters = 0;
for (const p of m.getAllProcesses()) {
  counters += Object.keys(p.counters).length;
  for (const t of Object.values(p.threads))
    for (const s of t.sliceGroup.slices) {
      slices += 1;
      titles[s.title] = (titles[s.title] || 0) + 1;
    }
}
return {titles, slices, counters, arrows: m.flowEvents.length,
        warnings: m.importWarnings.map(w => w.message)};"""


def main():
    folder = pathlib.Path(sys.argv[1])
    page = next(browser.viewers().glob("v*/assets/catapult_trace_viewer.html"))
    address = browser.serve(browser.viewers(), {})
    driver = browser.chromium()
    try:
        for run in ("resnet50", "training"):
            profile = saved.Profile(folder / f"{run}.saved.json")
            driver.get(f"{address}/{page.relative_to(browser.viewers())}")
            browser.wait(driver, READY)
            driver.execute_script(LOAD, run,
                                  (folder / f"{run}.pt.trace.json").read_text())
            seen = browser.wait(driver, LOADED)
            if seen.get("refused") or seen["warnings"]:
                raise SystemExit(f"FAIL: {run}: {seen.get('refused') or seen['warnings'][:5]}")
            print(run, {k: v for k, v in seen.items() if k != "titles"})
            for name, (calls, _) in profile.operators().items():
                if seen["titles"].get(name) != calls:
                    raise SystemExit(f"FAIL: {run}: {calls} scopes of {name}: {seen['titles']}")
            if seen["arrows"] != len(profile.items):
                raise SystemExit(f"FAIL: {run}: {seen['arrows']} of {len(profile.items)} arrows")
    finally:
        driver.quit()


main()
