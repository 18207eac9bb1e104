#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens traces in Perfetto, and compares its SQL tables with the profiles:
check_perfetto.py FOLDER
"""

import collections
import pathlib
import sys

import browser
import saved

QUERY = """
const done = arguments[arguments.length - 1];
window.app.trace.engine.query(arguments[0]).then(r => {
  const names = r.columns(), rows = [];
  for (const it = r.iter({}); it.valid(); it.next())
    rows.push(names.map(n => typeof it.get(n) === 'bigint' ? Number(it.get(n)) : it.get(n)));
  done(rows);
}).catch(e => done(String(e)));"""
LOADED = """
const m = document.querySelector('.pf-modal-dialog, .modal-dialog');
return m ? m.innerText : window.app && window.app.trace ? 'loaded' : '';"""


def check(what, seen, wanted):
    if seen != wanted:
        raise SystemExit(f"FAIL: {what}: Perfetto has {seen}, the profile {wanted}")
    print(f"{what}: {str(wanted)[:100]}")


def compare(sql, profile):
    check("errors", sql("select name, value from stats where severity in ('error', 'data_loss')"
                        " and value > 0"), [])
    slices = "select category, count(*), sum(dur) from slice group by category"
    seen = {category: (n, ns) for category, n, ns in sql(slices)}
    ops = profile.operators()
    check("scopes of operators", seen["cpu_op"],
          (sum(n for n, _ in ops.values()), sum(ns for _, ns in ops.values())))
    rows = sql("select name, count(*), sum(dur) from slice where category = 'cpu_op' group by name")
    check("operators", {name: (n, ns) for name, n, ns in rows}, ops)
    spans = [s["end"] - s["begin"] for s in profile.steps]
    check("steps", sql("select count(*), sum(dur) from slice where name glob 'ProfilerStep#*'"),
          [[len(spans), sum(spans) if spans else None]])
    kernels = profile.kernels()
    check("kernels", seen.get("kernel", (0, 0)),
          (len(kernels), sum(k["end"] - k["start"] for k in kernels)))
    check("arrows", sql("select count(*) from flow"), [[len(profile.items)]])
    streams = collections.Counter(
        f"stream {i['stream']}" for i in profile.items)
    rows = sql("select t.name, count(*) from slice s join thread_track tt on s.track_id = tt.id"
               " join thread t using (utid) where s.category in"
               " ('kernel', 'gpu_memcpy', 'gpu_memset') group by t.name")
    check("streams", dict(map(tuple, rows)), dict(streams))
    flops = sum(profile.nodes[node].get("work", {}).get("flops", 0)
                for node, _, _ in profile.scopes if profile.nodes[node].get("kind") == "op")
    check("FLOPs", sql("select sum(a.int_value) from args a join slice s on s.arg_set_id ="
                       " a.arg_set_id where a.key = 'args.flops'"), [[flops]])
    levels = sql("select max(depth) + 1 from slice where category = 'cpu_op'")[0][0]
    print(f"levels of operators: {levels}")


def main():
    folder = pathlib.Path(sys.argv[1])
    traces = [folder / f"{run}.{end}" for run in ("resnet50", "training") for end in
              ("json", "json.gz")]
    address = browser.serve(browser.viewers(), {f"/{t.name}": str(t) for t in traces})
    driver = browser.chromium()

    def sql(query):
        rows = driver.execute_async_script(QUERY, query)
        if isinstance(rows, str):
            raise SystemExit(f"FAIL: {query}: {rows}")
        return rows

    try:
        for trace in traces:
            print(f"-- {trace.name}")
            driver.get("about:blank")
            driver.get(f"{address}/?{trace.name}#!/?url={address}/{trace.name}")
            said = browser.wait(driver, LOADED)
            if said != "loaded":
                raise SystemExit(f"FAIL: {trace.name}: {said}")
            compare(sql, saved.Profile(folder / f"{trace.name.split('.')[0]}.saved.json"))
    finally:
        driver.quit()


main()
