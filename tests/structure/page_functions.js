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
    count: 2 } }, calls: [], roof: [], bound: ["", ""], needed: [0, 0], pass: [], time: [3, 1],
    metrics: { self: [3, 1], total: "self", lost: [2, 1], min: [1, 100], max: [10, 10000] } },
  metrics: [{ id: "self", label: "self", unit: "ns", meaning: "" }], total: {}, whole: 4 }) };
const page = { document: { getElementById: () => element, createElement: () => ({}) },
  matchMedia: () => ({ matches: false }), innerWidth: 1440, isFinite, console,
  // Of overview.js, which draws. What an operator lost is not the sum of what its rows lost.
  groups: { operator: { count: 2, name: ["Gemm", "Relu"], time: [3, 1], needed: [0, 0],
    bound: ["memory", "latency"], metrics: { lost: [0.5, 0.75] } } } };
vm.createContext(page);
vm.runInContext(["core.js", "columns.js", "operators.js", "timeline_model.js",
  "steps.js"].map((name) =>
  fs.readFileSync(path.join(folder, name), "utf8")).join("") +
  ";this.out = { three, time, si, percent, count, aligned, nice, rows, metricOf, hueName, " +
  "placesOverTime, nearestSlice, troubleOf, gainPlaces, groupedRows, boundOf, padded, logPlace, " +
  "callRange, stepsShown, stepsNote, table, state };", page);
const { three, time, si, percent, count, aligned, nice, rows, metricOf, hueName,
  placesOverTime, nearestSlice, troubleOf, gainPlaces, groupedRows, boundOf, padded, logPlace,
  callRange, stepsShown, stepsNote, table, state } = page.out;

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
// Numbers too large for a column.
same([999999, 1566570000, -1e6].map(three), ["999,999", "1.57e9", "\u22121.00e6"]);
same([padded("1.57e9", 3), padded("1,234", 3), padded("123,456", 4)],
  ["1.57e9\u2008\u2007\u2007\u2007", "1,234\u2008\u2007\u2007\u2007", "123,456"]);
// Groups stand in the order of what their cells show.
same(groupedRows().map((g) => [g.key, g.shown]), [["Relu", 0.75], ["Gemm", 0.5]]);
assert(groupedRows() === groupedRows());  // made once, until one sorts, groups or filters
for (const [change, wanted] of [[() => { table.down = false; }, ["Gemm", "Relu"]],
  [() => { table.sort = "time"; }, ["Relu", "Gemm"]], [() => { table.group = "none"; }, [""]],
  [() => { table.group = "operator"; state.match = [1, 0]; }, ["Gemm"]],
  [() => { state.match = null; }, ["Relu", "Gemm"]]]) {
  change();
  same(groupedRows().map((g) => g.key), wanted);
}
rows.bound = ["memory", "latency"];
same([[0, 1], [1]].map(boundOf), ["memory", "latency"]);
same(callRange, [1, 10000]);
same([1, 100, 10000, 1e6].map(logPlace(callRange, 4, 80)), [4, 44, 84, 84]);
same([[[0], [10], [9998]], [[7], [8], [9]], [[0], [1], [2]]].map((s, i) =>
  stepsShown(s, i === 1 ? 10 : 9999)), ["3 of 9,999, spread over steps 0 to 9,998",
  "3 of 10, the latest", "3 of 9,999, steps 0 to 2"]);
// Gains of one row, and of more than the run, share their time: each begins at 0.
const gains = (...list) => gainPlaces(list.map(([row, part]) => ({ row, part, where: "it" })));
same(gains([0, 0.5], [1, 0.25]), { places: [{ from: 0, part: 0.5, shared: false },
  { from: 0.5, part: 0.25, shared: false }], all: 0.75 });
same(gains([1, 0.5], [1, 0.25], [0, 0.25]).places.map((p) => [p.from, p.shared]),
  [[0, false], [0, true], [0.5, false]]);
same(gains([0, 0.75], [1, 0.5], [undefined, 0], [undefined, 0.25]).places.map((p) => p.from),
  [0, 0, 0.75, 0.75]);
same(gains(), { places: [], all: 1 });
// What would never end is not searched for; usual expressions are.
for (const text of ["(N|NN){1,22}x", "(a+)+b", "((a*))*", "(?:a?){9}", "(?:(x|y)z)+", "(a)\\1",
  "(?<b>a)\\k<b>", ".*.*x", "a*a+", "a*b*c*d*e*", "(a|b)(a|b)".repeat(7), "a?".repeat(13)])
  assert(/^not searched, .*: write /.test(troubleOf(text)), text + ": " + troubleOf(text));
for (const text of ["Gemm", "M=64 N=.*K=3", "^(Gemm|Relu) .*bwd$", "(conv|pool)?_\\d+", "[(|)+*]+x",
  "\\(a+\\)+", "a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p", "(abc)+", "\\w+\\s*=\\s*\\d{1,3}", "n=(?!9)\\d",
  "layer.[0-9]{2}", "x{", "a.*?b.*?c", "(ab){3}"])
  same(troubleOf(text), "");
same(troubleOf("("), "not a regular expression");
// Of steps whose scopes are not kept it is not known what they did.
const step = [0, 0, 1, 1], parted = [...step, 1, 0, 0, 0, 0, 0, 0, 0];
same(stepsNote({ all: 2, of: [parted, parted], region: "" }), "2 steps; parts sum to each");
same(stepsNote({ all: 1, of: [step], region: "block" }),
  "1 step, runs of block; what single steps did is not known");
same(stepsNote({ all: 3, of: [step, step, parted], region: "" }),
  "3 steps; parts are those of 1 that the timeline has whole, and sum to each");
// The boxes of the tree, up to what draws: what is narrow, or what the file lacks, is one box.
const treeSource = fs.readFileSync(path.join(folder, "tree.js"), "utf8").split("const matches")[0];
function boxesOf(parent, total, left, left_ns, least, by) {
  const filled = (x) => parent.map(() => x);
  const scope = { decoded: (x) => x, data: { tree: { row: filled(-1),
    parent, total, device: total, left, left_ns, left_device: left_ns, op: filled(0),
    folded: filled(1), first: parent.map((_, i) => -i) } }, rows: {}, device: Boolean(by),
    sumOf: (list, of) => list.reduce((sum, x) => sum + of(x), 0), min: Math.min };
  vm.createContext(scope);
  vm.runInContext(`${treeSource};if ("${by || ""}") treeView.by = "${by}";` +
    `this.boxes = (at, order) => { treeView.order = order || "time";` +
    `return layout(at === undefined ? null : nodes[at], ${least}).map((b) =>` +
    `[b.few ? -b.few : b.n.i, b.x, b.y, b.w]); }`, scope);
  return scope.boxes;
}
const none = [0, 0, 0, 0, 0, 0];
same(boxesOf([-1, 0, 0, 0, 0], [100, 60, 3, 2, 1], none, none, 5)(),
  [[0, 0, 0, 100], [1, 0, 26, 60], [-3, 60, 26, 6]]);
same(boxesOf([-1, 0, 0, 0, 0], [100, 60, 3, 2, 20], none, none, 5)(undefined, "execution"),
  [[0, 0, 0, 100], [4, 0, 26, 20], [-2, 20, 26, 5], [1, 25, 26, 60]]);
// Of its children the first region lacks 7, and the file 4 at the top.
const lacking = boxesOf([-1, 0], [100, 60], [7, 0, 4], [30, 0, 50], 5);
same(lacking(), [[0, 0, 0, 100], [1, 0, 26, 60], [-7, 60, 26, 30], [-4, 100, 0, 50]]);
same(lacking(0), [[0, 0, 0, 100], [1, 0, 26, 60], [-7, 60, 26, 30]]);
same(boxesOf([-1, 0], [100, 60], [7, 0, 0], [30, 0, 0], 5, "host")().length, 3);
// What ran at once is drawn below what called it, at its scale; what was handed over, as wide as
// what is in it.
same(boxesOf([-1, 0, 0, 1], [100, 150, 50, 30], none, none, 5)(),
  [[0, 0, 0, 100], [1, 0, 26, 75], [3, 0, 52, 15], [2, 75, 26, 25]]);
same(boxesOf([-1, 0, 1], [100, 0, 10], [0, 9, 0, 0], [0, 70, 0, 0], 5)(),
  [[0, 0, 0, 100], [1, 0, 26, 80], [2, 0, 52, 10], [-9, 10, 52, 70]]);
same(boxesOf([], [], [0], [0], 5)(), []);
same(boxesOf([-1, 0], [100, 60], none, none, Infinity)(), [[-1, 0, 0, 100]]);
console.log("page_functions: in order");
