// Slices narrower than two pixels, and the rate against the roof: both from sums over the slices of
// a line, so that what is drawn costs a search for each column, however many slices there are.

const DENSE = ["compute", "memory", "latency", "unknown", "red", "off", "plain"];
const PLAIN = DENSE.indexOf("plain"), OFF = DENSE.indexOf("off");
/** Whether a slice is drawn in the hue of what bounds its row: where the work is done. */
const isHued = (lane, node) => Boolean(node) && node.row >= 0 &&
  (lane.kind === "stream" || (lane.kind === "thread" && node.op && !device));

/** For each slice of a line and the end: the time before it in each hue that occurs, the part of it
 * that is needed at the roof, and how many slices of the selected row. */
function sumsOf(lane, line) {
  const key = `${state.row} ${state.filter}`;
  if (line.sums && line.sums.key === key) return line.sums;
  const n = line.begin.length, sums = { key, time: [], needed: [], chosen: new Uint32Array(n + 1) };
  for (let k = 0; k < n; k++) {
    const node = lane.node ? nodeAt.get(lane.node[line.which[k]]) : undefined;
    const hued = isHued(lane, node), ns = line.end[k] - line.begin[k];
    const hue = hued ? isOff(node.row) ? OFF : DENSE.indexOf(hueName(rows.bound[node.row])) : PLAIN;
    if (!sums.time[hue]) {
      sums.time[hue] = new Float64Array(n + 1);
      sums.needed[hue] = new Float64Array(n + 1);
    }
    sums.time[hue][k + 1] = ns;
    if (hued) sums.needed[hue][k + 1] = ns * min(1, metricOf(node.row, "roof") || 0);
    if (node && node.op && node.row >= 0 && node.row === state.row) sums.chosen[k + 1] = 1;
  }
  for (const column of [sums.chosen, ...sums.time, ...sums.needed])
    if (column) for (let k = 0; k < n; k++) column[k + 1] += column[k];
  line.sums = sums;
  return sums;
}
/** The slices from `first` to before `next` as one column, stacked by what bounds them: as high as
 * their shares of its time, solid as high as what is needed at the roof. */
function drawColumn(pen, lane, line, first, next, x0, x1, y, high) {
  const c = view.colours, sums = sumsOf(lane, line), w = max(1, x1 - x0);
  const parts = sums.time.map((column) => (column ? column[next] - column[first] : 0));
  const all = sumOf(parts, (ns) => ns || 0) || 1;
  let bottom = y + high - 1;
  parts.forEach((ns, hue) => {
    if (!(ns > 0)) return;
    const tall = (high - 1) * ns / all, name = DENSE[hue];
    pen.fillStyle = hue === OFF ? c.line : hue === PLAIN ? plainColour(lane, line.which[first])
      : c[name + "_pale"];
    pen.fillRect(x0, bottom - tall, w, tall);
    const needed = sums.needed[hue][next] - sums.needed[hue][first];
    if (needed > 0 && hue !== OFF) {
      pen.fillStyle = c[name];
      pen.fillRect(x0, bottom - tall * needed / ns, w, tall * needed / ns);
    }
    bottom -= tall;
  });
  if (sums.chosen[next] > sums.chosen[first]) {
    pen.fillStyle = c.ink;
    pen.fillRect(x0, y, w, 3);
  }
}
function plainColour(lane, i) {
  const c = view.colours;
  if (lane.kind === "calls") return c.line2;
  return lane.kind === "stream" ? c.unknown : sliceOf(lane, i).op ? c.unknown_pale : c.line;
}

// ---- the rate against the roof

/** FLOPs before each slice of the lines of a lane; of a host's lines only what is in no slice above
 * whose operator has a rate: that one's FLOPs count what is in it. */
function rateLines(lane) {
  if (lane.lines) return lane.lines;
  lane.lines = [];
  for (const source of lane.sources) {
    let above = [];
    for (const line of source.rows) {
      const used = { begin: [], end: [], rate: [], flops: [0] };
      let at = 0;
      for (let k = 0; k < line.begin.length; k++) {
        const node = nodeAt.get(source.node[line.which[k]]);
        const rate = node && node.row >= 0 && (node.op || source.kind === "stream")
          ? metricOf(node.row, "gflops") || 0 : 0;
        while (at < above.length && above[at][1] <= line.begin[k]) at++;
        if (rate === 0 || (at < above.length && above[at][0] <= line.begin[k])) continue;
        used.begin.push(line.begin[k]);
        used.end.push(line.end[k]);
        used.rate.push(rate);
        used.flops.push(used.flops[used.flops.length - 1] + rate * (line.end[k] - line.begin[k]));
      }
      if (source.kind !== "stream")
        above = [...above, ...used.begin.map((b, k) => [b, used.end[k]])]
          .sort((a, b) => a[0] - b[0]);
      if (used.begin.length) lane.lines.push(used);
    }
  }
  return lane.lines;
}
/** FLOPs of a line until `t`. */
function flopsUntil(line, t) {
  const k = firstAfter(line.end, t);
  const part = k < line.begin.length && t > line.begin[k] ? (t - line.begin[k]) * line.rate[k] : 0;
  return line.flops[k] + part;
}
/** FLOP/s of each column of `step` pixels in sight. */
function ratesInSight(lane, columns) {
  const lines = rateLines(lane), out = new Float64Array(columns);
  const each = (view.to - view.from) / columns;
  for (const line of lines) {
    let before = flopsUntil(line, view.from);
    for (let i = 0; i < columns; i++) {
      const until = flopsUntil(line, view.from + (i + 1) * each);
      out[i] += 1e9 * (until - before) / each;
      before = until;
    }
  }
  return out;
}
function roofOfLane(lane) {
  const of = chart.devices.find((d) => d.id === lane.device) || chart;
  return of.roofs.reduce((most, r) => max(most, r.flops), 0);
}
function drawRate(pen, lane, top) {
  const c = view.colours, high = RATE, wide = canvas.clientWidth - LABEL(), step = 2;
  const rates = ratesInSight(lane, max(1, floor(wide / step)));
  const most = rates.reduce((a, b) => max(a, b), 0), roof = roofOfLane(lane);
  // Against the roof, unless nothing could be seen so.
  const all = roof > 0 && most > roof / 20 ? max(roof, most) : most;
  lane.most = most;
  canvas.dataset.rate = String(most);
  pen.fillStyle = c.unknown;
  rates.forEach((rate, i) => {
    const tall = all > 0 ? (high - 4) * rate / all : 0;
    pen.fillRect(LABEL() + i * step, top + high - tall, step, tall);
  });
  pen.fillStyle = c.line2;
  pen.fillRect(LABEL(), top + high, wide, 1);
  if (all === roof && roof > 0)
    for (const part of [1, 0.5])
      for (let x = LABEL(); x < canvas.clientWidth; x += 5)
        pen.fillRect(x, top + high - (high - 4) * part, 2, 1);
}
function nameRate(pen, lane, top) {
  const c = view.colours, roof = roofOfLane(lane), most = lane.most;
  pen.fillText("FLOP/s", 0, top + 12);
  pen.font = `11px ${c.font}`;
  pen.fillStyle = c.ink3;
  pen.fillText(cutText(pen, `most ${si(most, "")}`, LABEL() - 8), 0, top + 26);
  if (roof > 0) pen.fillText(cutText(pen, `roof ${si(roof, "")}` +
    (most > roof / 20 ? "" : ", far above"), LABEL() - 8), 0, top + 40);
}
