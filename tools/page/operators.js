// The table of operators: grouped, filtered, sorted; rows below a threshold fold.

const table = { group: "operator", sort: "", down: true, open: new Set(), asked: new Map(),
  shut: new Set(), body: null };
table.sort = rows.metrics.lost && rows.metrics.lost.some((v) => v !== null) ? "lost" : "time";
const FOLD_ROW = 0.01, FOLD_GROUP = 0.004, STEP = 30, MOST_WRONG = 20, MOST_MATCHING = 60;
const MOST_LINES = 80;   // of the table, while a filter is set
const MOST_ASKED = 60;  // folded lines that stay when more are asked for
const FOLDED = "\n";     // the key of what is asked for of the groups that fold

function sortValue(row) {
  const column = columnById[table.sort];
  if (column && column.text)
    return column.id === "operator" ? titleOf(row) : rows[column.id][row];
  return inTable(rows, table.sort, row);
}
function compare(a, b) {
  const x = table.values[a], y = table.values[b];
  if (x === y) return byTime(a, b);
  if (x === null || x === "") return 1;   // what is not known stands last in any order
  if (y === null || y === "") return -1;
  const order = typeof x === "string" ? (x < y ? -1 : 1) : y - x;
  return table.down === (typeof x !== "string") ? order : -order;
}

const groupText = (row) => (table.group === "none" ? "" : table.group === "bound"
  ? rows.bound[row] || "n/a" : rows[table.group === "operator" ? "name" : table.group][row]);

/** What is above a roof adds nothing to what is needed: its formula or the roof is wrong. */
const neededBy = (list) =>
  sumOf(list, (row) => (rows.bound[row] === "impossible" ? 0 : rows.needed[row]));
/** The groups with their rows, all sorted; sums come from the groups' own table, if any. They are
 * the same until one sorts, groups or filters. */
function groupedRows() {
  const of = table.group + table.sort + table.down;
  if (table.of === of && table.match === state.match) return table.sections;
  table.of = of;
  table.match = state.match;
  table.values = allRows.map(sortValue);
  const found = new Map();
  for (const row of allRows) {
    if (isOff(row)) continue;
    const key = groupText(row);
    if (!found.has(key)) found.set(key, { key, rows: [] });
    found.get(key).rows.push(row);
  }
  const source = groups[table.group];
  const text = { operator: "name", pass: "pass", dtype: "dtype" }[table.group];
  for (const group of found.values()) {
    group.rows.sort(compare);
    group.ns = timeOf(group.rows);
    group.at = source && !state.match ? source[text].indexOf(group.key) : -1;
    group.needed = group.at >= 0 ? source.needed[group.at] : neededBy(group.rows);
    group.shown = columnById[table.sort]?.text ? null : shownOf(group, table.sort);
  }
  return table.sections = [...found.values()].sort(compareGroups);
}
/** What the group's cell of a column shows; null where that is nothing. */
function shownOf(group, id) {
  if (id === "time") return group.ns;
  if (group.at >= 0) return inTable(groups[table.group], id, group.at);
  const m = metricById[id];
  return !m || (m.adds !== "sum" && id !== "lost") ? null
    : sumOf(group.rows, (row) => inTable(rows, id, row) || 0);
}
/** By what their cells show, or else by their first rows. */
function compareGroups(a, b) {
  if (a.shown === b.shown) return a.shown === null ? compare(a.rows[0], b.rows[0]) : b.ns - a.ns;
  if (a.shown === null || b.shown === null) return a.shown === null ? 1 : -1;
  return table.down ? b.shown - a.shown : a.shown - b.shown;
}
/** Of what takes most of their time. */
const boundOf = (list) =>
  rows.bound[list.reduce((a, row) => (rows.time[row] > rows.time[a] ? row : a), list[0])];

/** How many letters fit into the column of names. */
function nameRoom(columns) {
  if (state.printing) return 400;
  if (isNarrow()) return floor((innerWidth - 130) / 8.4) + 12;
  const others = sumOf(columns, (c) => (c.width ? wideOf(c) : 0));
  return max(12, floor((table.wide_px - others - 28) / 7.2));
}
function cellsOf(columns, row) {
  return columns.map((c) => {
    if (c.id === "operator") {
      const short = paramsOf(row) || rows.name[row];
      const name = table.group !== "operator" ? titleOf(row)
        : isNarrow() ? [short, rows.pass[row]].filter(Boolean).join(" ") : short;
      return el("th", { scope: "row", title: `${rows.name[row]} ${rows.parameters[row]}` },
        el("button", { class: "cut", type: "button", tabindex: -1,
          "aria-expanded": String(table.open.has(row)) },
        isNarrow() ? name : middleCut(name, nameRoom(columns))));
    }
    if (c.id === "bar") return el("td", null,
      barCell(rows.time[row], rows.needed[row], rows.bound[row], barWide(c)));
    if (c.id === "hist") return el("td", null, histogram(row, c.width - 16, 20,
      callRange[0] < callRange[1] ? callRange : null));
    if (c.id === "roof") return el("td", { class: "n" },
      roofCell(metricOf(row, "roof"), rows.bound[row], rows.at_most[row]));
    if (c.id === "bound") return el("td", null, boundCell(rows.bound[row], rows.why[row]));
    if (c.text) return el("td", { title: rows[c.id][row] },
      el("span", { class: "cut" }, rows[c.id][row]));
    return numberCell(c, row);
  });
}
function numberCell(c, row) {
  const value = inTable(rows, c.id, row);
  const minor = (c.id === "gflops" && hueName(rows.bound[row]) === "memory") ||
    (c.id === "gbs" && hueName(rows.bound[row]) === "compute") || c.id === "intensity";
  return el("td", { class: "n" + (minor || value === null ? " dim" : ""), "data-value": value,
    "data-id": c.id,
    "data-unit": isNarrow() ? THIN + smallOf(c) : null,
    title: value === null ? rows.why[row] : grouped(String(value)) +
      (c.unit === "time" ? " ns" : "") }, c.texts[row]);
}
function prepare(columns) {
  for (const c of columns)
    if (!c.text && !c.draw && c.narrow !== isNarrow()) {
      c.narrow = isNarrow();
      c.texts = c.id === "calls" || c.id === "kernels" || c.id === "copies"
        ? allRows.map((row) => count(inTable(rows, c.id, row)))
        : alignedColumn(c);
    }
}
/** The decimals of the groups count too, which stand in the same column. */
function alignedColumn(c) {
  const of = (source) => Array.from({ length: source.count }, (_, i) => inTable(source, c.id, i))
    .map((value) => (value === null ? null : value * factor(c)));
  const values = of(rows);
  c.most = mostDecimals([...values, ...of(groups.operator), ...of(total)]);
  return values.map((x) => padded(x === null ? "n/a" : three(x), c.most));
}

function sumCells(columns, group, values) {
  return columns.map((c, i) => {
    if (i === 0) return null;
    if (c.id === "time") return el("td", { class: "n", "data-unit": isNarrow() ? THIN + smallOf(c)
      : null }, padded(three(group.ns * factor(c)), c.most || 0));
    if (c.id === "bar") return el("td", null, group.isSum ? null
      : barCell(group.ns, group.needed, group.bound, barWide(c)));
    const value = values ? values(c) : null;
    if (c.id === "roof") return el("td", { class: "n" },
      value === null ? "" : roofCell(value, group.bound, false));
    if (c.text || c.draw || value === null) return el("td");
    const text = c.id === "calls" ? count(value) : padded(three(value * factor(c)), c.most || 0);
    return el("td", { class: "n" }, text);
  }).slice(1);
}

function groupRow(columns, group, inside) {
  const source = groups[table.group];
  group.bound = group.at >= 0 ? source.bound[group.at] : boundOf(group.rows);
  const shut = table.shut.has(group.key);
  return el("tr", { class: "group" },
    el("th", { scope: "rowgroup" }, el("span", { class: "cut" },
      el("button", { type: "button", "aria-expanded": String(!shut), onclick: () => {
        if (!table.shut.delete(group.key)) table.shut.add(group.key);
        showTable(group.key);
      }, "data-group": group.key, title: group.key },
      middleCut(group.key || "none", nameRoom(columns) - 12),
      " ", shut ? "▸" : "▾"),
      el("span", { class: "note" }, inside))),
    sumCells(columns, group, (c) => shownOf(group, c.id)));
}
/** Shows `list`; of what is not kept, those that were asked for, with a line for what is before
 * and one for what is behind. Once many were asked for, the first of them fold again. */
function appendFolded(columns, body, key, list, isKept, show) {
  const [from, until] = table.asked.get(key) || [0, 0], before = [], behind = [];
  const lines = key === FOLDED ? 3 : 1, step = ceil(STEP / lines);
  const line = (part, word, first, a, b) => {
    if (part.length) body.append(moreRow(columns, part.flatMap((x) => x.rows || x), word, () => {
      table.asked.delete(key);
      table.asked.set(key, [max(a, ceil(b - MOST_ASKED / lines)), b]);
      let sum = 0;
      for (const [k, [c, d]] of [...table.asked].reverse())
        if ((sum += (d - c) * (k === FOLDED ? 3 : 1)) > MOST_ASKED + 2) table.asked.delete(k);
      table.first = key + first;
      showTable();
    }));
  };
  const back = max(0, from - step), lineBefore = () =>
    line(before, "before", back, back, back + step);
  let n = 0;
  list.forEach((item, i) => {
    if (isKept(item, i)) { show(item); return; }
    if (n < from) before.push(item);
    else if (n >= until) behind.push(item);
    else {
      if (n === from) lineBefore();
      const at = body.rows.length;
      show(item);
      if (table.first === key + n) table.lead = body.rows[at];
    }
    n++;
  });
  if (n <= from) lineBefore();
  line(behind, "more", until, from, until + step);
}
function moreRow(columns, hidden, word, expand) {
  const group = { ns: timeOf(hidden), needed: neededBy(hidden), bound: boundOf(hidden) };
  const lost = sumOf(hidden, (row) => lostOf(row) || 0);
  const calls = sumOf(hidden, (row) => metricOf(row, "calls") || 0);
  const wrong = hidden.filter((row) => rows.bound[row] === "impossible").length;
  return el("tr", { class: word + " dim" },
    el("th", { scope: "row", style: "padding-left:20px" },
      el("button", { class: "link", type: "button", onclick: expand },
        `… ${count(hidden.length)} ${word}${wrong ? `, ▲ ${count(wrong)} above a roof` : ""}`)),
    sumCells(columns, group, (c) => (c.id === "lost" ? lost : c.id === "calls" ? calls : null)));
}

function rowOf(columns, row) {
  const open = table.open.has(row);
  return [el("tr", { class: `row${open ? " open" : ""}${row === state.row ? " sel" : ""}`,
    tabindex: 0, "data-row": row }, cellsOf(columns, row)),
  open ? el("tr", { class: "detail" }, el("td", { colspan: columns.length }, detailOf(row)))
    : null];
}
function rowsOf(columns, group, body) {
  const room = max(1, MOST_MATCHING - body.rows.length);
  const limit = FOLD_ROW * data.whole;
  // Rows above a roof do not fold, unless there are so many that no one would read them.
  let impossible = 0;
  const isShownWrong = (row) => rows.bound[row] === "impossible" && ++impossible <= MOST_WRONG;
  const keeps = (row, i) => state.match !== null ? i < room
    : i < 1 || rows.time[row] >= limit || isShownWrong(row) ||
      row === state.row || table.open.has(row);
  appendFolded(columns, body, group.key, group.rows, keeps,
    (row) => body.append(...rowOf(columns, row).filter(Boolean)));
}

function tableHead(columns) {
  return el("thead", null, el("tr", null, columns.map((c) => {
    const sort = c.sort || c.id, is = table.sort === sort && !c.draw === !columnById[sort].draw;
    return el("th", { scope: "col", class: c.text || c.id === "bar" || c.id === "hist" ? "" : "n",
      title: c.title, style: c.width ? `width:${wideOf(c)}px` : null,
      "aria-sort": is ? (table.down ? "descending" : "ascending") : null },
    el("button", { type: "button", "data-sort": sort, onclick: () => {
      table.down = table.sort === sort ? !table.down : !(c.text);
      if (table.sort !== sort && c.text) table.down = false;
      table.sort = sort;
      showTable();
      byId("ops").querySelector(`[data-sort="${sort}"]`).focus();
    } }, c.label, is ? (table.down ? " ↓" : " ↑") : ""),
    smallOf(c) ? el("small", null, smallOf(c)) : null);
  })));
}
function tableFoot(columns, sections) {
  const all = { ns: sumOf(sections, (g) => g.ns),
    needed: 0, bound: total.bound ? total.bound[0] : "", isSum: true };
  const values = state.match ? null : (c) => inTable(total, c.id, 0);
  const foot = [el("tr", null, el("th", { scope: "row" }, state.match ? "shown" : "all operators"),
    sumCells(columns, all, values))];
  const outside = data.whole - timeOf(allRows);
  if (!state.match && outside > 0.0005 * data.whole)
    foot.push(el("tr", null, el("th", { scope: "row" }, device ? "in no operator"
      : "in regions alone"),
      sumCells(columns, { ns: outside, needed: 0, bound: "", isSum: true }, null)));
  return el("tfoot", null, foot);
}

/** Draws the table; the focus stays on its row, or on the head of `group`. */
function showTable(group) {
  const focused = document.activeElement?.closest?.("#ops tr[data-row]")?.dataset.row;
  table.wide_px = byId("operators_b").clientWidth;
  const columns = shownColumns(table.wide_px);
  prepare(columns);
  const sections = groupedRows(), body = el("tbody");
  const small = sections.filter((g) => g.ns < FOLD_GROUP * data.whole &&
    !g.rows.some((row) => rows.bound[row] === "impossible" || row === state.row));
  const fold = new Set(state.match === null && small.length > 2 ? small : []);
  table.lead = null;
  appendFolded(columns, body, FOLDED, sections, (g) =>
    !fold.has(g) && (!state.match || body.rows.length < MOST_LINES), (g) => {
    if (table.group !== "none")
      body.append(groupRow(columns, g,
        `${count(g.rows.length)} row${g.rows.length > 1 ? "s" : ""}`));
    if (!table.shut.has(g.key)) rowsOf(columns, g, body);
  });
  table.first = "";
  if (sections.length === 0)
    body.append(el("tr", null, el("td", { colspan: columns.length, style: "padding:20px 0" },
      rows.count ? "No row matches. " : "No operator ran.",
      rows.count ? el("button", { class: "link", type: "button", onclick: clearFilter }, "clear")
        : "")));
  byId("operators_b").replaceChildren(el("table", { id: "ops" }, tableHead(columns), body,
    rows.count ? tableFoot(columns, sections) : null));
  if (table.lead)
    (table.lead.dataset.row ? table.lead : table.lead.querySelector("button")).focus();
  else if (focused !== undefined) byId("ops").querySelector(`tr[data-row="${focused}"]`)?.focus();
  if (group !== undefined)
    [...byId("ops").querySelectorAll("[data-group]")].find((b) =>
      b.dataset.group === group)?.focus();
  showCount(sections);
}
function showCount(sections) {
  const shown = sumOf(sections, (g) => g.rows.length), ns = sumOf(sections, (g) => g.ns);
  byId("operators_n").textContent = state.match
    ? `${count(shown)} of ${count(rows.count)} rows, ${time(ns)}`
    : `${count(rows.count)} row${rows.count === 1 ? "" : "s"}, ` +
      `${device ? "device time" : "own time"} of the whole run`;
}
