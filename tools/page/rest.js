// Kernels, copies, what is missing, the machine, and the foot of the page.

const kernelView = { all: false };
const headCell = (text, small, isNumber) => el("th", { scope: "col", class: isNumber ? "n" : "" },
  text, small ? el("small", null, small) : null);

/** The middle of a long name is what tells least; of a short one that is its end. */
function middleCut(text, most) {
  if (text.length <= most) return text;
  if (text.length <= 16 || most < 8) return text.slice(0, max(1, most - 1)) + "…";
  return text.slice(0, ceil(most / 2) - 1) + "…" + text.slice(-floor(most / 2));
}
/** What a template does stands behind its name and tells more than that: it is kept. */
function kernelCut(text, most) {
  const base = text.search(/[ <(]/), tail = base < 0 ? "" : text.slice(base).trimStart();
  return text.length > most && tail && tail.length + 9 <= most
    ? text.slice(0, most - tail.length - 1) + "…" + tail : middleCut(text, most);
}
function kernelRow(i, times, means) {
  const k = kernels, row = k.row[i], dim = (v) => "n" + (v === null ? " dim" : "");
  return el("tr", { "data-row": row >= 0 ? row : null, tabindex: row >= 0 ? 0 : null,
    class: `${row >= 0 && row === state.row ? "sel" : ""} ${isOff(row) ? "off" : ""}`,
    onclick: () => row >= 0 && select(row),
    onkeydown: (event) => { if (event.key === "Enter" && row >= 0) select(row); } },
  el("th", { scope: "row", title: k.name[i] }, el("span", { class: "cut code" },
    kernelCut(k.short[i] || "several kernels", 46))),
  el("td", { title: k.parameters[i] }, k.op[i] || el("span", { class: "dim" }, "none")),
  el("td", null, k.pass[i]),
  el("td", { class: "n" }, times[i]), el("td", { class: "n" }, percent(k.share[i])),
  el("td", { class: "n" }, count(k.runs[i])), el("td", { class: dim(k.mean[i]) }, means[i]),
  el("td", { class: "n" }, k.grid[i] || "differ"),
  el("td", { class: dim(k.waves[i]) }, k.waves[i] === null ? "n/a" : three(k.waves[i])),
  el("td", { class: dim(k.registers[i]) }, k.registers[i] === null ? "n/a" : count(k.registers[i])),
  el("td", { class: dim(k.shared[i]) }, k.shared[i] === null ? "n/a" : count(k.shared[i])),
  el("td", { class: dim(k.occupancy[i]) + "", title: k.limiter[i] },
    k.occupancy[i] === null ? "n/a" : percent(k.occupancy[i])),
  el("td", { class: dim(k.roof[i]) }, k.roof[i] === null ? "n/a"
    : [k.bound[i] ? swatch(k.bound[i]) : "", percent(k.roof[i])]));
}
function showKernels() {
  byId("kernels").hidden = !kernels || kernels.row.length === 0;
  if (byId("kernels").hidden) return;
  const unit = timeUnit(kernels.total), unitMean = timeUnit(kernels.mean);
  const times = aligned(kernels.total.map((t) => t / unit[0]));
  const means = aligned(kernels.mean.map((t) => (t === null ? null : t / unitMean[0])));
  const some = kernelView.all ? kernels.row.length : min(10, kernels.row.length);
  byId("kernels_n").textContent = `${count(kernels.all)} by operator and launch configuration, ` +
    "most time first";
  byId("kernels_b").replaceChildren(el("table", null, el("thead", null, el("tr", null,
    headCell("kernel"), headCell("operator"), headCell("pass"), headCell("time", unit[1], true),
    headCell("share", "", true), headCell("runs", "", true), headCell("mean", unitMean[1], true),
    headCell("grid · block", "", true), headCell("waves", "", true),
    headCell("registers", "a thread", true), headCell("shared", "B a block", true),
    headCell("occupancy", "theoretical", true), headCell("of the roof", "", true))),
  el("tbody", null, Array.from({ length: some }, (_, i) => kernelRow(i, times, means)))));
  byId("kernels_t").replaceChildren(kernels.row.length > 10 ? el("button", { type: "button",
    onclick: () => { kernelView.all = !kernelView.all; showKernels(); } },
  kernelView.all ? "the first ten" : `all ${count(kernels.row.length)}`) : "");
}
function showCopies() {
  const copies = data.copies || [];
  byId("copies").hidden = copies.length === 0;
  if (copies.length === 0) return;
  byId("copies_n").textContent = "by kind of memory; rates are bytes over the time of the copies";
  byId("copies_b").replaceChildren(el("table", { style: "max-width:900px" },
    el("thead", null, el("tr", null, headCell("kind"), headCell("from"), headCell("to"),
      headCell("GPU", "", true), headCell("calls", "", true), headCell("bytes", "", true),
      headCell("time", "", true), headCell("share", "", true), headCell("rate", "", true))),
    el("tbody", null, copies.map((c) => el("tr", null, el("th", { scope: "row" }, c.kind),
      el("td", null, c.from), el("td", null, c.to),
      [String(c.device), count(c.calls), si(c.bytes, "B"), time(c.total), percent(c.share),
        c.rate === null ? "n/a" : si(c.rate, "B/s")].map((t) => el("td", { class: "n" }, t)))))));
}
/** The numbers of this page as they are in it, to a file of the reader's. */
function saveData() {
  const text = byId("data").textContent;
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  el("a", { href: address, download: `${data.program || "kprof"}.page.json` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
function showRest() {
  byId("missing").hidden = data.missing.length === 0;
  byId("missing_b").replaceChildren(...data.missing.flatMap(([what, why, remedy]) =>
    [el("dt", null, what), el("dd", null, why), el("dd", null, remedy)]));
  byId("machine").hidden = false;
  const notes = listed(data.notes);
  byId("machine_b").replaceChildren(...data.machine.filter((m) => listed(m.of).length).map((m) =>
    el("div", null, el("h3", null, m.title), listed(m.of).map(([label, value]) =>
      el("div", { class: "row" }, el("span", null, label), el("span", null, nice(value)))))));
  if (notes.length)
    byId("machine_b").after(el("div", { style: "margin-top:20px" }, el("h3", null, "Notes"),
      el("ul", null, notes.map((n) => el("li", { class: "note" }, "– " + n)))));
  byId("foot").replaceChildren(data.version,
    " · all numbers are in this file: no request is made · ",
    el("button", { class: "link", type: "button", onclick: saveData }, "save them as JSON"));
}
for (const event of ["select", "filter"]) on(event, showKernels);
