// SPDX-License-Identifier: MIT
// The page's functions that need no browser: page_functions.js FOLDER. Each script of FOLDER is
// compiled; those of core.js that make texts are called.

const fs = require("fs"), path = require("path"), vm = require("vm"), assert = require("assert");
const folder = process.argv[2];

for (const name of fs.readdirSync(folder).filter((n) => n.endsWith(".js"))) {
  const source = fs.readFileSync(path.join(folder, name), "utf8");
  new vm.Script(source, { filename: name });
  // Text comes in as text: nothing that makes markup of it, and nothing of the network.
  for (const word of ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
    "new Function", "fetch(", "XMLHttpRequest", "http:", "https:", "import("])
    assert(!source.replace("http://www.w3.org/2000/svg", "").includes(word), `${name}: ${word}`);
}
// They share one scope: no two declare one name.
const all = fs.readdirSync(folder).filter((n) => n.endsWith(".js"));
new vm.Script('"use strict";' + all.map((name) =>
  fs.readFileSync(path.join(folder, name), "utf8")).join(""), { filename: "all scripts" });

const element = { textContent: JSON.stringify({
  rows: { count: 2, name: { all: ["Gemm", "Relu"], of: [0, 1] }, brief: { all: [""], of: { same: 0,
    count: 2 } }, calls: [], roof: [], bound: [], pass: [], time: [3, 1],
    metrics: { self: [3, 1], total: "self" } },
  metrics: [{ id: "self", label: "self", unit: "ns", meaning: "" }], total: {}, whole: 4 }) };
const page = { document: { getElementById: () => element, createElement: () => ({}) },
  matchMedia: () => ({ matches: false }), innerWidth: 1440, isFinite, console,
  groups: { operator: { time: [4] } } };  // of overview.js, which draws
vm.createContext(page);
vm.runInContext(["core.js", "columns.js", "timeline_model.js"].map((name) =>
  fs.readFileSync(path.join(folder, name), "utf8")).join("") +
  ";this.out = { three, time, si, percent, count, aligned, nice, rows, metricOf, hueName, " +
  "placesOverTime, nearestSlice };", page);
const { three, time, si, percent, count, aligned, nice, rows, metricOf, hueName,
  placesOverTime, nearestSlice } = page.out;

const same = (seen, wanted) => assert.deepStrictEqual(JSON.parse(JSON.stringify(seen)), wanted);
same([0, 0.1234, 1.234, 12.34, 123.4, 1234.5, -8.3, null, 0.0001].map(three),
  ["0", "0.123", "1.23", "12.3", "123", "1,235", "\u22128.30", "n/a", "<0.001"]);
same([0, 999, 999.6, 46.9e6, 2e9, 4e12].map(time), ["0\u202fns", "999\u202fns", "1.00\u202fµs",
  "46.9\u202fms", "2.00\u202fs", "4,000\u202fs"]);
same(si(1.5e12, "FLOP/s"), "1.50\u202fTFLOP/s");
same([0, 0.0001, 0.474, null].map(percent), ["0\u202f%", "<0.1\u202f%", "47.4\u202f%", "n/a"]);
same(count(1234567), "1,234,567");
same(aligned([1234, 1.5, null]), ["1,234\u2008\u2007\u2007", "1.50", "n/a"]);
same(nice("46.9 ms, 4.4% of 75.4 TFLOP/s in 3 steps"),
  "46.9\u202fms, 4.4\u202f% of 75.4\u202fTFLOP/s in 3 steps");
same(rows.name, ["Gemm", "Relu"]);
same(rows.brief, ["", ""]);
same(metricOf(1, "total"), 1);
same(["compute", "cache", "small grid", "impossible", ""].map(hueName),
  ["compute", "memory", "latency", "red", "unknown"]);
same(placesOverTime([100, 10, 150, 5, 200, 0], 108, 58), [[4, 4], [54, 29], [104, 49]]);
same(placesOverTime([0, 10, 1, 1000, 2, 100], 108, 58), [[4, 54], [54, 4], [104, 29]]);
same(placesOverTime([7, 10], 108, 58), [[4, 4]]);
const line = { begin: [10, 20, 40], end: [15, 30, 50] };
same([12, 16, 19, 20, 33, 38, 4, 60].map((t) => nearestSlice(line, t, 5)),
  [0, 0, 1, 1, 1, 2, -1, -1]);
same(nearestSlice({ begin: [], end: [] }, 1, 5), -1);
console.log("page_functions: in order");
