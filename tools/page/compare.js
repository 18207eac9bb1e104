// The run beside earlier ones: for each row how its time changed, with what is known of it.

const compared = data.compare;
const compareView = { order: "changed", all: false, times: true };
const hasIntervals = compared &&
  [...compared.totals, ...compared.rows, ...compared.kernels.rows].some((c) => c.interval);
const SAME_ROWS = 10, ONLY_ROWS = 5;  // shown at first: that did not change, that one side has
const OTHER_MACHINE = "≠ The machine or the program is not the same in all runs: see above.";
const isChanged = (c) => c.verdict === "slower" || c.verdict === "faster";
const isOpen = (c) => c.verdict === "not shown" || c.verdict === "no verdict";
const verdictText = (c) => (c.verdict === "slower" ? "▲ " : "") + c.verdict +
  (c.needs ? (c.needs.endsWith("runs") ? ", needs " : ", ") + c.needs : "");
const verdictColour = (c) => (c.verdict === "slower" ? "var(--red)"
  : c.verdict === "faster" ? "var(--ink)" : "var(--ink3)");

/** The scale that all rows share: places are logarithms, so that half and double are as far. What
 *  is not shown may take no more than thrice the room of what is. */
function compareScale(changes, width) {
  const edge = 8, endsOf = (some) => some.flatMap((c) => [c.at, c.low ?? c.at, c.high ?? c.at]);
  const sure = changes.filter((c) => !isOpen(c));
  const near = endsOf(sure.length ? sure : changes), ends = endsOf(changes);
  const most = min(3, sure.length ? 3 * max(0.05, ...near.map(Math.abs)) : 3);
  const low = max(-most, min(-0.04, ...ends));
  const high = min(most, max(0.04, ...ends));
  const each = (width - 2 * edge) / (high - low);
  const x = (at) => edge + (min(high, max(low, at)) - low) * each;
  const inside = (p) => p > -100 && Math.log1p(p / 100) >= low && Math.log1p(p / 100) <= high;
  let ticks = [-90, -80, -50, 0, 100, 400, 900].filter(inside);
  for (const step of high - low > Math.log(6) ? [] : [1, 2, 5, 10, 20, 50, 100]) {
    ticks = Array.from({ length: 1 + 2 * 20 }, (_, i) => (i - 20) * step).filter(inside);
    if (ticks.every((p, i) => i === 0 ||
      x(Math.log1p(p / 100)) - x(Math.log1p(ticks[i - 1] / 100)) >= 56)) break;
  }
  return { x, low, high, width, ticks: ticks.map((p) => [p, x(Math.log1p(p / 100))]) };
}
function compareGrid(scale, height) {
  const limit = compared.threshold;
  const from = scale.x(Math.log1p(-min(0.99, limit))), to = scale.x(Math.log1p(limit));
  return [svg("rect", { x: from, width: to - from, y: 0, height, fill: "var(--bg2)" }),
    scale.ticks.map(([percent, x]) => svg("line", { x1: x, x2: x, y1: 0, y2: height,
      stroke: percent === 0 ? "var(--ink)" : "var(--line)" }))];
}
function compareAxis(scale) {
  const label = `Change of ${compared.rows.length} rows: ${compared.first}`;
  return svg("svg", { class: "chart", height: 18, viewBox: `0 0 ${scale.width} 18`, role: "img",
    "aria-label": nice(label) }, scale.ticks.map(([percent, x]) =>
    svg("text", { y: 12, "text-anchor": "middle", class: percent === 0 ? "ink" : "",
      x: max(16, min(scale.width - 18, x)) },
    percent === 0 ? "same" : `${percent < 0 ? "−" : "+"}${Math.abs(percent)}${THIN}%`)));
}
/** Filled: sure. Hollow: the same, or without a verdict. Dashed: not shown. */
function forest(c, scale, height) {
  const colour = verdictColour(c), middle = height / 2, x = scale.x(c.at);
  const arrow = (at, turn) => svg("path", { d: `M${at} ${middle - 4}l${turn * 6} 4l${-turn * 6} 4z`,
    fill: colour });
  return svg("svg", { class: "chart", height, viewBox: `0 0 ${scale.width} ${height}`,
    "aria-hidden": "true" }, compareGrid(scale, height),
  c.low === undefined ? "" : svg("line", { x1: scale.x(c.low), x2: scale.x(c.high), y1: middle,
    y2: middle, stroke: colour, "stroke-width": isChanged(c) ? 2 : 1.5,
    "stroke-dasharray": isOpen(c) ? "3 3" : null }),
  (c.low ?? c.at) < scale.low ? arrow(scale.x(scale.low) - 2, -1) : "",
  (c.high ?? c.at) > scale.high ? arrow(scale.x(scale.high) + 2, 1) : "",
  c.at < scale.low || c.at > scale.high ? ""
    : svg("circle", { cx: x, cy: middle, r: isChanged(c) ? 5 : 4, stroke: colour,
      "stroke-width": 1.5, fill: isChanged(c) ? colour : "var(--bg)" }));
}
function tipOfChange(event, c) {
  showTip(event, c.title, [
    `${nice(c.change)}${c.interval ? `, ${nice(c.interval)}${THIN}%` : ""}: ${verdictText(c)}`,
    `${time(c.before)} before, ${time(c.after)} after` + (c.share === undefined ? "" : " a call"),
    c.share === undefined ? "" : `${percent(c.share)} of the time`,
    c.plain === c.change ? "" : `${nice(c.plain)} with what all rows have in common`,
    c.mean === undefined || c.mean === c.change ? "" : `the mean call ${nice(c.mean)}`]);
}
/** Before and after; of a row, of one call. */
const beforeAfter = (c) => `${time(c.before)} → ${time(c.after)}`;
const timesCell = (text) => (compareView.times
  ? el("td", { class: "times n dim" }, text) : "");
function compareRow(c, scale, isTotal) {
  const dim = isChanged(c) ? "" : " dim", bold = isChanged(c) ? "font-weight:600" : null;
  const style = c.verdict === "slower" ? "color:var(--red);font-weight:600" : bold;
  return el("tr", { ...selects(c, isTotal), onpointermove: (event) => tipOfChange(event, c),
    onpointerleave: hideTip },
  el("th", { scope: "row", title: c.title }, el("span", { class: "cut" }, c.title)),
  el("td", { class: "plot" }, forest(c, scale, isNarrow() ? 22 : 27)),
  timesCell(beforeAfter(c)),
  compared.common_is_large ? el("td", { class: "plain n dim" }, nice(c.plain)) : "",
  el("td", { class: "n change" + dim, style }, compared.differs
    ? el("span", { title: OTHER_MACHINE }, "≠ ") : "", nice(c.change)),
  hasIntervals
    ? el("td", { class: "interval" + (isChanged(c) ? "" : " dim") }, c.interval || "n/a") : "",
  compared.judged ? el("td", { class: "verdict" + dim, style }, verdictText(c)) : "");
}
/** What makes a line of the table select its row everywhere, if it has one. */
function selects(c, isTotal) {
  const known = c.row !== undefined;
  return { "data-row": known ? c.row : null, tabindex: known ? 0 : null,
    class: `${isTotal ? "total" : ""} ${known && c.row === state.row ? "sel" : ""} ` +
      (isOff(known ? c.row : -1) && !isTotal ? "off" : ""),
    onclick: () => known && select(c.row),
    onkeydown: (event) => { if (event.key === "Enter" && known) select(c.row); } };
}
/** What one side alone has: `word` says "new" or "gone". */
function unmatchedRow(c, word, scale) {
  return el("tr", selects(c, false),
    el("th", { scope: "row", title: c.title }, el("span", { class: "cut" }, c.title)),
    el("td", { class: "plot" }, svg("svg", { class: "chart", height: 27,
      viewBox: `0 0 ${scale.width} 27`, "aria-hidden": "true" }, compareGrid(scale, 27))),
    timesCell(`${time(c.time)} a run, ${percent(c.share)}`),
    compared.common_is_large ? el("td", { class: "plain n" }) : "",
    el("td", { class: "n change" }, word), hasIntervals ? el("td", { class: "interval" }) : "",
    compared.judged ? el("td", { class: "verdict" }) : "");
}
/** The rows to show, and how many of the same are left out. */
function comparedRows(of) {
  const order = compareView.order === "changed" ? listed(of.changed_first)
    : of.rows.map((_, i) => i);
  let same = 0;
  const rows_ = order.map((i) => of.rows[i]);
  const shown = rows_.filter((c) => c.verdict !== "same" || compareView.all ||
    same++ < SAME_ROWS);
  return [shown, rows_.length - shown.length];
}
/** Lines of operators or of kernels: what both sides have, then what one has. */
function compareBodies(of, scale) {
  const [rows_] = comparedRows(of), most = compareView.all ? Infinity : ONLY_ROWS;
  const only = (word, list) => (list.length === 0 ? null : el("tbody", { class: word },
    list.slice(0, most).map((c) => unmatchedRow(c, word, scale))));
  return [el("tbody", null, rows_.map((c) => compareRow(c, scale, false))),
    only("new", listed(of.added)), only("gone", listed(of.gone))];
}
function leftOut(of) {
  const only = [of.added, of.gone].map((list) =>
    compareView.all ? 0 : max(0, listed(list).length - ONLY_ROWS));
  return comparedRows(of)[1] + only[0] + only[1];
}
function compareTable() {
  const box = byId("compare_b"), all = box.clientWidth, kernels_ = compared.kernels;
  compareView.times = isNarrow() || all >= 1000;  // names are worth more room
  const beside = [!compareView.times ? 0 : all > 1200 ? 190 : 168,
    compared.common_is_large ? 72 : 0, compared.differs ? 88 : 72, hasIntervals ? 132 : 0,
    compared.judged ? 204 : 0].filter((w) => w > 0);
  const title = all > 1200 ? 340 : all > 900 ? 260 : 190;
  const width = max(120, isNarrow() ? all : all - title - beside.reduce((a, b) => a + b, 0));
  const scale = compareScale([...compared.totals, ...compared.rows, ...kernels_.rows], width);
  const left = leftOut(compared) + leftOut(kernels_);
  box.replaceChildren(el("table", null,
    el("colgroup", null, [title, width, ...beside].map((w) =>
      el("col", { style: `width:${w}px` }))),
    el("thead", null, el("tr", null, headCell("row"),
      el("th", { scope: "col", class: "plot" }, compareAxis(scale)),
      compareView.times ? headCell("before → after", "of a call", true) : "",
      compared.common_is_large ? headCell("plain", "", true) : "", headCell("change", "", true),
      hasIntervals ? el("th", { scope: "col", class: "interval" }, `95${THIN}% interval`) : "",
      compared.judged ? headCell("verdict") : "")),
    el("tbody", null, compared.totals.map((c) => compareRow(c, scale, true))),
    compareBodies(compared, scale),
    kernels_.rows.length + listed(kernels_.added).length + listed(kernels_.gone).length === 0 ? null
      : [el("tbody", { class: "of" }, el("tr", null, el("th", { scope: "rowgroup",
        colspan: 2 + beside.length }, "Kernels", el("span", { class: "note" },
        " of both sides; times of a run of the kernel, nothing taken out")))),
      compareBodies(kernels_, scale)]),
  left > 0 ? el("button", { class: "link", type: "button",
    onclick: () => { compareView.all = true; showCompare(); } },
  `${count(left)} more ${left === 1 ? "row is" : "rows are"} the same, new or gone`) : "",
  compared.differs ? el("p", { class: "note" }, OTHER_MACHINE) : "",
  el("p", { class: "note" }, fitting(compared.below.join(" "))));
}
function showCompare() {
  byId("compare").hidden = !compared;
  if (!compared) return;
  const focused = document.activeElement.closest?.("#compare_b tr[data-row]")?.dataset.row;
  const [first, ...more] = compared.files;
  byId("compare_h").textContent = "Compared with " + first.split("/").at(-1) +
    (more.length ? ` and ${count(more.length)} more` : "");
  byId("compare_h").title = compared.files.join("\n");
  byId("compare_n").textContent = nice(compared.settings) + "; change of the time";
  byId("compare_s").replaceChildren(el("b", null, fitting(compared.first)),
    " " + fitting(compared.rest));
  byId("compare_w").replaceChildren(...compared.warnings.map((text) =>
    el("li", null, el("span", { class: "bad" }, "▲ "), fitting(text))));
  byId("compare_t").replaceChildren(compared.rows.length > 1
    ? segmented("Order of rows", [["changed", "changed first"], ["time", "by time"]],
      compareView.order, (order) => { compareView.order = order; compareTable(); }) : "");
  compareTable();
  if (focused !== undefined) byId("compare_b").querySelector(`[data-row="${focused}"]`)?.focus();
}
for (const event of ["select", "filter", "resize"]) on(event, showCompare);
