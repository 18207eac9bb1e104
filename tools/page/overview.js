// The first screen: sentence, facts, where the time goes, what to do first, whether to trust it.

const groups = Object.fromEntries(
  Object.entries(data.groups).map(([name, table]) => [name, decoded(table)]));

function legend(...extra) {
  const bounds = new Set(rows.bound.map(hueName));
  const names = { compute: "compute", memory: "memory, cache", latency: "latency, launch",
    red: "impossible", unknown: "unknown" };
  return Object.keys(names).filter((name) => bounds.has(name) || extra.includes(name))
    .map((name) => el("span", null,
      el("span", { class: "sw", style: `background:var(--${name})` }),
      (name === "red" ? "▲ " : "") + names[name]));
}
/** In the hue of the row that takes most time; none without a roof. */
function solidLegend() {
  const main = allRows.filter((row) => rows.needed[row] > 0).sort(byTime)[0];
  if (main === undefined) return [];
  return [[hue(rows.bound[main]), "solid: needed at the roof, this machine's best"],
    [pale(rows.bound[main]), "pale: lost"]].map(([colour, text]) =>
    el("span", null, el("span", { class: "sw", style: `background:${colour}` }), text));
}

function stepBars() {
  const steps = data.steps ? data.steps.of.slice(-40) : [];
  if (steps.length < 2) return null;
  const counted = steps.filter((s) => s[3]);
  const times = (counted.length ? counted : steps).map((s) => s[2]).sort((a, b) => a - b);
  const most = min(times[times.length - 1], 2 * times[(times.length - 1) >> 1]);
  const wide = max(2, min(6, floor(110 / steps.length)));
  return svg("svg", { width: steps.length * wide, height: 18, "aria-hidden": "true" },
    steps.map((s, i) => {
      const high = max(1, min(1, s[2] / most) * 18);
      return svg("rect", { x: i * wide, y: 18 - high, width: wide - 1, height: high,
        fill: "var(--line2)" });
    }));
}

function showFacts() {
  byId("facts").replaceChildren(...data.facts.map(([label, value, basis], i) =>
    el("div", null, el("div", { class: "label" }, label),
      el("div", { class: "value" }, nice(value), i === 0 ? stepBars() : null),
      el("div", { class: "basis", title: basis }, nice(basis)))));
}

function shareParts() {
  const table = groups.operator;
  const parts = Array.from({ length: table.count }, (_, i) => ({
    name: table.name[i], ns: table.time[i], needed: table.needed[i], bound: table.bound[i],
    row: allRows.filter((row) => rows.name[row] === table.name[i]).sort(byTime)[0],
  })).filter((p) => p.ns > 0).sort((a, b) => b.ns - a.ns);
  const inside = sumOf(parts, (p) => p.ns);
  const outside = data.whole - inside;
  if (outside > 0.001 * data.whole)
    parts.push({ name: data.device ? "no operator" : "regions alone", ns: outside, needed: 0,
      bound: "", row: -1 });
  if (data.idle > 0)
    parts.push({ name: data.device ? "idle" : "outside scopes", ns: data.idle, idle: true,
      row: -1 });
  return parts;
}

function tipOfPart(event, part, all) {
  showTip(event, part.name, [`${time(part.ns)}, ${percent(part.ns / all)}`,
    part.needed > 0 ? `${time(part.needed)} of it at the roof` : "",
    part.bound ? `bound: ${part.bound}` : ""]);
}
/** On a phone: a line for each operator. */
function shareLines(parts, all) {
  const most = max(...parts.map((p) => p.ns));
  return parts.slice(0, 8).map((p) => el("div", { style: "margin-bottom:8px",
    onclick: () => p.row >= 0 && select(p.row) },
  el("div", { style: "display:flex;justify-content:space-between;gap:12px" },
    el("b", { title: p.name }, middleCut(p.name, 40)), el("span", { style: "white-space:nowrap" },
      [`${percent(p.ns / all)} · ${time(p.ns)}`, p.bound].filter(Boolean).join(", "))),
  el("div", { class: p.idle ? "hatch" : "", style: `height:9px;width:${100 * p.ns / most}%;` +
    (p.idle ? "" : `background:${pale(p.bound)}`) },
  el("div", { style: `height:9px;width:${p.ns ? 100 * (p.needed || 0) / p.ns : 0}%;` +
    `background:${hue(p.bound)}` }))));
}

function showShare() {
  const parts = shareParts();
  const all = sumOf(parts, (p) => p.ns);
  const box = byId("share");
  if (!(all > 0)) { box.replaceChildren(); return; }
  if (isNarrow()) { box.replaceChildren(...shareLines(parts, all)); return; }
  const wide = box.clientWidth, high = 52;
  const chart = svg("svg", { height: high, viewBox: `0 0 ${wide} ${high}`, role: "img",
    "aria-label": `Shares of the time: ${parts.slice(0, 5)
      .map((p) => `${p.name} ${percent(p.ns / all)}`).join(", ")}` },
  svg("defs", null, svg("pattern", { id: "hatch", width: 6, height: 6,
    patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
  svg("rect", { width: 1, height: 6, fill: "var(--line2)" }))));
  let x = 0;
  for (const p of parts) {
    const w = wide * p.ns / all;
    const box1 = svg("g", { opacity: p.row >= 0 && isOff(p.row) ? 0.3 : 1 });
    const inner = max(0.5, w - 1);
    box1.append(svg("rect", { x, y: 0, width: inner, height: high,
      fill: p.idle ? "url(#hatch)" : pale(p.bound),
      stroke: p.row >= 0 && state.row >= 0 && rows.name[state.row] === p.name ? "var(--ink)" : null,
      "stroke-width": 2 }));
    if (p.needed > 0)
      box1.append(svg("rect", { x, y: high - 8, width: inner * p.needed / p.ns, height: 8,
        fill: hue(p.bound) }));
    addLabel(box1, p, x, w, all);
    box1.addEventListener("pointermove", (event) => tipOfPart(event, p, all));
    box1.addEventListener("pointerleave", hideTip);
    if (p.row >= 0) {
      box1.style.cursor = "pointer";
      box1.addEventListener("click", () => { select(p.row, true); });
    }
    chart.append(box1);
    x += w;
  }
  box.replaceChildren(chart, el("div", { class: "axis" },
    ...[0, 0.25, 0.5, 0.75, 1].map((at) => el("span", null, at ? time(at * all) : "0"))));
}
function addLabel(box, part, x, w, all) {
  const room = floor((w - 12) / 6.9);
  if (room < 3) return;
  const name = middleCut(part.name, room);
  const share = percent(part.ns / all), text = [[share, " · ", time(part.ns), ", ", part.bound],
    [share, " · ", time(part.ns)], [share]].filter((texts) => texts.at(-1))
    .map((texts) => texts.join("")).find((t) => t.length <= room + 1) || "";
  box.append(svg("text", { x: x + 6, y: 17, class: "ink" + (part.idle ? " halo" : ""),
    style: "font-size:12px" }, name));
  if (text)
    box.append(svg("text", { x: x + 6, y: 33, class: part.idle ? "halo" : "",
      style: "font-size:12px;fill:var(--ink)" }, text));
}

/** Gains that do not share their time: each begins where the one before ended. */
function stair(step, all, colour) {
  return svg("svg", { viewBox: "0 0 100 14", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { x: 0, y: 6.5, width: 100, height: 1, fill: "var(--line2)" }),
    svg("rect", { x: 100 * step.from / all, y: 2, width: max(0.6, 100 * step.part / all),
      height: 10, fill: colour }));
}
function showAdvice() {
  const list = byId("advice");
  if (data.advice.length === 0) {
    list.replaceChildren(el("li", { class: "empty", style: "display:block" },
      el("div", { class: "what" }, !data.complete ? "No advice: it would rest on what is missing."
        : rows.count ? "Nothing stands out." : "No operator ran."),
      data.total.metrics && data.total.metrics.roof && data.total.metrics.roof[0] === null
        ? "Advice needs formulas and ceilings: give operators flops() and bytes(), or take them " +
          "from the catalogue, and let kprof ceilings measure the machine." : ""));
    return;
  }
  byId("first_sum").textContent = data.advice.some((a) => a.gain >= 0) ? "may gain at most" : "";
  const { places, all } = gainPlaces(data.advice);
  list.replaceChildren(...data.advice.map((a, i) => el("li",
    { style: a.row === undefined ? null : "cursor:pointer",
      onclick: a.row === undefined ? null : () => select(a.row, true) },
    el("span", { class: "rank" }, String(i + 1)),
    el("div", null,
      a.row === undefined ? el("span", { class: "what" }, fitting(`${a.where} ${a.fact}.`))
        : el("button", { class: "link what", type: "button", style: "text-decoration:none;" +
          "text-align:left;font-size:14px" }, fitting(`${a.where} ${a.fact}.`)),
      el("div", { class: "do" }, a.action ? fitting(a.action.replace(/\.?$/, ".")) : "",
        el("span", { class: "id", title: "rule of advice, see docs/advice.md" }, a.id))),
    el("div", { class: "side" }, a.gain >= 0
      ? [el("div", { class: "gain", title: places[i].shared
        ? "this time is in a gain above too: they do not add up" : null },
      el("b", null, "≤ " + nice(a.gain_text)), " ", el("span", { class: "note" },
        nice(a.share) + " of the run")), stair(places[i], all, a.row === undefined
        ? "var(--latency)" : hue(rows.bound[a.row]))]
      : el("div", { class: "gain note" }, "gain not known")))));
}
function showTrust() {
  const marks = { ok: "✓", bad: "▲", none: "–" };
  byId("trust").replaceChildren(...data.trust.map(([mark, what, rest]) =>
    el("li", null, el("span", { class: mark === "bad" ? "bad" : "note" }, marks[mark]),
      el("span", null, el("b", null, nice(what)), " " + fitting(rest)))));
}
function showBanner() {
  const banner = byId("banner");
  banner.hidden = data.complete;
  if (data.complete) return;
  const [, what, rest] = data.trust.find((line) => line[0] === "bad") || ["", "", ""];
  banner.replaceChildren(el("b", null, "▲ Something is missing from this report. " + what), " " +
    rest);
}
function showOverview() {
  byId("program").textContent = data.program;
  byId("about").textContent = nice(data.about);
  byId("sentence").replaceChildren(data.complete ? "" : el("span", { class: "bad" }, "▲ "),
    nice(data.first), el("br"), el("span", null, nice(data.second)));
  document.querySelector("#overview .legend")
    .replaceChildren(...legend(), ...solidLegend());
  showBanner();
  showFacts();
  showShare();
  showAdvice();
  showTrust();
}
on("select", showShare);
on("filter", showShare);
on("resize", showShare);
showOverview();
