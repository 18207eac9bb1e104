// The roofline: rates over FLOPs a byte, below the roofs; levelled it is shares of the own roof.

const chart = decoded(data.roofline);
chart.x = chart.row.map((row) => metricOf(row, "intensity"));
chart.y = chart.row.map((row) => metricOf(row, "gflops") * 1e9);
const pointOfRow = new Map(chart.row.map((row, i) => [row, i]));
const roofOfRow = (row) => pointOfRow.has(row);
const roofView = { type: "", levelled: isNarrow() };
const typesOfPoints = [...new Set(chart.row.map((row) => rows.dtype[row]).filter(Boolean))];
const MOST_POINTS = 1000, MOST_LABELS = 60;
const decade = (x) => (x >= 1000 ? count(x) : String(+x.toPrecision(1)));

const roofsShown = () => (chart.roofs.filter((r) => !roofView.type ||
  r.name === roofView.type || r.name.startsWith(roofView.type + ",") ||
  r.name.startsWith(roofView.type + " ")));

function frame(points) {
  const xs = points.map((i) => chart.x[i]), ys = points.map((i) => chart.y[i]);
  const ridge = chart.roofs.map((r) => r.flops / r.bytes);
  const low = (values) => 10 ** Math.floor(Math.log10(Math.min(...values)) - 0.05);
  const high = (values) => 10 ** Math.ceil(Math.log10(Math.max(...values)) + 0.05);
  return { x0: low(xs), x1: high([...xs, ...ridge]), y0: low(ys),
    y1: 10 ** (Math.log10(Math.max(...ys, ...chart.roofs.map((r) => r.flops))) + 0.2) };
}

/** Places for labels, so that none lies over another or over a bubble's middle. */
function labeller(left, right, bottom) {
  const taken = [];
  const free = (box) => box.x >= left && box.x + box.w <= right && box.y + box.h <= bottom &&
    taken.every((t) => box.x > t.x + t.w || t.x > box.x + box.w || box.y > t.y + t.h ||
      t.y > box.y + box.h);
  return {
    block(x, y, w, h) { taken.push({ x, y, w, h }); },
    place(text, x, y, r) {
      const w = text.length * 6 + 4;
      for (const [px, py] of [[x + r + 4, y - 7], [x - r - 4 - w, y - 7], [x - w / 2, y - r - 17],
        [x - w / 2, y + r + 3]]) {
        const box = { x: px, y: py, w, h: 14 };
        if (!free(box)) continue;
        taken.push(box);
        return box;
      }
      return null;
    },
  };
}

function roofLines(f, px, py, right) {
  const out = svg("g", { "clip-path": "url(#plot)", fill: "none" });
  const labels = svg("g");
  const shown = roofsShown(), main = [...shown].sort((a, b) => b.flops - a.flops)[0];
  const ends = [];
  const line = (flops, bytes, attributes) => {
    const ridge = flops / bytes;
    out.append(svg("path", { d: `M${px(f.x0)} ${py(f.x0 * bytes)}L${px(ridge)} ${py(flops)}` +
      `L${px(f.x1)} ${py(flops)}`, ...attributes }));
  };
  if (main) {
    out.append(svg("path", { fill: "var(--bg2)", d: `M${px(f.x0)} ${py(f.x0 * main.bytes)}` +
      `L${px(main.flops / main.bytes)} ${py(main.flops)}L${px(f.x1)} ${py(main.flops)}` +
      `L${px(f.x1)} ${py(f.y0)}L${px(f.x0)} ${py(f.y0)}Z` }));
    for (const part of [0.5, 0.1])
      line(main.flops * part, main.bytes * part, { stroke: "var(--line2)",
        "stroke-dasharray": "1 4" });
  }
  for (const s of chart.slopes)
    if (main && s.bytes > 0) line(main.flops, s.bytes, { stroke: "var(--ink)",
      "stroke-opacity": 0.35, "stroke-dasharray": s.table ? "5 4" : null });
  for (const r of shown) {
    line(r.flops, r.bytes, { stroke: "var(--ink)", "stroke-width": r === main ? 2 : 1,
      "stroke-opacity": r === main ? 1 : 0.4 });
    ends.push([py(r.flops), `${r.name} ${si(r.flops, "")}`, r === main]);
  }
  let last = -20;
  for (const [y, text, isMain] of ends.sort((a, b) => a[0] - b[0])) {
    const at = Math.max(y + 4, last + 13);
    last = at;
    labels.append(svg("text", { x: right + 6, y: at, class: isMain ? "ink" : "" }, text));
  }
  return { out, labels, main };
}
function slopeLabels(f, px, py, main) {
  const out = svg("g");
  const list = chart.slopes.map((s) => [s.name, s.bytes]);
  if (main) list.push([device ? "memory" : "DRAM", main.bytes]);
  const angle = -Math.atan2(py(f.y0) - py(f.y0 * 10), px(10 * f.x0) - px(f.x0)) * 180 / Math.PI;
  list.sort((a, b) => b[1] - a[1]).forEach(([name, bytes], i) => {
    const text = `${name} ${si(bytes, "B/s")}`, decade = px(10 * f.x0) - px(f.x0);
    const long = (6 * text.length + 12) * Math.cos(angle * Math.PI / 180) / decade;
    if (!main) return;
    const last = main.flops / bytes / 10 ** long;  // where it still ends below the flat part
    const x = Math.min(last, f.x0 * 10 ** (0.12 + 1.1 * long * i)), y = x * bytes;
    if (x < f.x0 || y < f.y0 * 1.5) return;
    out.append(svg("text", { class: "halo",
      transform: `translate(${px(x)} ${py(y) - 5}) rotate(${angle})` }, text));
  });
  return out;
}

function bubbles(points, px, yOf, radius, labels, selectedLine) {
  const out = svg("g"), names = svg("g"), seen = new Set();
  const isChosen = (i) => chart.row[i] === state.row;
  const order = [...points].sort((a, b) => isChosen(a) - isChosen(b) ||
    rows.time[chart.row[b]] - rows.time[chart.row[a]]);
  for (const i of order) {
    const r = 0.75 * radius(i);
    labels.block(px(chart.x[i]) - r, yOf(i) - r, 2 * r, 2 * r);
  }
  for (const i of order) {
    const row = chart.row[i], x = px(chart.x[i]), y = yOf(i), r = radius(i);
    const wrong = rows.bound[row] === "impossible", chosenNow = row === state.row;
    out.append(standsFor(svg("circle", { cx: x, cy: y, r, fill: wrong ? "none"
      : hue(rows.bound[row]),
      "fill-opacity": 0.55, opacity: isOff(row) ? 0.15 : 1,
      stroke: wrong ? "var(--red)" : chosenNow ? "var(--ink)" : "var(--bg)",
      "stroke-width": chosenNow || wrong ? 2 : 1, "stroke-dasharray": wrong ? "3 2" : null,
      tabindex: -1 }), row));
    if (chosenNow) out.append(selectedLine(i, x, y));
  }
  const urgent = [...points].sort((a, b) => lostOf(chart.row[b]) - lostOf(chart.row[a]));
  const chosenFirst = urgent.sort((a, b) =>
    (chart.row[b] === state.row) - (chart.row[a] === state.row));
  for (const i of chosenFirst.slice(0, MOST_LABELS)) {
    const row = chart.row[i], key = rows.name[row] + rows.pass[row];
    if (isOff(row) || (seen.has(key) && row !== state.row)) continue;
    const text = (rows.bound[row] === "impossible" ? "▲ " : "") +
      [rows.name[row], rows.pass[row]].filter(Boolean).join(" ").slice(0, 28);
    const box = labels.place(text, px(chart.x[i]), yOf(i), radius(i));
    if (!box) continue;
    seen.add(key);
    names.append(svg("text", { x: box.x + 2, y: box.y + 11, "pointer-events": "none",
      class: "halo" + (row === state.row ? " ink" : "") }, text));
  }
  return [out, names];
}

function axes(f, px, bottom, left, right, yTicks, top) {
  const out = svg("g");
  for (let x = f.x0; x <= f.x1 * 1.01; x *= 10)
    out.append(svg("line", { x1: px(x), x2: px(x), y1: top, y2: bottom, class: "grid" }),
      svg("text", { x: px(x), y: bottom + 16, "text-anchor": "middle" }, decade(x)));
  for (const [y, text] of yTicks)
    out.append(svg("line", { x1: left, x2: right, y1: y, y2: y, class: "grid" }),
      svg("text", { x: left - 7, y: y + 4, "text-anchor": "end" }, text));
  out.append(svg("text", { x: right, y: bottom + 31, "text-anchor": "end" }, "FLOP per byte"));
  return out;
}

function showRoofline() {
  const ofType = chart.row.map((_, i) => i).filter((i) => !roofView.type ||
    rows.dtype[chart.row[i]] === roofView.type).sort((a, b) => byTime(chart.row[a], chart.row[b]));
  const points = ofType.filter((i, at) => at < MOST_POINTS || chart.row[i] === state.row);
  const undrawn = ofType.length - points.length;
  byId("roofline").hidden = chart.row.length === 0;
  if (chart.row.length === 0) return;
  const box = byId("roofline_b"), width = Math.max(280, box.clientWidth);
  const narrow = width < 560, left = 50, high = narrow ? 340 : 470, top = 24, bottom = high - 40;
  const levelled = roofView.levelled, right = width - (levelled || narrow ? 10 : 140);
  const f = frame(points.length ? points : chart.row.map((_, i) => i));
  const px = (x) => left + (right - left) * Math.log10(x / f.x0) / Math.log10(f.x1 / f.x0);
  const most = Math.max(...points.map((i) => rows.time[chart.row[i]]), 1);
  const largest = narrow ? 18 : 27;
  const radius = (i) => Math.max(2.5, largest * Math.sqrt(rows.time[chart.row[i]] / most));
  const picture = svg("svg", { class: "chart", height: high, viewBox: `0 0 ${width} ${high}`,
    role: "img", "aria-label": roofFinding(points) },
  svg("clipPath", { id: "plot" }, svg("rect", { x: left, y: top - 8, width: right - left,
    height: bottom - top + 8 })));
  const labels = labeller(left, right, bottom);
  const yText = levelled ? "of the roof" : "FLOP/s";
  picture.append(svg("text", { x: 0, y: 11 }, yText));
  if (levelled) {
    const above = points.some((i) => (metricOf(chart.row[i], "roof") || 0) > 1) ? 1.3 : 1.04;
    const py = (share) => bottom - (bottom - top) * Math.min(share, above) / above;
    const ticks = [0, 0.25, 0.5, 0.75, 1].map((s) => [py(s), 100 * s + THIN + "%"]);
    picture.append(axes(f, px, bottom, left, right, ticks, top));
    if (above > 1.1)
      picture.append(svg("rect", { x: left, width: right - left, y: py(above),
        height: py(1) - py(above), fill: "var(--red)", "fill-opacity": 0.07 }),
      svg("text", { x: left + 6, y: py(above) + 13 }, "above the roof: impossible"));
    picture.append(svg("line", { x1: left, x2: right, y1: py(1), y2: py(1), stroke: "var(--ink)",
      "stroke-width": 2 }));
    const inside = points.filter((i) => metricOf(chart.row[i], "roof") !== null);
    const yOf = (i) => py(metricOf(chart.row[i], "roof"));
    picture.append(...bubbles(inside, px, yOf, radius, labels, (i, x, y) =>
      svg("line", { x1: x, x2: x, y1: y, y2: py(1), stroke: "var(--ink)", "stroke-width": 1.5 })));
  } else {
    const py = (y) => bottom - (bottom - top) * Math.log10(y / f.y0) / Math.log10(f.y1 / f.y0);
    const ticks = [];
    for (let y = f.y0; y <= f.y1; y *= 10) ticks.push([py(y), si(y, "").replace(/\.0+(?=\D)/, "")]);
    const { out, labels: ends, main } = roofLines(f, px, py, right);
    picture.append(out, axes(f, px, bottom, left, right, ticks, top), slopeLabels(f, px, py, main));
    if (!narrow) picture.append(ends);
    picture.append(...bubbles(points, px, (i) => py(chart.y[i]), radius, labels, (i, x, y) => {
      const roof = metricOf(chart.row[i], "roof");
      const to = roof > 0 && roof < 1 ? py(chart.y[i] / roof) : y;
      return svg("g", { "pointer-events": "none" },
        svg("line", { x1: x, x2: x, y1: y, y2: to, stroke: "var(--ink)", "stroke-width": 1.5 }),
        svg("circle", { cx: x, cy: to, r: 3, fill: "var(--ink)" }),
        roof > 0 && roof < 1 ? svg("text", { x: x + 6, y: (y + to) / 2, class: "halo ink" },
          `${three(1 / roof)} × to the roof`) : null);
    }));
  }
  box.replaceChildren(picture, el("div", { class: "legend", style: `padding-left:${left}px` },
    legend(), el("span", null, "area: time"),
    undrawn ? el("span", null, `${count(undrawn)} smaller rows are not drawn`) : null));
  showFurthest();
}
function roofFinding(points) {
  const worst = points.map((i) => chart.row[i]).filter((row) => lostOf(row) !== null)
    .sort((a, b) => lostOf(b) - lostOf(a))[0];
  return `Roofline of ${points.length} rows` + (worst === undefined ? "" :
    `; most is lost by ${titleOf(worst)}, at ${percent(metricOf(worst, "roof"))} of the roof`);
}
function showFurthest() {
  const worst = allRows.filter((row) => lostOf(row) > 0 && !isOff(row))
    .sort((a, b) => lostOf(b) - lostOf(a)).slice(0, 7);
  byId("roofline_s").replaceChildren(el("h3", null, "Furthest from the roof: lost in the run"),
    ...worst.map((row) => el("button", { class: "item", type: "button", title: titleOf(row),
      "aria-pressed": String(row === state.row), onclick: () => select(row) },
    el("span", { class: "r" }, time(lostOf(row))),
    el("span", { style: row === state.row ? "text-decoration:underline;font-weight:600" : "" },
      `${rows.name[row]} ${paramsOf(row)}`.slice(0, 60)),
    el("span", { class: "note" }, swatch(rows.bound[row]), [rows.pass[row],
      `${percent(metricOf(row, "roof"))} of the roof`,
        rows.bound[row]].filter(Boolean).join(", ")))),
    chart.left_out ? el("p", { class: "note", style: "margin-top:12px" },
      `Not on the chart: ${count(chart.left_out)} row${chart.left_out > 1 ? "s" : ""} ` +
      "without FLOPs, bytes or time, " +
      `${chart.left_out_share.replace("%", THIN + "%")} of the time.`) : "");
}
{
  const tools = byId("roofline_t");
  if (typesOfPoints.length > 1)
    tools.append(segmented("Type", [["", "all types"], ...typesOfPoints.map((t) => [t, t])], "",
      (value) => { roofView.type = value; showRoofline(); }));
  tools.append(segmented("Scale", [["classic", "classic"], ["levelled", "levelled"]],
    roofView.levelled ? "levelled" : "classic",
    (value) => { roofView.levelled = value === "levelled"; showRoofline(); }));
  byId("roofline_n").textContent = chart.roofs.length
    ? (device ? "roofs of the GPU" : "roofs of this CPU")
    : "the machine's ceilings are not known, so there is no roof";
  for (const event of ["select", "filter", "resize"]) on(event, showRoofline);
}
