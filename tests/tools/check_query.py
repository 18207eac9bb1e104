#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Asks `kprof query` about recorded profiles, and about worse ones made of them:
check_query.py KPROF REPOSITORY

The numbers are compared with the output csv, advice with the report.
"""

import copy
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

import query_run

repository = pathlib.Path(sys.argv[2])
schema = json.loads((repository / "docs/query.schema.json").read_text())
kprof = query_run.Kprof(sys.argv[1], schema)
check, ask = kprof.check, kprof.ask
QUESTIONS = ("rows", "kernels", "steps", "advice")

# Members of rows and the columns of csv that have the same number, with the factor between them.
OPERATOR_COLUMNS = {
    "key": ("key", None), "operator": ("operator", None), "parameters": ("parameters", None),
    "call_site": ("call_site", None), "bound": ("bound", None), "calls": ("calls", 1),
    "self_ns": ("self [ns]", 1), "share": ("share", 1), "total_ns": ("total [ns]", 1),
    "device_ns": ("device [ns]", 1), "median_ns": ("median [ns]", 1), "cpu": ("cpu", 1),
    "flops": ("flops [FLOP]", 1), "bytes": ("bytes [B]", 1),
    "flops_per_s": ("gflops [GFLOP/s]", 1e9), "bytes_per_s": ("gbs [GB/s]", 1e9),
    "flops_per_byte": ("intensity [FLOP/B]", 1),
    "roof": ("roof", 1), "lost_ns": ("lost [ns]", 1), "waiting_ns": ("waiting [ns]", 1),
}
KERNEL_COLUMNS = {
    "key": ("key", None), "kernel": ("kernel", None), "operator": ("operator", None),
    "region": ("region", None), "grid": ("grid", None), "block": ("block", None),
    "registers": ("registers", 1), "runs": ("runs", 1), "total_ns": ("total [ns]", 1),
    "share": ("share", 1), "flops": ("flops [FLOP]", 1), "occupancy": ("occupancy", 1),
    "lost_ns": ("lost [ns]", 1),
}
STEP_COLUMNS = {"step": ("step", 1), "begin_ns": ("begin [ns]", 1),
                "duration_ns": ("duration [ns]", 1)}


def near(a, b):
    return abs(a - b) <= 1e-12 * max(abs(a), abs(b))


def same(row, line, columns):
    """The members that differ from the line of a table."""
    wrong = []
    for member, (column, factor) in columns.items():
        if member not in row:
            continue
        seen, wanted = row[member], line[column]
        if factor is None or wanted == "" or seen is None:
            equal = (seen or "") == wanted
        else:
            equal = near(float(seen), float(wanted) * factor)
        if not equal:
            wrong.append((member, seen, wanted))
    return wrong


def check_table(name, rows, table, columns, key):
    lines = {line[columns[key][0]]: line for line in table}
    check(f"{name}: all rows of the table", len(rows) == len(table) == len(lines), len(rows))
    for row in rows:
        wrong = same(row, lines[str(row[key])], columns)
        check(f"{name}: as in the table", not wrong, wrong)


def check_numbers(name, profile, folder):
    rows = ask(profile, "rows")
    check_table(f"{name} rows", rows["rows"], kprof.table(profile, folder, ""), OPERATOR_COLUMNS,
                "key")
    by = rows["totals"]["sorted_by"]
    check(f"{name}: sorted by the time of devices, if any",
          by == ("device_ns" if rows["totals"]["run"]["device_ns"] > 0 else "self_ns"), by)
    times = [row[by] for row in rows["rows"]]
    check(f"{name}: the longest first", times == sorted(times, reverse=True), times)
    check(f"{name}: null has a reason",
          all((row[m] is None) == (m in row["not_known"]) for row in rows["rows"]
              for m in row if m.endswith(("_ns", "flops", "bytes", "roof"))), "")
    kernels = ask(profile, "kernels")["rows"]
    check_table(f"{name} kernels", kernels, kprof.table(profile, folder, ",table=kernels"),
                KERNEL_COLUMNS, "key")
    steps = ask(profile, "steps")["rows"]
    check_table(f"{name} steps", steps, kprof.table(profile, folder, ",table=steps"),
                STEP_COLUMNS, "step")
    keys = {row["key"] for row in rows["rows"]}
    advice = ask(profile, "advice")["rows"]
    report = " ".join(kprof.report(profile, ",advice=on").split())
    at = -1
    for number, row in enumerate(advice):
        # A paragraph's first line ends with what is gained.
        begin = row["sentence"][:40]
        found = report.find(begin, at + 1)
        check(f"{name}: advice {number} in the order of the report", found > at, (begin, report))
        at = found
        check(f"{name}: advice {number} names rows", set(row["rows"]) <= keys, row)
    for row in rows["rows"][:2] + kernels[:1]:
        one = ask(profile, "row", row["key"])
        first = {k: v for k, v in one["rows"][0].items() if k != "fields"}
        check(f"{name}: row KEY begins with that row", first == row, first)
        told = [r for r in advice if row["key"] in r["rows"]]
        check(f"{name}: row KEY has its advice",
              row["kind"] == "kernel" or [r for r in one["rows"] if r["kind"] == "advice"] == told,
              one["rows"])
        launched = [k for k in kernels if k["operator_key"] == row["key"]]
        check(f"{name}: row KEY has its kernels",
              row["kind"] == "kernel" or [r for r in one["rows"] if r["kind"] == "kernel"]
              == launched, one["rows"])


def check_budget(name, profile, question, *key):
    whole = ask(profile, question, *key)
    rows = whole["rows"]
    size = len(kprof.text(profile, question, *key))
    for budget in {1500, 1700, 2500, 4001, size - 1, size}:
        if budget < 1500:
            continue
        done = kprof.run("query", profile, question, *key, "--budget", str(budget))
        text = done.stdout.decode()
        check(f"{name} {question}: no longer than {budget}", len(text) <= budget, len(text))
        answer = query_run.parse(text)
        if answer["error"] is not None:
            least = answer["error"]["least_budget"]
            check(f"{name} {question}: the least budget", least > budget, answer)
            again = ask(profile, question, *key, "--budget", str(least))
            check(f"{name} {question}: is enough, with the row that was asked for",
                  again["rows"] == rows[:len(key)], again)
            ask(profile, question, *key, "--budget", str(least - 1), code=2)
            continue
        kept = answer["rows"]
        check(f"{name} {question}: the row that was asked for is kept", len(kept) >= len(key), kept)
        check(f"{name} {question}: the first rows are kept", kept == rows[:len(kept)], kept)
        check(f"{name} {question}: the others are counted",
              answer["cut"]["rows"] == len(rows) - len(kept), answer["cut"])
        check(f"{name} {question}: a share of the time", 0 <= answer["cut"]["share"] <= 1 + 1e-9,
              answer["cut"])
        check(f"{name} {question}: all where all fit", (len(kept) == len(rows)) == (budget >= size),
              len(kept))
        if question == "rows":
            by, time = whole["totals"]["sorted_by"], whole["totals"]["time_ns"]
            cut = sum(row[by] for row in rows[len(kept):])
            check(f"{name}: the time of what is cut", near(cut, answer["cut"]["time_ns"]), cut)
            check(f"{name}: its share", near(cut / time, answer["cut"]["share"]), cut)
            next_row = len(json.dumps(rows[len(kept)])) if len(kept) < len(rows) else 0
            check(f"{name}: as many as fit", len(text) + 2 * next_row > budget or not next_row,
                  (len(text), next_row, budget))


def check_mistakes(profile, folder):
    def refused(name, code, words, *arguments):
        error = ask(*arguments, code=code)["error"]
        check(f"{name}: says what to do", all(w in error["message"] for w in words), error)
        return error

    wanted = ["rows", "row", "kernels", "steps", "advice", "schema"]
    for arguments in ((), (profile,), (profile, "lines")):
        error = refused("a wrong question", 2, ["`choices`"], *arguments)
        check("all questions are listed", [c["word"] for c in error["choices"]] == wanted, error)
    refused("no file", 1, ["nowhere.json", "No such file"], "nowhere.json", "rows")
    half = folder / "half.json"
    half.write_text(pathlib.Path(profile).read_text()[:5000])
    refused("a damaged file", 1, ["save the profile again"], str(half), "rows")
    refused("an unknown option", 2, ["--top", "--budget"], profile, "rows", "--top", "4")
    for budget in ("", "0", "-3", "1499", "1e6", "many", "99999999999999999999999"):
        refused("a wrong budget", 2, ["--budget", "1500"], profile, "rows", "--budget=" + budget)
    refused("a word too many", 2, ["too many"], profile, "rows", "Gemm")
    refused("no key", 2, ["KEY"], profile, "row")
    key = ask(profile, "rows")["rows"][0]["key"]
    wrong = ("0" if key[0] != "0" else "1") + key[1:]
    error = refused("a wrong key", 2, [wrong, "nearest"], profile, "row", wrong)
    check("the nearest key first", error["choices"][0]["word"] == key, error)
    error = refused("a name for a key", 2, ["Linear"], profile, "row", "Linear")
    check("its rows first", error["choices"][0]["meaning"].startswith("Linear "), error)
    long = "\u202e\\\"\x01" * 3000
    for arguments in ((long, "rows"), (profile, long), (profile, "row", long),
                      (profile, "rows", long), (profile, "rows", "--" + long),
                      (profile, "rows", "--budget=" + long)):
        code = 1 if arguments[0] == long else 2
        ask(*arguments, code=code)
        text = kprof.text(*arguments, code=code)
        check("an error fits into the least budget", len(text) <= 1500, len(text))
    answer = ask("schema")
    check("the schema", answer["json_schema"] == schema and answer["rows"] == [], "")
    check("the same of a file", ask(profile, "schema") == answer, "")
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([kprof.path, "query", profile, "rows"], stdout=full,
                              stderr=subprocess.PIPE, timeout=60)
    check("a full disk", done.returncode == 1 and b"No space left" in done.stderr, done)


def check_trust(run, device_run, folder):
    def trust(changed):
        path = folder / "changed.json"
        path.write_text(json.dumps(changed))
        return ask(str(path), "rows")["trust"]

    good = trust(run)
    check("nothing is wrong", good["complete"] and good["problems"] == []
          and good["impossible_rows"] == 0 and good["machine_disturbed"] is False, good)
    changed = copy.deepcopy(run)
    changed["complete"]["dropped"] = 7
    changed["notes"] = ["look \u0007 here"]
    seen = trust(changed)
    check("dropped scopes", seen["dropped_scopes"] == 7 and not seen["complete"]
          and [(p["of"], p["what"], p["count"]) for p in seen["problems"]]
          == [("scopes", "dropped", 7)], seen)
    check("notes", seen["notes"] == ["look \u2407 here"], seen)
    changed = copy.deepcopy(device_run)
    changed["device"]["complete"].update(dropped=3, outside=2)
    seen = trust(changed)
    check("dropped records", seen["dropped_records"] == 3 and not seen["complete"], seen)
    check("launches outside", seen["launches_outside"] == 2, seen)
    changed = copy.deepcopy(run)
    for a in changed["machine"]["cpu"]["arithmetic"]:
        a["operations"]["one_thread"] = a["operations"]["all_threads"] = 1e6
    for m in changed["machine"]["cpu"]["memory"]:
        for rate in (m["read"], m["triad"]):
            rate["one_thread"] = rate["all_threads"] = 1e6
    seen = trust(changed)
    listed = [r["key"] for r in ask(str(folder / "changed.json"), "rows")["rows"]
              if r["bound"] == "impossible"]
    check("impossible rows", seen["impossible_rows"] == len(listed) > 0
          and set(seen["impossible_keys"]) <= set(listed), seen)
    changed = copy.deepcopy(run)
    changed["machine"]["cpu"]["memory"][-1]["read"]["is_lower_bound"] = True
    check("a disturbed machine", trust(changed)["machine_disturbed"] is True, "")
    del changed["machine"]
    seen = trust(changed)
    check("no machine", seen["machine_disturbed"] is None and seen["not_known"], seen)


def check_hostile(run, device_run, folder):
    path = str(folder / "hostile.json")
    names = ['"\\', "\x00\x1f\x7f\u0085\u2028", {"bytes": "\u00ff\u00fe(\u00c3"}, "x" * 100_000,
             "</script>\ud7ff", "", "NaN"]
    for name in names:
        for source in (run, device_run):
            changed = copy.deepcopy(source)
            for op in changed["operators"]:
                op["name"] = name
                for field in op["fields"] if len(name) < 1000 else ():  # longer ones are refused
                    field["name"] = name
            for node in changed["nodes"]:
                node["name"] = name
            for thread in changed["threads"]:
                thread["name"] = name
            changed["program"] = name
            changed["notes"] = [name]
            if "kernels" in changed.get("device", {}):
                changed["device"]["kernels"] = [name for _ in changed["device"]["kernels"]]
            pathlib.Path(path).write_text(json.dumps(changed))
            for question in QUESTIONS:
                answer = ask(path, question)
                ask(path, question, "--budget", "20000")
                for row in answer["rows"][:1]:
                    if "key" in row:
                        ask(path, "row", row["key"])
    for value in ("inf", "-inf", "nan", -1.5, 1e308):
        for source in (run, device_run):
            changed = copy.deepcopy(source)
            for node in changed["nodes"]:
                node.update({m: value for m in node if m.endswith("_ns")})
            for work in changed.get("device", {}).get("work", []):
                work.update({m: value for m in work if m.endswith("_ns")})
            changed["wall_ns"] = value
            for thread in changed["threads"]:
                thread["wall_ns"] = thread["in_scopes_ns"] = value
            pathlib.Path(path).write_text(json.dumps(changed))
            for question in QUESTIONS:
                ask(path, question)
    pathlib.Path(path).write_text('{"kprof_profile":1}')
    for question in QUESTIONS:
        check(f"an empty profile: {question}", ask(path, question)["rows"] == [], "")
    error = ask(path, "row", "0" * 16, code=2)["error"]
    check("and none of its rows", error["choices"] == [], error)


with tempfile.TemporaryDirectory() as name:
    scratch = pathlib.Path(name)
    for packed in sorted((repository / "tests/profiles").glob("*.json*")):
        recorded = packed.name.split(".")[0]
        data = packed.read_bytes()
        file = scratch / f"{recorded}.json"
        file.write_bytes(gzip.decompress(data) if packed.suffix == ".gz" else data)
        check_numbers(recorded, str(file), scratch)
        # Of thousands of rows one question is enough.
        for asked in QUESTIONS if len(data) < 200_000 and packed.suffix != ".gz" else ["rows"]:
            check_budget(recorded, str(file), asked)
        for row in ask(str(file), "advice")["rows"][:1]:
            for key in row["rows"]:
                check_budget(recorded, str(file), "row", key)
    check_mistakes(str(scratch / "transformer.json"), scratch)
    loaded = [json.loads((scratch / f"{n}.json").read_text()) for n in ("transformer", "device")]
    check_trust(*loaded, scratch)
    check_hostile(*loaded, scratch)
print("query:", f"{len(kprof.failures)} failed" if kprof.failures else "in order")
sys.exit(1 if kprof.failures else 0)
