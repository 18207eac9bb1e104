// The columns of the operators' table: what each shows, and how.

const device = data.device;
const metricById = Object.fromEntries(data.metrics.map((m) => [m.id, m]));
const HIST = 18;

/** The value of a row of any table that has the same columns; null where it is not known. */
const inTable = (table, id, i) =>
  id === "time" ? table.time[i] : table.metrics[id] ? table.metrics[id][i] : null;

const COLUMNS = [
  { id: "operator", label: "operator", width: 0, text: true, always: true },
  { id: "pass", label: "pass", width: 64, text: true },
  { id: "time", label: "time", width: 78, unit: "time",
    title: device ? metricById.device.meaning : metricById.self.meaning },
  { id: "bar", label: "share", small: "solid at the roof", width: 180, draw: true,
    sort: "time" },
  { id: "lost", label: "lost", width: 74, unit: "time" },
  { id: "calls", label: "calls", width: 74 },
  { id: "median", label: "median", width: 78, unit: "time" },
  { id: "hist", label: "calls by time", width: 92, draw: true, sort: "median",
    small: "log, one scale" },
  { id: "gflops", label: "rate", width: 76, small: "GFLOP/s" },
  { id: "gbs", label: "traffic", width: 66, small: "GB/s" },
  { id: "intensity", label: "FLOP/B", width: 62 },
  { id: "roof", label: "of the roof", width: 118, draw: true },
  { id: "bound", label: "bound", width: 112, text: true },
];
const known = new Set(COLUMNS.map((c) => c.id));
for (const id of ["call_site", "thread", "dtype", "path"])
  COLUMNS.push({ id, label: id.replace("_", " ").replace("path", "region"), width: 120, text: true,
    extra: true });
for (const m of data.metrics)
  if (!known.has(m.id))
    COLUMNS.push({ id: m.id, label: m.label, width: 82, extra: true,
      unit: m.unit === "ns" ? "time" : m.unit === "" && /share|cpu/.test(m.id) ? "share" : "",
      small: m.unit === "ns" ? "" : m.unit });
for (const c of COLUMNS) if (metricById[c.id]) c.title = c.title || metricById[c.id].meaning;
const columnById = Object.fromEntries(COLUMNS.map((c) => [c.id, c]));

/** Whether any row has something to show in it. */
function says(column) {
  if (column.id === "operator" || column.id === "bar") return true;
  if (column.id === "hist") return rows.calls.length > 0;
  if (column.id === "bound") return rows.bound.some(Boolean);
  if (column.text) {
    const texts = rows[column.id] || [];
    return new Set(texts).size > 1 || (column.extra && Boolean(texts[0]));
  }
  const values = column.id === "time" ? rows.time : rows.metrics[column.id];
  return Boolean(values) && values.some((v) => v !== null);
}
const available = COLUMNS.filter(says);
const chosen = new Set(available.filter((c) => !c.extra).map((c) => c.id));

/** What the column of names needs, in pixels. Where it has less, the bars get shorter, and then
    these columns are left out unless the reader has asked for them. */
const NAME_PX = 240, BAR_PX = 180, SHORT_BAR_PX = 120;
const LEFT_OUT = ["intensity", "gbs", "calls", "hist", "median"];
const PHONE = new Set(["hist", "gflops", "gbs", "intensity", "calls", "median", "pass", "lost"]);

/** `room`: the table's pixels. */
function shownColumns(room) {
  const gone = isNarrow() ? PHONE
    : state.printing ? new Set(["intensity", "gbs", "calls", "hist"]) : new Set();
  const shown = () => available.filter((c) => chosen.has(c.id) && (c.asked || !gone.has(c.id)));
  if (isNarrow() || state.printing) return shown();
  const fits = () => shown().reduce((sum, c) => sum + c.width, NAME_PX) <= room;
  const bar = columnById.bar;
  bar.width = BAR_PX;
  if (!fits()) bar.width = SHORT_BAR_PX;
  for (const id of LEFT_OUT) if (!fits()) gone.add(id);
  return shown();
}

/** One unit for each column, from all rows, so that filtering does not change it. */
const units = {};
for (const c of COLUMNS)
  if (c.unit === "time")
    units[c.id] = timeUnit(c.id === "time" ? rows.time : rows.metrics[c.id] || []);
const factor = (c) => (c.unit === "time" ? 1 / units[c.id][0] : c.unit === "share" ? 100 : 1);
const smallOf = (c) => (c.unit === "time" ? units[c.id][1] : c.unit === "share" ? "%" : c.small ||
  "");

// ---- drawings in cells

const wideOf = (c) => (state.printing ? 0.7 : 1) * c.width;
const barWide = (c) => (isNarrow() ? max(200, innerWidth - 32) : wideOf(c) - 16);
const barScale = [...groups.operator.time, ...rows.time].reduce((a, b) => max(a, b), 1);
function barCell(ns, needed, bound, width) {
  const wide = max(ns > 0 ? 1.5 : 0, width * ns / barScale);
  return svg("svg", { width, height: 12, "aria-hidden": "true" },
    svg("rect", { width: wide, height: 12, fill: pale(bound) }),
    svg("rect", { width: ns > 0 ? wide * needed / ns : 0, height: 12, fill: hue(bound) }));
}
function roofCell(roof, bound, most) {
  if (roof === null) return el("span", { class: "dim" }, "n/a");
  const impossible = bound === "impossible";
  return el("span", { style: "display:flex;align-items:center;justify-content:flex-end;gap:7px" },
    (impossible ? "▲ " : most ? "≤ " : "") + (roof < 0.005 ? "<1" : (100 * roof).toFixed(0)) +
      THIN + "%",
    svg("svg", { width: 52, height: 7, "aria-hidden": "true" },
      svg("rect", { width: 52, height: 7, fill: "var(--line)" }),
      svg("rect", { width: 52 * min(1, roof), height: 7, fill: hue(bound) })));
}
function boundCell(bound, why) {
  if (!bound) return el("span", { class: "dim", title: why }, "n/a");
  return el("span", { style: "white-space:nowrap" }, swatch(bound),
    (bound === "impossible" ? "▲ " : "") + bound);
}
/** From the least to the most of the calls of all rows. */
const callRange = ["min", "max"].map((id) => (rows.metrics[id] || []).filter((x) => x > 0)
  .reduce((a, b) => ((b < a) === (id === "min") ? b : a), id === "min" ? Infinity : 1));
if (columnById.hist && callRange[0] < callRange[1])
  columnById.hist.title = `from ${time(callRange[0])} to ${time(callRange[1])} in all rows, ` +
    "logarithmic; as high as the most frequent";
/** Few calls are drawn themselves, many as counts between equal steps of the logarithm. All rows
 * of a column have the scale of `range`, so that one can be compared with another. */
function histogram(row, width, height, range) {
  const calls = rows.calls[row];
  const out = svg("svg", { width, height, "aria-hidden": "true" });
  if (!calls || calls.length < 2) return out;
  if (calls[0] === 0) {
    const times = calls.slice(1);
    const place = logPlace(range || [min(...times), max(...times)], 4, width - 8);
    out.append(svg("path", { stroke: "var(--ink3)", "stroke-opacity": 0.6,
      "stroke-linecap": "round", "stroke-width": min(8, height / 4), d: times.map((t, i) =>
        `M${place(t)} ${height - 4 - (i % 3) * height / 5}h0`).join("") }));
    return out;
  }
  const own = [metricOf(row, "min"), metricOf(row, "max")];
  const place = logPlace(range || own, 0, width);
  const from = place(own[0]), step = (place(own[1]) - from) / HIST;
  const most = max(...calls.slice(1));
  out.append(svg("path", { fill: "var(--ink3)", d: `M0 ${height}h${width}v-.5H0z` +
    calls.slice(1).map((n, i) => {
      const high = n ? max(1, (height - 1) * n / most) : 0;
      return high ? `M${min(width - 1, from + i * step).toFixed(1)} ${height}` +
        `v${-high.toFixed(1)}h${max(1, step - 1).toFixed(1)}v${high.toFixed(1)}z` : "";
    }).join("") }));
  return out;
}
/** Where a time stands on a logarithmic scale of `width` pixels. */
function logPlace([least, most], left, width) {
  const low = Math.log(max(1, least)), span = Math.log(max(1, most)) - low || 1;
  return (t) => left + width * min(1, max(0, (Math.log(max(1, t)) - low) / span));
}
const OVER_TIME_AXIS = 60;  // room for its highest and lowest time
/** Where calls stand in a box, of [begin, ns, begin, ns, ...]: [x, y] of each. Times that differ by
 * more than 20 stand by their logarithms. */
function placesOverTime(calls, width, height) {
  const begins = calls.filter((_, i) => i % 2 === 0);
  const times = calls.filter((_, i) => i % 2 === 1).map((ns) => max(1, ns));
  const from = begins[0], span = begins[begins.length - 1] - from || 1;
  const most = max(...times), least = min(...times);
  const logs = most > 20 * least;
  const share = (ns) => (logs ? Math.log(ns / least) / Math.log(most / least) : ns / most);
  return times.map((ns, i) => [4 + (width - 8) * (begins[i] - from) / span,
    height - 4 - (height - 8) * share(ns)]);
}
function overTime(row, width, height) {
  const calls = rows.over_time[row];
  if (!calls || calls.length < 8) return null;
  const out = svg("svg", { width, height, role: "img",
    "aria-label": "time of some calls over the run" });
  out.append(svg("rect", { y: height - 0.5, width, height: 0.5, fill: "var(--line2)" }));
  const times = calls.filter((_, i) => i % 2 === 1);
  const most = max(...times), least = min(...times);
  for (const [y, text] of [[10, time(most)],
    [height - 4, most > 20 * max(1, least) ? time(least) : "0"]])
    out.append(svg("text", { x: width - 2, y, "text-anchor": "end" }, text));
  placesOverTime(calls, width - OVER_TIME_AXIS, height).forEach(([cx, cy], i) => out.append(
    svg("circle", { cx, cy, r: 2.5, fill: "var(--ink3)", "fill-opacity": 0.7 },
      svg("title", null, `${time(calls[2 * i + 1])} at ${time(calls[2 * i])}`))));
  return out;
}
