// How the timeline is moved: wheel with Ctrl, drag, two fingers, keys, the strip, the buttons.

function show(from, to) {
  const span = timeline.end - timeline.begin || 1;
  const wide = max(20, min(span * 1.02, to - from));
  const middle = (from + to) / 2, edge = span * 0.01;
  view.from = max(timeline.begin - edge, min(timeline.end + edge - wide,
    middle - wide / 2));
  view.to = view.from + wide;
  redraw();
}
const zoom = (by, at) => show(at - (at - view.from) * by, at + (view.to - at) * by);
const move = (part) => show(view.from + part * (view.to - view.from),
  view.to + part * (view.to - view.from));
const showAll = () => show(timeline.begin, timeline.end);
const middleOf = () => (view.from + view.to) / 2;

/** A step by its length: the median, the slowest, the first. */
function stepFor(which) {
  const steps = data.steps ? data.steps.of.filter((s) => s[2] > 0) : [];
  if (steps.length < 1) return null;
  if (which === "first") return steps[0];
  // Those that the page has whole, where it leaves slices out.
  const [median, slowest] = listed(data.timeline.steps);
  return steps.find((s) => s[1] === (which === "slowest" ? slowest : median)) || steps[0];
}
function showStep(which) {
  const step = stepFor(which);
  if (!step || which === "all") showAll();
  else show(step[1] - 0.03 * step[2], step[1] + 1.03 * step[2]);
}
function showSlowest(row) {
  const found = timeline && slowestOf(row);
  if (found) show(found.begin - 2 * found.ns, found.begin + 3 * found.ns);
}
const FINGER = 8;  // pixels that a finger may miss a slice by
function sliceUnder(event) {
  const box = canvas.getBoundingClientRect();
  const x = event.clientX - box.left, y = event.clientY - box.top, t = tOf(x);
  if (x < LABEL()) return null;
  for (let i = 0; i < lanes.length; i++) {
    const lane = lanes[i], depth = floor((y - view.top[i]) / ROW[lane.kind]);
    if (depth < 0 || depth >= lane.rows.length) continue;
    const line = lane.rows[depth], slack = (view.to - view.from) / canvas.clientWidth;
    const k = nearestSlice(line, t, slack * (event.pointerType === "touch" ? FINGER : 1));
    if (k >= 0)
      return { ...sliceOf(lane, line.which[k]), lane, begin: line.begin[k],
        ns: line.end[k] - line.begin[k] };
  }
  return null;
}
function hover(event) {
  view.pointer = tOf(event.clientX - canvas.getBoundingClientRect().left);
  redraw();
  const found = sliceUnder(event);
  canvas.style.cursor = found && found.row >= 0 ? "pointer" : "";
  if (!found) { hideTip(); return; }
  const roof = found.row >= 0 ? metricOf(found.row, "roof") : null;
  showTip(event, found.row >= 0 ? titleOf(found.row) : found.name, [
    found.lane.kind === "stream" ? found.name : "", found.lane.name,
    `${time(found.ns)}, from ${time(max(0, found.begin - timeline.begin))}`,
    roof === null ? "" : `its row: ${percent(roof)} of the roof, ${rows.bound[found.row]}`,
    found.launch >= 0 ? `launched ${time(found.launch)} before it ran` : ""]);
}

const fingers = new Map();
let dragged = 0;
function pointerDown(event) {
  if (fingers.size === 0) dragged = 0;
  fingers.set(event.pointerId, event.clientX);
  hideTip();
}
function pointerMove(event) {
  if (!fingers.has(event.pointerId)) { hover(event); return; }
  const box = canvas.getBoundingClientRect(), wide = canvas.clientWidth - LABEL();
  const before = fingers.get(event.pointerId);
  if (fingers.size > 1) {
    // What lies under the other finger stays there.
    const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
    const was = Math.abs(before - other), is = Math.abs(event.clientX - other);
    if (was > 4 && is > 4) zoom(was / is, tOf(other - box.left));
    dragged = Infinity;  // lifting the fingers selects nothing
  } else {
    dragged += Math.abs(event.clientX - before);
    if (dragged > 3) {
      canvas.setPointerCapture(event.pointerId);
      move((before - event.clientX) / wide);
    }
  }
  fingers.set(event.pointerId, event.clientX);
}
function pointerUp(event) {
  fingers.delete(event.pointerId);
  if (event.type !== "pointerup" || dragged > 3) return;
  const found = sliceUnder(event);
  if (found && found.row >= 0) select(found.row);
}
function stripTo(event) {
  if (event.type === "pointermove" && !event.buttons) return;
  const box = strip.getBoundingClientRect(), wide = strip.clientWidth - LABEL();
  const at = timeline.begin + (timeline.end - timeline.begin) *
    (event.clientX - box.left - LABEL()) / wide, half = (view.to - view.from) / 2;
  show(at - half, at + half);
}
/** By the key's place, so that it is the same on all keyboards. */
function timelineKey(event) {
  const keys = { KeyW: () => zoom(0.7, middleOf()), KeyS: () => zoom(1.43, middleOf()),
    KeyA: () => move(-0.15), KeyD: () => move(0.15), Digit0: showAll };
  const f = timeline && keys[event.code];
  if (!f) return false;
  f();
  return true;
}
function startTimeline() {
  byId("timeline").hidden = !timeline || lanes.length === 0;
  if (byId("timeline").hidden) return;
  range.append(el("span"), el("span", null, isTouched() ? "drag moves, two fingers zoom"
    : "drag moves, Ctrl + wheel or W S zooms, A D moves, 0 shows all"));
  byId("timeline_b").replaceChildren(strip, range, canvas);
  const left = timeline.all - timeline.shown;
  byId("timeline_n").textContent = (left > 0
    ? `${count(timeline.shown)} of ${count(timeline.all)} slices: the median and slowest step ` +
      "if any, and the longest of the rest; sums are unaffected"
    : timeline.reach ? "" : `slices: all ${count(timeline.all)}`) +
    (left > 0 && timeline.reach ? ". In the log: " : "") + nice(timeline.reach) +
    (timeline.older ? `. Before the unbroken end ${timeline.older}` : "");
  if (stepFor("median") && data.steps.of.length > 1)
    byId("timeline_t").append(segmented("Show", [["median", "median"], ["slowest", "slowest"],
      ["first", "first"], ["all", "all"]], "median", showStep));
  else byId("timeline_t").append(el("button", { type: "button", onclick: showAll }, "all"));
  if (hiddenLanes.length)
    byId("timeline_t").append(el("button", { type: "button", "aria-pressed": "false",
      onclick: (event) => {
        foldLanes(hiddenLanes.length === 0);
        event.target.textContent = hiddenLanes.length ? `${hiddenLanes.length} more lanes`
          : "fewer lanes";
        redraw();
      } }, `${hiddenLanes.length} more lanes`));
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const x = event.clientX - canvas.getBoundingClientRect().left;
    zoom(Math.exp(event.deltaY / 300), tOf(x));
  }, { passive: false });
  canvas.addEventListener("pointerdown", pointerDown);
  canvas.addEventListener("pointermove", pointerMove);
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, pointerUp);
  canvas.addEventListener("pointerleave", () => { hideTip(); view.pointer = null; redraw(); });
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") move(-0.15);
    if (event.key === "ArrowRight") move(0.15);
  });
  strip.addEventListener("pointerdown", stripTo);
  strip.addEventListener("pointermove", stripTo);
  for (const name of ["select", "filter", "resize"]) on(name, redraw);
  on("theme", () => { view.colours = palette(); redraw(); });
  showStep("median");
}
