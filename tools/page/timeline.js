// Draws the timeline on a canvas: lanes of threads and streams, in the detail that pixels allow.

const view = { from: 0, to: 1, colours: null, top: [], frame: 0, pointer: null };
const LABEL = () => (isNarrow() ? 0 : 150);
const RATE = 44;
const ROW = { steps: 18, thread: 17, calls: 12, regions: 17, stream: 36, rate: RATE };
const highOfLane = (lane) => (lane.kind === "rate" ? RATE : lane.rows.length * ROW[lane.kind]);
const canvas = el("canvas", { tabindex: 0, role: "img",
  "aria-label": "Timeline of threads and streams; keys w a s d zoom and move, 0 shows all" });
const strip = el("canvas", { class: "strip", "aria-hidden": "true" });
const range = el("div", { class: "line note", style: "margin:0 0 4px" });

function sized(node, high) {
  const wide = node.clientWidth, ratio = min(3, devicePixelRatio || 1);
  node.width = Math.round(wide * ratio);
  node.height = Math.round(high * ratio);
  node.style.height = high + "px";
  const pen = node.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, wide, high);
  return pen;
}
const titleHigh = () => (LABEL() ? 0 : 16);
function lanePlaces() {
  let y = 8;
  view.top = lanes.map((lane) => {
    const top = y + titleHigh();
    y = top + highOfLane(lane) + (lane.kind === "thread" ? 10 : 8);
    return top;
  });
  canvas.dataset.lanes = lanes.map((lane, i) => `${lane.kind} ${view.top[i]}`).join(" ");
  return y + 18;
}
const xOf = (t) => LABEL() +
  (canvas.clientWidth - LABEL()) * (t - view.from) / (view.to - view.from);
const tOf = (x) => view.from +
  (view.to - view.from) * (x - LABEL()) / (canvas.clientWidth - LABEL());

function colourOf(slice, lane) {
  const c = view.colours;
  if (lane.kind === "stream" && slice.row >= 0) {
    const name = hueName(rows.bound[slice.row]);
    return [c[name + "_pale"], c[name]];
  }
  if (lane.kind === "thread" && slice.op && !device && slice.row >= 0) {
    const name = hueName(rows.bound[slice.row]);
    return [c[name + "_pale"], c[name]];
  }
  if (lane.kind === "steps") return [c.bg2, null];
  if (lane.kind === "calls") return [c.line2, null];
  return [slice.op ? c.unknown_pale : c.bg2, null];
}
function cutText(pen, text, room) {
  if (pen.measureText(text).width <= room) return text;
  let n = floor(text.length * room / pen.measureText(text).width) - 1;
  while (n > 1 && pen.measureText(text.slice(0, n) + "…").width > room) n--;
  return n > 1 ? text.slice(0, n) + "…" : "";
}

/** A slice wide enough to see. */
function drawSlice(pen, lane, slice, x0, x1, y, high, ns) {
  const c = view.colours, w = max(1, x1 - x0 - (x1 - x0 > 3 ? 1 : 0));
  let [back, solid] = colourOf(slice, lane);
  if (lane.kind === "stream" && w < 4 && back === c.unknown_pale) back = c.unknown;
  pen.globalAlpha = slice.row >= 0 && isOff(slice.row) ? 0.25 : 1;
  pen.fillStyle = back;
  pen.fillRect(x0, y, w, high - 1);
  const roof = slice.row >= 0 ? metricOf(slice.row, "roof") : null;
  if (solid && roof !== null) {
    pen.fillStyle = solid;
    const thick = lane.kind === "stream" ? 6 : 3;
    pen.fillRect(x0, y + high - 1 - thick, w * min(1, roof), thick);
  }
  if (w > 26 && high >= 16) {
    pen.fillStyle = c.ink;
    pen.font = `${slice.op ? "" : "600 "}11px ${c.font}`;
    const left = max(x0, LABEL()) + 4, room = x0 + w - left - 4;
    const name = slice.row >= 0 && lane.kind === "stream" ? rows.name[slice.row] : slice.name;
    if (room > 14) pen.fillText(cutText(pen, name, room), left, y + (high > 30 ? 13 : 12));
    if (high > 30 && room > 34) {
      const bound = roof === null ? "" : `  ${percent(roof)}, ${rows.bound[slice.row]}`;
      pen.fillText(cutText(pen, time(ns) + bound, room), left, y + 26);
    } else if (high <= 30 && lane.kind === "steps") {
      const after = pen.measureText(name).width + 10, text = time(ns);
      pen.fillStyle = c.ink3;
      if (room > after + pen.measureText(text).width) pen.fillText(text, left + after, y + 12);
    }
  }
  if (slice.row >= 0 && slice.row === state.row && slice.op && w < 6) {
    pen.fillStyle = c.ink;
    pen.fillRect(x0, y, w, 3);
  } else if (slice.row >= 0 && slice.row === state.row && slice.op) {
    pen.strokeStyle = c.ink;
    pen.lineWidth = 2;
    pen.strokeRect(x0 + 1, y + 1, max(1, w - 2), high - 3);
  }
  pen.globalAlpha = 1;
}
/** Visits slices of a row: each that is two pixels wide, and others in columns as wide, by the
 * first of a column and the first behind it. */
function eachVisible(line, visit, visitColumn) {
  const least = 2 * (view.to - view.from) / max(1, canvas.clientWidth - LABEL());
  let visited = 0;
  for (let k = firstAfter(line.end, view.from); k < line.begin.length; k++) {
    if (line.begin[k] > view.to) break;
    visited++;
    if (line.end[k] - line.begin[k] >= least) { visit(k, line.begin[k], line.end[k]); continue; }
    const until = line.begin[k] + least;
    const next = max(k + 1, firstAfter(line.end, until));
    visitColumn(k, next, line.begin[k], max(line.end[k], min(until, line.end[next - 1])));
    k = next - 1;
  }
  return visited;
}
function drawLane(pen, lane, top) {
  const high = ROW[lane.kind];
  if (lane.kind === "rate") { drawRate(pen, lane, top); return; }
  const inSight = (begin, end) => [max(LABEL() - 2, xOf(begin)),
    min(canvas.clientWidth + 2, xOf(end))];
  lane.rows.forEach((line, depth) => {
    const y = top + depth * high;
    eachVisible(line, (k, begin, end) => {
      const [x0, x1] = inSight(begin, end);
      if (x1 > x0) drawSlice(pen, lane, sliceOf(lane, line.which[k]), x0, x1, y, high,
        line.end[k] - line.begin[k]);
    }, (first, next, begin, end) => {
      const [x0, x1] = inSight(begin, end);
      if (x1 > x0) drawColumn(pen, lane, line, first, next, x0, x1, y, high);
    });
  });
}
/** The program's name is at the front of all threads' names: it is cut in the middle. Calls below
 * their own thread need not say it again. */
function laneName(pen, lane, i) {
  const room = (LABEL() || canvas.clientWidth) - 12, above = lanes[i - 1];
  if (lane.kind === "rate") return `FLOP/s, most ${si(lane.most, "")}, roof ` +
    (roofOfLane(lane) > 0 ? si(roofOfLane(lane), "") : "n/a");
  if (lane.kind === "calls" && above && above.at === lane.thread) return "CUDA calls";
  if (lane.room !== room) {
    let most = min(200, lane.name.length);
    while (most > 4 && pen.measureText(middleCut(lane.name, most)).width > room) most--;
    lane.room = room;
    lane.cut = middleCut(lane.name, most);
  }
  return lane.cut;
}
function drawNames(pen, high) {
  const c = view.colours;
  lanes.forEach((lane, i) => {
    pen.font = `12px ${c.font}`;
    if (LABEL()) {
      pen.fillStyle = c.bg;
      pen.fillRect(0, view.top[i], LABEL(), highOfLane(lane));
    }
    pen.fillStyle = c.ink2;
    if (lane.kind === "rate" && LABEL()) nameRate(pen, lane, view.top[i]);
    else pen.fillText(laneName(pen, lane, i), 0, view.top[i] + (LABEL() ? 12 : -4));
  });
  pen.fillStyle = c.line2;
  pen.fillRect(0, 0, canvas.clientWidth, 1);
  pen.fillRect(0, high - 19, canvas.clientWidth, 1);
}
/** Time below the lanes: 1, 2 or 5 times a power of ten. */
function drawAxis(pen, high) {
  const span = view.to - view.from, wanted = span / max(2, canvas.clientWidth / 130);
  const power = 10 ** floor(log10(wanted));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= wanted);
  const c = view.colours;
  pen.font = `11px ${c.font}`;
  // Times count from the first slice, as in the line above and where the pointer is.
  const first = timeline.begin;
  for (let t = ceil((view.from - first) / step) * step; t + first <= view.to; t += step) {
    const x = xOf(t + first);
    pen.fillStyle = c.line;
    pen.fillRect(x, 1, 1, high - 20);
    pen.fillStyle = c.ink3;
    const decimals = max(0, ceil(log10(TIME[step >= 1e6 ? 2 : step >= 1e3 ? 1
      : 0][0] /
      step)));
    const [per, unit] = TIME[step >= 1e6 ? 2 : step >= 1e3 ? 1 : 0];
    const text = grouped((t / per).toFixed(decimals)) + THIN + unit;
    if (x + pen.measureText(text).width < canvas.clientWidth) pen.fillText(text, x + 3, high - 5);
  }
}
/** From the launch to the kernel that is selected, of the widest one in sight. */
function drawArrow(pen) {
  if (state.row < 0) return;
  let best = null;
  lanes.forEach((lane, i) => {
    if (lane.kind !== "stream") return;
    lane.rows.forEach((line, depth) => {
      for (let k = firstAfter(line.end, view.from); k < line.begin.length; k++) {
        if (line.begin[k] > view.to) break;
        const slice = sliceOf(lane, line.which[k]);
        if (slice.row !== state.row || slice.launch < 0) continue;
        // Rather one whose launch can be seen too.
        const seen = line.begin[k] - slice.launch >= view.from && line.begin[k] >= view.from;
        const ns = line.end[k] - line.begin[k] + (seen ? 1e15 : 0);
        if (!best || ns > best.ns)
          best = { ns, begin: line.begin[k], launch: slice.launch,
            from: lane.launcher ? lane.launcher[line.which[k]] : -1, y: view.top[i] +
              depth * ROW.stream };
      }
    });
  });
  if (!best) return;
  const source = lanes.findIndex((l) => l.at === best.from && l.kind === "thread");
  if (source < 0) return;
  const c = view.colours, from = lanes[source];
  const x0 = xOf(best.begin - best.launch), x1 = xOf(best.begin);
  const y0 = view.top[source] + from.rows.length * ROW[from.kind], y1 = best.y;
  pen.save();
  pen.beginPath();
  pen.rect(LABEL(), 0, canvas.clientWidth - LABEL(), canvas.clientHeight);
  pen.clip();
  pen.strokeStyle = pen.fillStyle = c.ink;
  pen.lineWidth = 1.3;
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.bezierCurveTo(x0, (y0 + y1) / 2, x1, (y0 + y1) / 2, x1, y1 - 4);
  pen.stroke();
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x1 - 4, y1 - 7);
  pen.lineTo(x1 + 4, y1 - 7);
  pen.fill();
  pen.font = `12px ${c.font}`;
  const text = `launched ${time(best.launch)} before it ran`, w = pen.measureText(text).width;
  const x = max(LABEL() + 4, min(canvas.clientWidth - w - 4, (x0 + x1 - w) / 2));
  pen.fillStyle = c.bg;
  // Below the thread, where no names are.
  const y = min(y0 + 12, (y0 + y1) / 2);
  pen.fillRect(x - 4, y - 12, w + 8, 16);
  pen.fillStyle = c.ink;
  pen.fillText(text, x, y);
  pen.restore();
}
/** In digits that tell apart what is a hundredth of the span from one another. */
function preciseTime(ns, span) {
  const [per, unit] = [...TIME].reverse().find((t) => ns >= t[0]) || TIME[0];
  const decimals = max(0, min(9, ceil(-log10(span / per / 100))));
  return grouped((ns / per).toFixed(ns > 0 ? decimals : 0)) + THIN + unit;
}
/** A line where the pointer is, and its time. */
function drawPointer(pen, high) {
  const c = view.colours, x = view.pointer === null ? -1 : xOf(view.pointer);
  if (x < LABEL() || x > canvas.clientWidth) return;
  pen.fillStyle = c.ink3;
  pen.fillRect(x, 1, 1, high - 20);
  pen.font = `11px ${c.font}`;
  const text = preciseTime(max(0, view.pointer - timeline.begin), view.to - view.from);
  const w = pen.measureText(text).width;
  const left = max(LABEL(), min(canvas.clientWidth - w - 8, x - w / 2 - 4));
  pen.fillStyle = c.ink;
  pen.fillRect(left, high - 18, w + 8, 16);
  pen.fillStyle = c.bg;
  pen.fillText(text, left + 4, high - 6);
}
function drawStrip() {
  const pen = sized(strip, 34), c = view.colours, wide = strip.clientWidth - LABEL();
  const span = timeline.end - timeline.begin || 1, step = wide / timeline.busy.length;
  pen.font = `11px ${c.font}`;
  pen.fillStyle = c.ink3;
  if (LABEL()) pen.fillText((device ? "GPU busy, " : "busy, ") +
    (timeline.reach ? "what is kept" : "whole run"), 0, 21);
  pen.fillStyle = c.bg2;
  pen.fillRect(LABEL(), 0, wide, 34);
  pen.fillStyle = c.unknown;
  timeline.busy.forEach((share, i) => {
    const high = 34 * share / 100;
    pen.fillRect(LABEL() + i * step, 34 - high, step + 0.3, high);
  });
  const x0 = LABEL() + wide * max(0, view.from - timeline.begin) / span;
  const x1 = LABEL() + wide * min(span, view.to - timeline.begin) / span;
  pen.strokeStyle = c.ink;
  pen.lineWidth = 2;
  pen.strokeRect(x0 + 1, 1, max(4, x1 - x0 - 2), 32);
}
function drawTimeline() {
  view.frame = 0;
  view.colours = view.colours || palette();
  const high = lanePlaces(), pen = sized(canvas, high);
  drawAxis(pen, high);
  lanes.forEach((lane, i) => drawLane(pen, lane, view.top[i]));
  drawArrow(pen);
  drawNames(pen, high);
  drawPointer(pen, high);
  drawStrip();
  const from = view.from - timeline.begin, to = view.to - timeline.begin;
  range.firstChild.textContent = `${preciseTime(max(0, from), to - from)} … ` +
    `${preciseTime(to, to - from)} of ${time(timeline.end - timeline.begin)}`;
}
function redraw() {
  if (timeline && !view.frame) view.frame = requestAnimationFrame(drawTimeline);
}
