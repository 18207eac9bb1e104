// Steps: what the time of each went to, needed and lost, by what bounds it.

const STACK = ["compute", "memory", "latency", "unknown"];
const partsOf = (step) => step.slice(4);

function stepStack(step, x, width, scale, bottom, top) {
  const out = svg("g", { opacity: step[3] ? 1 : 0.5 });
  let ns = 0;
  const put = (part, fill) => {
    const from = bottom - ns * scale;
    ns += part;
    const to = max(top, bottom - ns * scale);
    if (from - to > 0.1) out.append(svg("rect", { x, y: to, width, height: from - to, fill }));
  };
  const parts = partsOf(step);
  STACK.forEach((name, i) => {
    if (parts[2 * i] > 0) put(parts[2 * i], `var(--${name})`);
    if (parts[2 * i + 1] > 0)
      put(parts[2 * i + 1], `color-mix(in srgb, var(--${name}) var(--pale), var(--bg))`);
  });
  if (step[2] > ns) put(step[2] - ns, parts.length ? "url(#idle)" : "var(--line2)");
  out.append(svg("rect", { x, y: top, width, height: bottom - top, fill: "transparent" }));
  out.addEventListener("pointermove", (event) => showTip(event, `step ${step[0]}`, [
    time(step[2]) + (step[3] ? "" : ", does not count"),
    ...STACK.map((name, i) => (parts[2 * i] + parts[2 * i + 1] > 0
      ? `${name}: ${time(parts[2 * i] + parts[2 * i + 1])}, ${time(parts[2 * i])} at the roof`
        : "")),
    step[2] > ns && parts.length
      ? `${device ? "GPU idle" : "outside operators"}: ${time(step[2] - ns)}`
      : ""]));
  out.addEventListener("pointerleave", hideTip);
  if (timeline) {
    out.style.cursor = "pointer";
    out.addEventListener("click", () => {
      hideTip();
      show(step[1] - 0.03 * step[2], step[1] + 1.03 * step[2]);
      goTo("timeline");
    });
  }
  return out;
}
const STEP_COLUMN = 3;
/** More than one step a pixel: of the steps of each column the least, the median and the most. */
function stepColumns(steps, left, width, scale, bottom, top, over) {
  const columns = floor((width - left) / STEP_COLUMN);
  let labelled = left - 60;
  return Array.from({ length: columns }, (_, c) => {
    const from = floor(c * steps.length / columns);
    const to = floor((c + 1) * steps.length / columns);
    const sorted = steps.slice(from, to).map((s) => s[2]).sort((a, b) => a - b);
    const least = sorted[0], most = sorted[sorted.length - 1];
    const median = sorted[(sorted.length - 1) >> 1];
    const x = left + c * STEP_COLUMN, yOf = (ns) => max(top, bottom - ns * scale);
    over(x, STEP_COLUMN, most);
    const out = svg("g", { class: "column", "data-least": least, "data-median": median,
      "data-most": most },
    svg("rect", { x, y: yOf(most), width: STEP_COLUMN - 1, fill: "var(--line2)",
      height: max(1, yOf(least) - yOf(most)) }),
    svg("rect", { x, y: yOf(median) - 1, width: STEP_COLUMN, height: 2, fill: "var(--ink)" }),
    svg("rect", { x, y: top, width: STEP_COLUMN, height: bottom - top, fill: "transparent" }));
    out.addEventListener("pointermove", (event) => showTip(event,
      `steps ${steps[from][0]} to ${steps[to - 1][0]}`,
      [`median ${time(median)}`, `least ${time(least)}, most ${time(most)}`]));
    if (x >= labelled + 60) {
      labelled = x;
      out.append(svg("text", { x, y: bottom + 18 }, count(steps[from][0])));
    }
    out.addEventListener("pointerleave", hideTip);
    return out;
  });
}
function showSteps() {
  byId("steps").hidden = !data.steps || data.steps.of.length === 0;
  if (byId("steps").hidden) return;
  const steps = data.steps.of, box = byId("steps_b"), width = max(240, box.clientWidth);
  const high = 290, left = 52, top = 16, bottom = high - 26;
  const sorted = steps.map((s) => s[2]).sort((a, b) => a - b);
  const median = data.steps.median || sorted[(sorted.length - 1) >> 1];
  const cut = min(sorted[sorted.length - 1], 1.6 * max(median,
    sorted[floor(0.95 * (sorted.length - 1))]));
  const scale = (bottom - top - 12) / (cut || 1), each = (width - left) / steps.length;
  const [per, unit] = [...TIME].reverse().find((t) => cut >= t[0]) || TIME[0];
  const chart = svg("svg", { class: "chart", height: high, viewBox: `0 0 ${width} ${high}`,
    role: "img", "aria-label": `${steps.length} steps, median ${time(median)}, ` +
      `most ${time(sorted[sorted.length - 1])}` },
  svg("pattern", { id: "idle", width: 5, height: 5, patternUnits: "userSpaceOnUse",
    patternTransform: "rotate(45)" }, svg("rect", { width: 1, height: 5, fill: "var(--line2)" })));
  const power = 10 ** floor(log10(cut / per / 3 || 1));
  const tick = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= cut / per / 5) || 1;
  for (let y = 0; y <= cut / per; y += tick)
    chart.append(svg("line", { x1: left, x2: width, class: "grid", y1: bottom - y * per * scale,
      y2: bottom - y * per * scale }), svg("text", { x: left - 7, "text-anchor": "end",
      y: bottom - y * per * scale + 4 }, grouped(String(+y.toPrecision(6)))));
  chart.append(svg("text", { x: left - 7, y: bottom + 18, "text-anchor": "end" }, unit));
  const higher = [];  // than the axis
  const over = (x, w, ns) => { if (ns > cut) higher.push([x, w, ns]); };
  if (each < 1) chart.append(...stepColumns(steps, left, width, scale, bottom, top, over));
  else steps.forEach((step, i) => {
    const x = left + i * each, w = max(0.5, each - (each >= 8 ? min(4, each / 6) : 0));
    chart.append(stepStack(step, x, w, scale, bottom, top));
    over(x, w, step[2]);
    const every = ceil(34 / each);
    if (i % every === 0)
      chart.append(svg("text", { x: x + w / 2, y: bottom + 18, "text-anchor": "middle" },
        String(step[0])));
  });
  markHigher(chart, higher, width, top);
  const y = bottom - median * scale;
  chart.append(svg("line", { x1: left, x2: width, y1: y, y2: y, stroke: "var(--ink)",
    "stroke-dasharray": "4 3" }), svg("text", { x: width, y: y - 5, "text-anchor": "end",
    class: "ink halo" }, `median ${time(median)}`));
  box.replaceChildren(chart, el("div", { class: "legend", style: `padding-left:${left}px` },
    each < 1 ? [["var(--line2)", "least to most of the steps of a column"],
      ["var(--ink)", "their median"]].map(([colour, text]) =>
      el("span", null, el("span", { class: "sw", style: `background:${colour}` }), text))
      : [el("span", null, "from the bottom:"), legend("unknown"), solidLegend(),
      el("span", null, el("span", { class: "sw hatch" }),
      device ? "GPU idle" : "outside operators")],
  higher.length ? el("span", null, `▲ goes on to ${time(higher[0][2])}${higher.length > 1
    ? ` at most, ${count(higher.length)} of them` : ""}`) : null));
}
/** Breaks bars that end above the axis. The highest say how high they are, where there is room. */
function markHigher(chart, higher, width, top) {
  const taken = [];
  for (const [x, w, ns] of higher.sort((a, b) => b[2] - a[2])) {
    chart.append(w < 8 ? svg("path", { class: "over", fill: "var(--ink)",
      d: `M${x + w / 2 - 4} ${top}l4 -4l4 4z` }) : svg("path", { class: "over", fill: "none",
      d: `M${x - 1} ${top + 6}l${w / 4} -4l${w / 4} 4l${w / 4} -4l${w / 4 + 2} 4`,
      stroke: "var(--bg)", "stroke-width": 3 }));
    const text = time(ns), at = min(x, width - 60);
    if (taken.some((t) => Math.abs(t - at) < 7 * text.length + 6)) continue;
    taken.push(at);
    chart.append(svg("text", { x: at, y: 10 }, text));
  }
  if (higher.length)
    chart.setAttribute("aria-label", chart.getAttribute("aria-label") +
      `; ${count(higher.length)} bars end above the axis`);
}
/** Which steps of `all` are on the chart. */
function stepsShown(steps, all) {
  const first = steps[0][0], last = steps[steps.length - 1][0];
  const span = `steps ${count(first)} to ${count(last)}`;
  return `${count(steps.length)} of ${count(all)}, ` + (last - first >= steps.length
    ? "spread over " + span : last + 1 >= all ? "the latest" : span);
}
/** Why a device had nothing to do: the causes sum to the head. */
function idleOf(idle) {
  const line = (label, value) => el("div", { class: "row" }, el("span", null, label),
    el("span", null, nice(value)));
  const name = data.steps.idle.length > 1 ? `GPU ${idle.device} was` : "the GPU was";
  return el("div", { class: "facts", style: "margin-top:18px" },
    el("h3", null, `Why ${name} idle: ${nice(idle.idle)} of ${nice(idle.wall)}`),
    idle.causes.map(([label, text]) => line(label, text)),
    idle.host_by.length ? el("p", { class: "note", style: "margin-top:8px" },
      "Launched late while the host was in " + idle.host_by.slice(0, 3).map(([name_, text]) =>
        `${name_ || "no known scope"} (${nice(text)})`).join(", ") + ".") : "");
}
/** How many steps there are, and of how many it is known what they did. */
function stepsNote({ all, of, region }) {
  const known = of.filter((s) => s.length > 4).length;
  return (all > of.length ? stepsShown(of, all)
    : `${count(all)} step${all === 1 ? "" : "s"}` + (region ? `, runs of ${region}` : "")) +
    (!known ? "; what single steps did is not known" : known === of.length ? "; parts sum to each"
      : `; parts are those of ${count(known)} that the timeline has whole, and sum to each`);
}
function showStepFacts() {
  if (!data.steps) return;
  byId("steps_n").textContent = stepsNote(data.steps);
  byId("steps_s").replaceChildren(el("div", { class: "facts" },
    data.steps.facts.map(([label, value]) => el("div", { class: "row" }, el("span", null, label),
      el("span", null, nice(value))))),
  data.steps.excess ? el("p", null, fitting(data.steps.excess))
        : "", ...data.steps.idle.map(idleOf));
}
on("resize", showSteps);
