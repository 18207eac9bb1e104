// An open row of the operators' table, the controls above it, and its keys.

function fact(label, value) {
  return value === null || value === undefined || value === "" ? []
    : [el("dt", null, label), el("dd", null, value)];
}
/** To what shows the row in another section; the focus goes there too, so that its keys work. */
function lead(row, section, css) {
  select(row, true);
  goTo(section);
  byId(section).querySelector(css)?.focus({ preventScroll: true });
}
function timesOf(row) {
  const calls = rows.calls[row];
  if (!calls) return null;
  const few = calls[0] === 0;
  const range = ["min", "median", "max"].map((id) => metricOf(row, id));
  const p99 = metricOf(row, "calls") >= 100 ? metricOf(row, "p99") : null;
  const what = !few ? "calls by time, logarithmic" : calls.length === 2 ? "one call"
    : `${calls.length - 1} calls, each one shown`;
  return el("div", null, el("h3", null, what + (device ? ", on the host" : "")),
    el("div", { style: "margin:8px 0 2px" }, histogram(row, 300, 44)),
    el("div", { class: "note", style: "display:flex;justify-content:space-between;width:300px" },
      ...["least", "median", "most"].map((word, i) =>
        range[i] === null ? null : el("span", null, `${word} ${time(range[i])}`))),
    p99 === null ? null : el("div", { class: "note" }, `p99 ${time(p99)}`),
    metricOf(row, "first") === null ? null
      : el("div", { class: "note" }, `first call ${time(metricOf(row, "first"))}`),
    ...callsOverTime(row));
}
function callsOverTime(row) {
  const calls = rows.over_time[row], chart = overTime(row, 300, 64);
  if (!chart) return [];
  return [el("h3", { style: "margin-top:14px" },
    `${calls.length / 2} calls over the run, evenly drawn, and the slowest`),
    el("div", { style: "margin:8px 0 2px" }, chart),
    el("div", { class: "note", style: "display:flex;justify-content:space-between;" +
      `width:${300 - OVER_TIME_AXIS}px` },
      el("span", null, time(calls[0])), el("span", null, time(calls[calls.length - 2])))];
}
function detailOf(row) {
  const roof = metricOf(row, "roof"), lost = lostOf(row), ideal = metricOf(row, "ideal");
  const flops = rows.flops_call ? rows.flops_call[row] : null;
  const bytes = rows.bytes_call ? rows.bytes_call[row] : null;
  const took = ideal !== null && lost !== null ? ideal + lost : null;
  const at80 = took !== null && roof < 0.8 ? took - ideal / 0.8 : null;
  const kernel = (kernels ? kernels.row : []).indexOf(row);
  const work = [flops === null ? "" : si(flops, "FLOP"), bytes === null ? "" : si(bytes, "B")]
    .filter(Boolean).join(", ");
  return el("div", { class: "cols" }, timesOf(row),
    el("div", null, el("h3", null, "Against the roof"), el("dl", null,
      fact("work of a call", work),
      fact("needs", ideal === null ? null : `${time(ideal)} in all, by ` +
        (rows.of_memory[row] ? "its bytes" : "its FLOPs")),
      fact("took", took === null ? null : `${time(took)}: ${percent(roof)} of the roof`),
      fact("lost", lost === null ? null
        : `${time(lost)}, ${percent(lost / data.whole)} of the time`),
      fact("if it reached 80 %", at80 === null ? null : `saves ${time(at80)}`),
      fact("no roof", roof === null ? rows.why[row] : null)),
    el("div", { class: "go" },
      roofOfRow(row) ? el("button", { class: "link", type: "button",
        onclick: () => lead(row, "roofline", ".item[aria-pressed=true]") },
      "in the roofline") : null,
      el("button", { class: "link", type: "button",
        onclick: () => lead(row, "tree", ".box.sel") }, "in the tree"),
      data.timeline ? el("button", { class: "link", type: "button",
        onclick: () => { showSlowest(row); lead(row, "timeline", "canvas[tabindex]"); } },
      "slowest call") : null)),
    el("div", null, el("h3", null, "Where it comes from"), el("dl", null,
      fact("called at", rows.call_site[row] ? el("code", null, rows.call_site[row]) : null),
      fact("region", rows.path[row]),
      fact("parameters", rows.parameters[row] ? el("code", null, rows.parameters[row]) : null),
      fact("type", rows.dtype[row]), fact("thread", rows.thread[row]),
      kernel < 0 ? [] : [
        fact("kernel", el("code", { title: kernels.name[kernel] }, kernels.short[kernel])),
        fact("occupancy", kernels.occupancy[kernel] === null ? kernels.limiter[kernel]
          : `${percent(kernels.occupancy[kernel])}, limited by ${kernels.limiter[kernel]}`),
        fact("grid · block", kernels.grid[kernel]),
        fact("waves", kernels.waves[kernel] === null ? null : three(kernels.waves[kernel])),
      ])));
}

function clearFilter() {
  byId("filter").value = "";
  applyFilter();
  byId("filter").focus();
}
let filterTook = 0;
function applyFilter() {
  const begin = performance.now(), trouble = setFilter(byId("filter").value);
  filterTook = performance.now() - begin;
  byId("filter").setAttribute("aria-invalid", String(Boolean(trouble)));
  if (trouble) byId("operators_n").textContent = trouble;
}
function columnMenu() {
  return el("details", { class: "menu" }, el("summary", null, "Columns"),
    el("div", null, available.filter((c) => !c.always).map((c) => el("label", { title: c.title },
      el("input", { type: "checkbox", checked: chosen.has(c.id), onchange: (event) => {
        c.asked = event.target.checked;
        if (c.asked) chosen.add(c.id);
        else chosen.delete(c.id);
        showTable();
      } }), c.label))));
}
function showTools() {
  const choices = [["operator", "operator"]];
  for (const key of ["pass", "dtype"])
    if (new Set(rows[key]).size > 1) choices.push([key, key === "dtype" ? "type" : key]);
  if (rows.bound.some(Boolean)) choices.push(["bound", "bound"]);
  if (new Set(rows.path).size > 1) choices.push(["path", "region"]);
  choices.push(["none", "none"]);
  let waiting = 0;
  byId("operators_t").replaceChildren(
    el("input", { id: "filter", class: "search", type: "search",
      spellcheck: "false", placeholder: "Filter: regular expression  /",
      "aria-label": "Filter by a regular expression", onkeydown: (event) => {
        if (event.key !== "ArrowDown") return;
        event.preventDefault();
        focusRow(1);
      }, oninput: () => {
        clearTimeout(waiting);
        // Where a pass is slow, it waits for the letters behind.
        waiting = setTimeout(applyFilter, filterTook > 200 ? 120 : 0);
      } }),
    segmented("Group by", choices, table.group, (value) => { table.group = value; showTable(); }),
    columnMenu(), sortMenu());
}
/** On a phone, where the table has no heads to click. */
function sortMenu() {
  const list = el("select", { class: "sort", "aria-label": "Sort by", onchange: () => {
    table.sort = list.value;
    table.down = !columnById[list.value].text;
    showTable();
  } }, available.filter((c) => !c.extra && !c.draw).map((c) =>
    el("option", { value: c.id, selected: c.id === table.sort }, `by ${c.label}`)));
  return list;
}

/** Opens a row and shows it. */
function toggleRow(row) {
  if (!table.open.delete(row)) table.open.add(row);
  showTable();
}
function focusRow(by) {
  const lines = [...byId("ops").querySelectorAll("tr.row")];
  const at = lines.indexOf(document.activeElement);
  const next = lines[at < 0 ? max(0, lines.findIndex((l) => +l.dataset.row === state.row))
    : max(0, min(lines.length - 1, at + by))];
  if (next) next.focus();
}
byId("operators_b").addEventListener("click", (event) => {
  const line = event.target.closest("tr.row");
  if (!line) return;
  const row = +line.dataset.row;
  line.focus();
  state.row = -1;
  const wasOpen = table.open.has(row);
  if (wasOpen) table.open.delete(row);
  else table.open.add(row);
  select(wasOpen ? -1 : row, true);
});
byId("operators_b").addEventListener("keydown", (event) => {
  const line = event.target.closest("tr.row");
  if (!line || event.target !== line) return;
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    line.click();
  }
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    focusRow(event.key === "ArrowDown" ? 1 : -1);
  }
});
on("select", () => showTable());
on("filter", () => {
  for (const [key, [from]] of table.asked) if (from) table.asked.delete(key);
  showTable();
});
// On a phone the operators are closed at first.
if (isNarrow())
  for (const name of new Set(rows.name)) table.shut.add(name);
let tableNarrow = innerWidth;
on("resize", () => { if (innerWidth !== tableNarrow) { tableNarrow = innerWidth; showTable(); } });
