// What all sections share: the data, numbers as text, colours, one selection and one filter.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const THIN = "\u202f";
const { ceil, floor, log10, max, min } = Math;

// ---- numbers

function grouped(text) {
  const [whole, part] = text.split(".");
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (part ? "." + part : "");
}
/** Three significant digits, as the text report has them. */
function three(x) {
  if (x === null || !isFinite(x)) return "n/a";
  const minus = x < 0 ? "\u2212" : "";
  const size = Math.abs(x);
  if (size === 0) return "0";
  const decimals = size < 0.9995 ? 3 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  if (size < 0.0005) return "<0.001";
  if (size >= 999999.5) return minus + size.toExponential(2).replace("+", "");
  return minus + grouped(size.toFixed(decimals));
}
function scaled(x, units) {
  let at = 0;
  while (at + 1 < units.length && Math.abs(x) / units[at][0] >= 999.5) at++;
  return three(x / units[at][0]) + THIN + units[at][1];
}
const TIME = [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]];
const time = (ns) => (ns === null ? "n/a" : ns === 0 ? "0" + THIN + "ns" : scaled(ns, TIME));
const SI = [[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"], [1e12, "T"], [1e15, "P"], [1e18, "E"]];
const si = (x, unit) => (x === null ? "n/a" : scaled(x, SI) + unit);
const count = (n) => (n === null ? "n/a" : grouped(String(Math.round(n))));
function percent(x) {
  if (x === null || !isFinite(x)) return "n/a";
  const text = x === 0 ? "0" : x < 0.0005 ? "<0.1" : grouped((100 * x).toFixed(1));
  return text + THIN + "%";
}
const decimalsOf = (text) =>
  (text.includes(".") && !text.includes("e") ? text.length - text.indexOf(".") - 1 : 0);
/** Fills a number up with spaces as wide as digits, so that points stand below points. */
function padded(text, most) {
  if (text === "n/a" || isNarrow()) return text;
  const have = decimalsOf(text);
  // Where the column has both large and small numbers, the large ones need its room.
  if (text.length + most > 10) return text;
  return text + (have === 0 && most > 0 ? "\u2008" : "") +
    "\u2007".repeat(max(0, most - have));
}
const mostDecimals = (values) =>
  values.reduce((most, x) => (x === null ? most : max(most, decimalsOf(three(x)))), 0);
/** Texts of one column in one unit, aligned at the point. */
function aligned(values) {
  const most = mostDecimals(values);
  return values.map((x) => padded(x === null ? "n/a" : three(x), most));
}
/** Texts of the report with a narrow space before units. */
const nice = (text) =>
  text.replace(/(\d) ?(%|(?:ns|µs|ms|s|[kMGTPE]?(?:FLOP|B)(?:\/s)?|[KMGT]iB)\b)/g,
  "$1" + THIN + "$2");
/** A sentence in which no word is so long that it hides the rest. */
const fitting = (text) => nice(text.replace(/\S{81,}/g, (word) => middleCut(word, 60)));
function timeUnit(values) {
  const most = values.reduce((a, x) => max(a, x || 0), 0);
  return most >= 1e10 ? TIME[3] : most >= 1e7 ? TIME[2] : most >= 1e4 ? TIME[1] : TIME[0];
}

// ---- tables of columns

const isObject = (x) => x !== null && typeof x === "object" && !Array.isArray(x);
/** Writes out what the file says shorter: columns of one value, or of texts that come again. */
function decoded(table) {
  const out = {};
  for (const [name, column] of Object.entries(table || {})) {
    if (!isObject(column)) out[name] = column;
    else if ("same" in column || "rising" in column) out[name] = listed(column);
    else if (column.all) out[name] = textsOf(column);
    else out[name] = decoded(column);
  }
  // In the place of a column that is as a metric stands the metric's name.
  for (const table of out.metrics ? [out.metrics, out] : [])
    for (const [name, column] of Object.entries(table))
      if (typeof column === "string") table[name] = out.metrics[column];
  return out;
}
function textsOf(column) {
  const all = listed(column.all), ending = column.endings ? listed(column.ending) : null;
  const whole = ending ? all.map((text, i) => text + column.endings[ending[i]]) : all;
  return listed(column.of).map((i) => whole[i]);
}
const listed = (column) => (!isObject(column) ? column
  : Array.from({ length: column.count }, (_, i) => ("same" in column ? column.same
    : column.rising + i)));
const rows = decoded(data.rows);
const total = decoded(data.total);
const metricOf = (row, id) => (rows.metrics[id] ? rows.metrics[id][row] : null);
const allRows = Array.from({ length: rows.count }, (_, i) => i);
const sumOf = (list, of) => list.reduce((sum, x) => sum + of(x), 0);
const timeOf = (list) => sumOf(list, (row) => rows.time[row]);
const byTime = (a, b) => rows.time[b] - rows.time[a];
/** What tells the row from others of its operator. */
const paramsOf = (row) => rows.brief[row] || rows.parameters[row];
const titleOf = (row) => [rows.name[row], paramsOf(row), rows.pass[row]].filter(Boolean).join(" ");
const lostOf = (row) => metricOf(row, "lost");

// ---- colours: hue says what bounds

const HUES = {
  compute: "compute", memory: "memory", cache: "memory", balanced: "memory", latency: "latency",
  launch: "latency", "small grid": "latency", impossible: "red",
};
const hueName = (bound) => HUES[bound] || "unknown";
const hue = (bound) => `var(--${hueName(bound)})`;
const pale = (bound) => `color-mix(in srgb, ${hue(bound)} var(--pale), var(--bg))`;
function rgbOf(text) {
  const hex = parseInt(text.trim().slice(1), 16);
  return [hex >> 16, (hex >> 8) & 255, hex & 255];
}
/** The colours of the theme as a canvas takes them. */
function palette() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue("--" + name).trim();
  const part = parseFloat(get("pale")) / 100;
  const out = { font: style.getPropertyValue("--text") };
  const bg = rgbOf(get("bg"));
  for (const name of ["compute", "memory", "latency", "unknown", "red"]) {
    const solid = rgbOf(get(name));
    out[name] = get(name);
    out[name + "_pale"] =
      `rgb(${solid.map((c, i) => Math.round(c * part + bg[i] * (1 - part))).join(" ")})`;
  }
  for (const name of ["ink", "ink2", "ink3", "bg", "bg2", "line", "line2"]) out[name] = get(name);
  return out;
}

// ---- elements; text comes in as text only

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") node.style.cssText = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined && child !== false) node.append(child);
  return node;
}
const el = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const swatch = (bound) => el("span", { class: "sw", style: `background:${hue(bound)}` });

function segmented(label, choices, chosen, choose) {
  const box = el("div", { class: "seg", role: "group", "aria-label": label });
  const show = (now) => {
    for (const button of box.children)
      button.setAttribute("aria-pressed", String(button.dataset.value === now));
  };
  for (const [value, text] of choices)
    box.append(el("button", { type: "button", "data-value": value,
      onclick: () => { show(value); choose(value); } }, text));
  show(chosen);
  box.show = show;
  return box;
}

// ---- one selection, one filter

const listeners = {};
const on = (event, f) => (listeners[event] = listeners[event] || []).push(f);
const tell = (event) => (listeners[event] || []).forEach((f) => f());
const state = { row: -1, match: null, filter: "", printing: false };

/** Selects a row everywhere; the selected one again: none. */
function select(row, keep) {
  state.row = row === state.row && !keep ? -1 : row;
  const hash = state.row < 0 ? "" : "#row=" + rows.key[state.row];
  if (location.hash !== hash && (hash || location.hash.startsWith("#row=")))
    history.pushState(null, "", hash || location.pathname + location.search);
  tell("select");
}
function selectFromHash() {
  const found = /^#row=([0-9a-f]{10,16})$/.exec(location.hash);
  state.row = found ? rows.key.indexOf(found[1]) : location.hash ? state.row : -1;
  tell("select");
}
const TOO_LONG = "not searched, too slow: write ";
/** What is wrong with an expression, or "". Nothing can stop a search that has begun: what tries
 * ever more ways through a text does not begin. */
function troubleOf(text) {
  try {
    new RegExp(text);
  } catch {
    return "not a regular expression";
  }
  const open = [];  // of each group, whether what it matches can be matched in several ways
  let varies = false, ofGroup = false, loops = 0, choices = 0, atom = "", looped = "";
  for (const [part] of text.matchAll(
    /\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:[:=!]|<[=!]|<\w+>))?|(?:[*+?]|\{\d+(?:,\d*)?\})\??|[^]/g)) {
    const times = /^(?:[*+?]|\{(\d+)(,?)(\d*))/.exec(part);
    if (/^\\[1-9k]/.test(part)) return TOO_LONG + "out what " + part + " stands for";
    if (part[0] === "(") {
      open.push(varies);
      varies = false;
    } else if (part === ")") {
      ofGroup = varies;
      varies = open.pop() || varies;
      atom = part;
      continue;
    } else if (part === "|" && open.length) {
      choices += !varies;
      varies = true;
    } else if (times && (part.length > 1 || atom)) {
      const most = part[0] === "?" ? 1 : !times[1] ? Infinity
        : times[2] ? +times[3] || Infinity : +times[1];
      if (ofGroup && most > 1) return TOO_LONG + "[ab]+ for (a|b)+, and a+ for (a+)+";
      if (!times[1] || times[2]) {
        varies = true;
        if (most > 1 && atom === looped) return `${TOO_LONG}one ${atom}${part} for two`;
        most > 1 ? loops++ : choices++;
        looped = most > 1 ? atom : "";
      }
      ofGroup = false;
      continue;
    }
    if (atom && !times && atom !== looped) looped = "";
    ofGroup = false;
    atom = part;
  }
  return loops > 4 || choices > 12 ? TOO_LONG + "fewer of * + ? |" : "";
}
const searched = [];
const searchedOf = (row) => searched[row] || (searched[row] =
  `${rows.name[row]} ${rows.parameters[row]} ${rows.brief[row]} ${rows.pass[row]} ` +
  `${rows.path[row]} ${(kernelsOfRow[row] || []).join(" ")}`);
/** What is wrong with the expression, or ""; no row is dimmed while something is. */
function setFilter(text) {
  state.filter = text;
  let trouble = text && troubleOf(text), match = null;
  if (text && !trouble) {
    const wanted = new RegExp(text, "i"), begin = performance.now();
    match = new Uint8Array(rows.count);
    for (const row of allRows) {
      match[row] = wanted.test(searchedOf(row)) ? 1 : 0;
      if (performance.now() - begin < 1000) continue;
      trouble = TOO_LONG + "fewer of * + ? |";
      match = null;
      break;
    }
  }
  state.match = match;
  tell("filter");
  return trouble;
}
const isOff = (row) => state.match !== null && (row < 0 || !state.match[row]);
const kernels = data.kernels ? decoded(data.kernels) : null;
const kernelsOfRow = {};
if (kernels)
  kernels.row.forEach((row, i) => {
    kernelsOfRow[row] = kernelsOfRow[row] || [];
    kernelsOfRow[row].push(kernels.name[i]);
  });

/** Where the bar of each gain stands, as parts of the run. Each begins where those before it end,
 * but for a gain of time that another gains too: of one row or operator, or of more than there is.
 * Such a one begins at 0, and the sum does not hold it. */
function gainPlaces(advice) {
  const seen = new Set();
  let end = 0, all = 0;
  const places = advice.map((a) => {
    const part = max(0, a.part);
    const of = a.row === undefined ? a.where : rows.name[a.row];
    const shared = part > 0 && (seen.has(of) || end + part > 1);
    if (part > 0) seen.add(of);
    const from = shared ? 0 : end;
    if (!shared) end += part;
    all = max(all, end, part);
    return { from, part, shared };
  });
  return { places, all: all || 1 };
}

// ---- what the pointer is on

const tip = byId("tip");
function showTip(event, head, lines) {
  tip.replaceChildren(el("b", null, head), ...lines.filter(Boolean).map((t) => el("div", null, t)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const right = event.clientX + 14 + box.width > innerWidth;
  const low = event.clientY + 16 + box.height > innerHeight;
  tip.style.left = max(4, right ? event.clientX - box.width - 10 : event.clientX + 14) + "px";
  tip.style.top = (low ? event.clientY - box.height - 10 : event.clientY + 16) + "px";
}
const hideTip = () => { tip.hidden = true; };
function tipOfRow(event, row) {
  const roof = metricOf(row, "roof");
  showTip(event, titleOf(row), [
    `${time(rows.time[row])}, ${percent(rows.time[row] / data.whole)} of the time`,
    roof === null ? rows.why[row] : `${percent(roof)} of the roof, ${rows.bound[row] || "n/a"}`,
    lostOf(row) === null ? "" : `${time(lostOf(row))} lost above the roof`,
  ]);
}
/** Makes an element of a chart stand for a row. */
function standsFor(node, row) {
  node.setAttribute("data-row", row);
  node.addEventListener("click", (event) => { event.stopPropagation(); select(row); });
  node.addEventListener("pointermove", (event) => tipOfRow(event, row));
  node.addEventListener("pointerleave", hideTip);
  return node;
}
function goTo(id) {
  byId(id).scrollIntoView();
}
/** A phone; paper is as narrow, and is no phone. */
const isNarrow = () => innerWidth <= 820 && !state.printing;
/** Whether fingers point, which have no keys and no wheel. */
const isTouched = () => matchMedia("(pointer: coarse)").matches;
