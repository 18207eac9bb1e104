#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens traces in Perfetto, and compares its SQL tables with the profiles:
check_perfetto.py FOLDER

What it has of a trace as Perfetto's packets is compared with what it has of the same run as JSON.
There work of GPUs is in the table gpu_slice, whose arguments are texts, or as tracks in `slice`.
"""

import collections
import functools
import json
import math
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
# The arguments of JSON that only TensorBoard and HTA read: packets do without.
OF_OTHERS = ("External id", "device", "stream")
SLICES = """
select * from (
select s.id, coalesce(s.category, extract_arg(s.arg_set_id, 'description')) category, s.name, s.ts,
s.dur, s.depth, coalesce(t.name, h.name) row, s.arg_set_id
from slice s join track t on s.track_id = t.id left join thread_track r on r.id = t.id
left join thread h using (utid)) where category != 'kprof'"""
# What kprof says of a stage; Perfetto adds fields of its own.
OF_STAGES = ("grid", "block", "registers per thread", "shared memory", "blocks per SM",
             "est. achieved occupancy %", "correlation", "bytes", "memory bandwidth (GB/s)")
LOADED = """
const m = document.querySelector('.pf-modal-dialog, .modal-dialog');
return m ? m.innerText : window.app && window.app.trace ? 'loaded' : '';"""


def check(what, seen, wanted):
    if seen != wanted:
        raise SystemExit(f"FAIL: {what}: Perfetto has {seen}, the profile {wanted}")
    print(f"{what}: {str(wanted)[:100]}")


def tables(sql):
    """What a trace shows, in Perfetto's tables."""
    args = collections.defaultdict(dict)
    for number, key, whole, real, text in sql(
        "select arg_set_id, key, int_value, real_value, string_value from args"
        " where key glob 'args.*' or key glob 'debug.*'"
    ):
        value = text if text is not None else whole if whole is not None else real
        # In packets Perfetto makes a point of a name an underscore.
        args[number][key.split(".", 1)[1].replace(".", "_")] = value
    for number, key, text in sql(f"select arg_set_id, key, string_value from args where key in"
                                 f" {OF_STAGES} and string_value is not null"):
        value = json.loads(text)
        values = {f"{key}[{i}]": one for i, one in enumerate(value)} if key in (
            "grid", "block") else {key.replace(".", "_"): value}
        args[number].update(values)
    slices, names = [], {}
    for number, category, name, ts, dur, depth, row, arg_set in sql(SLICES):
        of = {k: v for k, v in args[arg_set].items() if k not in OF_OTHERS}
        if of.get("correlation", 0) >= 1 << 32:  # of a call that launched nothing: made up
            del of["correlation"]
        slices.append((category, name, ts, dur, depth, row, sorted(of.items())))
        names[number] = (name, ts)
    key = functools.partial(json.dumps, sort_keys=True)
    flows = [(names[a], names[b]) for a, b in sql("select slice_out, slice_in from flow")]
    points = sql("select t.name, c.ts, c.value from counter c join counter_track t"
                 " on c.track_id = t.id")
    return {
        "slices": sorted(slices, key=key),
        "flows": sorted(flows),
        "points": sorted(map(tuple, points)),
        "program": sql("select name from process where name is not null and pid ="
                       " (select max(pid) from process)"),
    }


def alike(a, b):
    """Whether they are the same but for the digits that JSON rounds."""
    if isinstance(a, float) or isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-3)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(alike(x, y) for x, y in zip(a, b))
    return a == b


def compare_formats(name, of_json, of_packets, has_arrows):
    for table, wanted in of_json.items():
        if table == "flows" and not has_arrows:
            continue
        seen = of_packets[table]
        for a, b in zip(seen, wanted):
            if not alike(a, b):
                raise SystemExit(f"FAIL: {name}: {table}: packets have {a}, JSON {b}")
        check(f"{table} of both formats", len(seen), len(wanted))


def compare_stages(sql, profile):
    """Work of GPUs in gpu_slice; arrows to it are drawn by later releases of Perfetto."""
    waited = [i["start"] - i["call_begin"] for i in profile.items
              if 0 <= i.get("call_begin", -1) < i["start"]]
    check("gpu_slice", sql("select count(*), sum(dur) from gpu_slice"),
          [[len(profile.items), sum(i["end"] - i["start"] for i in profile.items)]])
    check("time from launch to start",
          sql("select count(*), sum(cast(extract_arg(arg_set_id, 'waited (ns)') as int))"
              " from gpu_slice where extract_arg(arg_set_id, 'waited (ns)') is not null"),
          [[len(waited), sum(waited)]])
    check("stages of calls",
          sql("select count(*), count(distinct int_value) from args where key glob"
              " 'gpu_correlation.render_stage_submission_event_ids*'"),
          [[len(profile.items), len(profile.items)]])


def compare(sql, profile, has_stages):
    check("errors", sql("select name, value from stats where severity in ('error', 'data_loss')"
                        " and value > 0"), [])
    slices = f"select category, count(*), sum(dur) from ({SLICES}) group by category"
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
    if has_stages and profile.items:
        compare_stages(sql, profile)
    else:
        check("arrows", sql("select count(*) from flow"), [[len(profile.items)]])
    streams = collections.Counter(
        f"stream {i['stream']}" for i in profile.items)
    rows = sql(f"select row, count(*) from ({SLICES}) where"
               " category in ('kernel', 'gpu_memcpy', 'gpu_memset') group by row")
    check("streams", dict(map(tuple, rows)), dict(streams))
    flops = sum(profile.nodes[node].get("work", {}).get("flops", 0)
                for node, _, _ in profile.scopes if profile.nodes[node].get("kind") == "op")
    check("FLOPs", sql("select sum(a.int_value) from args a join slice s on s.arg_set_id ="
                       " a.arg_set_id where a.key in ('args.flops', 'debug.flops')"), [[flops]])
    levels = sql("select max(depth) + 1 from slice where category = 'cpu_op'")[0][0]
    print(f"levels of operators: {levels}")


def main():
    folder = pathlib.Path(sys.argv[1])
    traces = [folder / f"{run}.{end}" for run in ("resnet50", "training") for end in
              ("json", "json.gz", "kineto.json", "pftrace", "pftrace.gz", "tracks.pftrace")]
    of_json = {}
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
            run, end = trace.name.split(".", 1)
            has_stages = end.startswith("pftrace")
            compare(sql, saved.Profile(folder / f"{run}.saved.json"), has_stages)
            if end == "kineto.json":
                of_json[run] = tables(sql)
            elif end.endswith("pftrace"):
                compare_formats(run, of_json[run], tables(sql), not has_stages)
                said = sql("select count(*) from slice s join args a using (arg_set_id) where"
                           " s.category = 'kprof' and a.key = 'debug.scopes dropped'")
                check("what is missing", said, [[1]])
    finally:
        driver.quit()


main()
