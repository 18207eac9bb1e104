// The roofline: rates over FLOPs a byte, below the roofs; levelled it is shares of the own roof.

const chart = decoded(data.roofline);
chart.x = chart.row.map((row) => metricOf(row, "intensity"));
chart.y = chart.row.map((row) => metricOf(row, "gflops") * 1e9);
const pointOfRow = new Map(chart.row.map((row, i) => [row, i]));
const roofOfRow = (row) => pointOfRow.has(row);
const roofView = { type: "", levelled: isNarrow(), device: 0 };
// Of a run on several devices each has its roofs, and what of it each row took.
chart.devices = chart.devices.map(decoded);
const roofDevice = () => chart.devices[roofView.device] || chart;
const timeAt = (i) => (roofDevice().ns ? roofDevice().ns[i] : rows.time[chart.row[i]]);
const typesOfPoints = [...new Set(chart.row.map((row) => rows.dtype[row]).filter(Boolean))];
const MOST_POINTS = 600, MOST_LABELS = 60;
const plain = (x) => si(x, "").replace(/\.0+(?=\D)/, "");
const decade = (x) => (x >= 1e6 ? plain(x) : x >= 1000 ? count(x) : String(+x.toPrecision(1)));

const roofsShown = () => (roofDevice().roofs.filter((r) => !roofView.type ||
  r.name === roofView.type || r.name.startsWith(roofView.type + ",") ||
  r.name.startsWith(roofView.type + " ")));

function frame(points) {
  const xs = points.map((i) => chart.x[i]), ys = points.map((i) => chart.y[i]);
  const ridge = roofDevice().roofs.map((r) => r.flops / r.bytes);
  // A bubble at the edge has room for most of itself, and no chart is narrower than two decades.
  const span = (values, least) => {
    const low = log10(min(...values)), high = log10(max(...values));
    const more = max(0.3, 0.075 * (high - low), (least - (high - low)) / 2);
    return [10 ** (low - more), 10 ** (high + more)];
  };
  const [x0, x1] = span([...xs, ...ridge], 2);
  const [y0, y1] = span([...ys, ...roofDevice().roofs.map((r) => r.flops)], 2);
  return { x0, x1, y0, y1 };
}
/** The powers of ten from `low` to `high`; of few also twice and five times as much. */
function logTicks(low, high) {
  const out = [];
  const parts = log10(high / low) < 3 ? [1, 2, 5] : [1];
  for (let power = floor(log10(low)); 10 ** power <= high; power++)
    for (const part of parts)
      if (part * 10 ** power >= low && part * 10 ** power <= high) out.push(part * 10 ** power);
  return out;
}

/** Places for labels, so that none lies over another or over a bubble's middle. */
function labeller(left, right, bottom) {
  const taken = [];
  const free = (box) => box.x >= left && box.x + box.w <= right && box.y + box.h <= bottom &&
    taken.every((t) => box.x > t.x + t.w || t.x > box.x + box.w || box.y > t.y + t.h ||
      t.y > box.y + box.h);
  return {
    block(x, y, w, h) { taken.push({ x, y, w, h }); },
    free,
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
  for (const s of roofDevice().slopes)
    if (main && s.bytes > 0) line(main.flops, s.bytes, { stroke: "var(--ink)",
      "stroke-opacity": 0.35, "stroke-dasharray": s.table ? "5 4" : null });
  for (const r of shown) {
    line(r.flops, r.bytes, { stroke: "var(--ink)", "stroke-width": r === main ? 2 : 1,
      "stroke-opacity": r === main ? 1 : 0.4 });
    ends.push([py(r.flops), `${r.name} ${si(r.flops, "")}`, r === main]);
  }
  let last = -20;
  for (const [y, text, isMain] of ends.sort((a, b) => a[0] - b[0])) {
    const at = max(y + 4, last + 13);
    last = at;
    labels.append(svg("text", { x: right + 6, y: at, class: isMain ? "ink" : "" }, text));
  }
  return { out, labels, main };
}
/** Along each slope, where no bubble and no other label is. */
function slopeLabels(f, px, py, main, labels) {
  const out = svg("g");
  if (!main) return out;
  const list = [...roofDevice().slopes.map((s) => [s.name, s.bytes]),
    [device ? "memory" : "DRAM", main.bytes]];
  const wide = px(10) - px(1), turn = Math.atan2(py(1) - py(10), wide);
  for (const [name, bytes] of list.sort((a, b) => b[1] - a[1])) {
    const text = `${name} ${si(bytes, "B/s")}`, long = 6 * text.length + 8;
    const last = main.flops / bytes / 10 ** (long * Math.cos(turn) / wide);
    const first = max(f.x0, f.y0 / bytes) * 10 ** 0.1;
    for (let x = first; x <= last; x *= 10 ** (10 / wide)) {
      const boxes = [];
      for (let at = 0; at <= long; at += 10)
        boxes.push({ x: px(x) + at * Math.cos(turn) - 5, w: 10, h: 15,
          y: py(x * bytes) - at * Math.sin(turn) - 17 });
      if (!boxes.every(labels.free)) continue;
      boxes.forEach((box) => labels.block(box.x, box.y, box.w, box.h));
      out.append(svg("text", { class: "halo", transform:
        `translate(${px(x)} ${py(x * bytes) - 5}) rotate(${-turn * 180 / Math.PI})` }, text));
      break;
    }
  }
  return out;
}

function blockBubbles(points, px, yOf, radius, labels) {
  for (const i of points) {
    const r = 0.75 * radius(i);
    labels.block(px(chart.x[i]) - r, yOf(i) - r, 2 * r, 2 * r);
  }
}
function bubbles(points, px, yOf, radius, labels, selectedLine) {
  const out = svg("g"), names = svg("g"), seen = new Set();
  const isChosen = (i) => chart.row[i] === state.row;
  const order = [...points].sort((a, b) => isChosen(a) - isChosen(b) ||
    timeAt(b) - timeAt(a));
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
    const name = [rows.name[row], rows.pass[row]].filter(Boolean).join(" ");
    const text = (rows.bound[row] === "impossible" ? "▲ " : "") + middleCut(name, 28);
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
  let end = -Infinity;
  for (const x of logTicks(f.x0, f.x1)) {
    const text = decade(x), half = 3.5 * text.length;
    out.append(svg("line", { x1: px(x), x2: px(x), y1: top, y2: bottom, class: "grid" }));
    if (px(x) - half < end + 6) continue;
    end = px(x) + half;
    out.append(svg("text", { x: px(x), y: bottom + 16, "text-anchor": "middle" }, text));
  }
  for (const [y, text] of yTicks)
    out.append(svg("line", { x1: left, x2: right, y1: y, y2: y, class: "grid" }),
      svg("text", { x: left - 7, y: y + 4, "text-anchor": "end" }, text));
  out.append(svg("text", { x: right, y: bottom + 31, "text-anchor": "end" }, "FLOP per byte"));
  return out;
}

function showRoofline() {
  const ofType = chart.row.map((_, i) => i).filter((i) => timeAt(i) > 0 && (!roofView.type ||
    rows.dtype[chart.row[i]] === roofView.type)).sort((a, b) => timeAt(b) - timeAt(a));
  const points = ofType.filter((i, at) => at < MOST_POINTS || chart.row[i] === state.row);
  const undrawn = ofType.length - points.length;
  byId("roofline").hidden = chart.row.length === 0;
  if (chart.row.length === 0) return;
  const box = byId("roofline_b"), width = max(280, box.clientWidth);
  const levelled = roofView.levelled, roofs = roofDevice().roofs.length > 0;
  const narrow = width < 560, high = narrow ? 340 : levelled || roofs ? 470 : 300;
  const left = 50, top = 24, bottom = high - 40;
  const right = width - (levelled || narrow || !roofs ? 10 : 140);
  const f = frame(points.length ? points : chart.row.map((_, i) => i));
  const px = (x) => left + (right - left) * log10(x / f.x0) / log10(f.x1 / f.x0);
  const most = max(...points.map(timeAt), 1);
  const largest = narrow ? 18 : 27;
  const radius = (i) => max(2.5, largest * Math.sqrt(timeAt(i) / most));
  const picture = svg("svg", { class: "chart", height: high, viewBox: `0 0 ${width} ${high}`,
    role: "img", "aria-label": roofFinding(points) },
  svg("clipPath", { id: "plot" }, svg("rect", { x: left, y: top - 8, width: right - left,
    height: bottom - top + 8 })));
  const labels = labeller(left, right, bottom);
  const yText = levelled ? "of the roof" : "FLOP/s";
  picture.append(svg("text", { x: 0, y: 11 }, yText));
  if (levelled) {
    const above = points.some((i) => (metricOf(chart.row[i], "roof") || 0) > 1) ? 1.3 : 1.04;
    const zero = bottom - 14;  // bubbles there do not lie on the axis
    const py = (share) => zero - (zero - top) * min(share, above) / above;
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
    blockBubbles(inside, px, yOf, radius, labels);
    picture.append(...bubbles(inside, px, yOf, radius, labels, (i, x, y) =>
      svg("line", { x1: x, x2: x, y1: y, y2: py(1), stroke: "var(--ink)", "stroke-width": 1.5 })));
  } else {
    const py = (y) => bottom - (bottom - top) * log10(y / f.y0) / log10(f.y1 / f.y0);
    const ticks = [];
    for (const y of logTicks(f.y0, f.y1))
      ticks.push([py(y), plain(y)]);
    const { out, labels: ends, main } = roofLines(f, px, py, right);
    const yOf = (i) => py(chart.y[i]);
    blockBubbles(points, px, yOf, radius, labels);
    picture.append(out, axes(f, px, bottom, left, right, ticks, top),
      slopeLabels(f, px, py, main, labels));
    if (!narrow) picture.append(ends);
    picture.append(...bubbles(points, px, yOf, radius, labels, (i, x, y) => {
      const roof = metricOf(chart.row[i], "roof");
      const to = roof > 0 && roof < 1 ? py(chart.y[i] / roof) : y;
      const turned = x > right - 130;
      labels.block(turned ? x - 136 : x, (y + to) / 2 - 12, 136, 16);
      labels.block(x - 3, min(y, to), 6, Math.abs(y - to));  // no name lies over the line
      return svg("g", { "pointer-events": "none" },
        svg("line", { x1: x, x2: x, y1: y, y2: to, stroke: "var(--ink)", "stroke-width": 1.5 }),
        svg("circle", { cx: x, cy: to, r: 3, fill: "var(--ink)" }),
        roof > 0 && roof < 1 ? svg("text", { x: turned ? x - 6 : x + 6, y: (y + to) / 2,
          "text-anchor": turned ? "end" : "start", class: "halo ink" },
          `${three(1 / roof)} × to the roof`) : null);
    }));
  }
  box.replaceChildren(picture, el("div", { class: "legend", style: `padding-left:${left}px` },
    legend(), el("span", null, chart.devices.length ? `area: time on GPU ${roofDevice().id}`
      : "area: time"),
    undrawn ? el("span", null, `${count(undrawn)} smaller rows are not drawn`) : null));
  showFurthest();
}
function roofFinding(points) {
  const worst = points.map((i) => chart.row[i]).filter((row) => lostOf(row) !== null)
    .sort((a, b) => lostOf(b) - lostOf(a))[0];
  return `Roofline of ${points.length} rows` + (worst === undefined ? "" :
    `; most is lost by ${titleOf(worst)}, at ${percent(metricOf(worst, "roof"))} of the roof`);
}
const losing = allRows.filter((row) => lostOf(row) > 0).sort((a, b) => lostOf(b) - lostOf(a));
function showFurthest() {
  const worst = losing.filter((row) => !isOff(row)).slice(0, 7);
  byId("roofline_s").replaceChildren(
    worst.length ? el("h3", null, "Furthest from the roof: lost in the run") : "",
    ...worst.map((row) => el("button", { class: "item", type: "button", title: titleOf(row),
      "data-row": row, "aria-pressed": String(row === state.row), onclick: () => select(row) },
    el("span", { class: "r" }, time(lostOf(row))),
    el("span", { style: row === state.row ? "text-decoration:underline;font-weight:600" : "" },
      middleCut(`${rows.name[row]} ${paramsOf(row)}`, 60)),
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
  if (chart.devices.length > 1)
    tools.append(segmented("Device", chart.devices.map((d, i) => [String(i), `GPU ${d.id}`]), "0",
      (value) => { roofView.device = +value; showRoofline(); }));
  if (typesOfPoints.length > 1)
    tools.append(segmented("Type", [["", "all types"], ...typesOfPoints.map((t) => [t, t])], "",
      (value) => { roofView.type = value; showRoofline(); }));
  tools.append(segmented("Scale", [["classic", "classic"], ["levelled", "levelled"]],
    roofView.levelled ? "levelled" : "classic",
    (value) => { roofView.levelled = value === "levelled"; showRoofline(); }));
  byId("roofline_n").textContent = chart.roofs.length
    ? chart.devices.length ? "roofs of one GPU at a time; rates of a row are of all its GPUs"
      : device ? "roofs of the GPU" : "roofs of this CPU"
    : rows.bound.some(Boolean) ? "no operator says in which type it computes, so no roof is drawn"
      : "the machine's ceilings are not known, so there is no roof";
  for (const event of ["select", "filter", "resize"]) on(event, showRoofline);
}
