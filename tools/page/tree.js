// The call tree as an icicle: width is time, solid is the time at the roof.

const tree = decoded(data.tree);
tree.row.forEach((row, i) => { if (row >= 0) tree.parameters[i] = rows.parameters[row]; });
const nodes = tree.parent.map((parent, i) => ({ i, parent, children: [], depth: 0, shut: false }));
const topNodes = [];
for (const n of nodes) {
  (n.parent < 0 ? topNodes : nodes[n.parent].children).push(n);
  n.depth = n.parent < 0 ? 0 : nodes[n.parent].depth + 1;
}
const treeView = { by: device ? "device" : "host", at: null, boxes: [], order: "time" };
/** A path that was handed over to another thread takes no time: it is as wide as what is in it. */
function widthsBy(times, left) {
  const out = times.slice();
  for (let i = out.length - 1; i >= 0; i--)
    if (!(out[i] > 0)) out[i] = left[i] + sumOf(nodes[i].children, (c) => out[c.i]);
  return out;
}
/** What the file lacks of each node's children, and last of the nodes at the top. */
const treeLeft = { host: tree.left_ns, device: tree.left_device };
const treeWidths = { host: widthsBy(tree.total, treeLeft.host),
  device: device ? widthsBy(tree.device, treeLeft.device) : null };
const widthOf = (n) => treeWidths[treeView.by][n.i];
const REGION = 26, OPERATOR = 44;
const highOf = (n) => (tree.op[n.i] ? OPERATOR : REGION);
const countOf = (n) => (tree.folded[n.i] > 1 ? ` ×${count(tree.folded[n.i])}` : "");

/** Rows of boxes: each with where it begins and how wide it is, in time. Neighbours narrower than
 * `least`, and those that the file lacks, are one box, of as many as `few` says. */
function layout(at, least) {
  const out = [];
  const inOrder = (list) => list.filter((n) => widthOf(n) > 0)
    .sort((a, b) => (treeView.order === "time" ? widthOf(b) - widthOf(a)
      : tree.first[a.i] - tree.first[b.i]));
  // `i`: whose children they are. Children that ran at once on several threads take more time than
  // what called them: they are drawn narrower, so that they lie below it.
  const put = (i, list, x, y, ns, scale) => {
    const lacks = tree.left[i], lacking = lacks ? treeLeft[treeView.by][i] : 0;
    const part = scale * min(1, ns / (sumOf(list, widthOf) + lacking));
    let box = null;
    const add = (n, few, w) => {
      if (!box) out.push(box = { n, x, y, w: 0, few: 0 });
      box.w += w;
      box.few += few;
    };
    for (const n of list) {
      const w = widthOf(n) * part;
      if (w < least) add(n, 1, w);
      else {
        box = null;
        out.push({ n, x, y, w });
        put(n.i, inOrder(n.children), x, y + highOf(n), widthOf(n), part);
      }
      x += w;
    }
    if (lacks) add(list[0] || nodes[i], lacks, lacking * part);
  };
  put(at ? -1 : nodes.length, at ? [at] : inOrder(topNodes), 0, 0, Infinity, 1);
  return out;
}
const matches = (n) => !state.match || (tree.row[n.i] >= 0 && state.match[tree.row[n.i]]) ||
  n.children.some(matches);

function tipOfNode(event, n, whole) {
  showTip(event, [tree.name[n.i], tree.parameters[n.i]].filter(Boolean).join(" ") + countOf(n), [
    `${time(widthOf(n))}, ${percent(widthOf(n) / whole)} of ` +
      (treeView.at ? "what is shown" : "all"),
    tree.roof[n.i] === null ? "" : `${percent(tree.roof[n.i])} of the roof` +
      (tree.row[n.i] >= 0 ? `, ${rows.bound[tree.row[n.i]] || "n/a"}` : ""),
    `${count(tree.calls[n.i])} calls, own time ` +
      time(treeView.by === "device" ? tree.device_self[n.i] : tree.self[n.i])]);
}
function treeBox(item, scale, whole) {
  const { n, x, y, w, few } = item;
  if (few) {
    const text = `${count(few)} smaller, ${percent(w / whole)}`, wide = w * scale;
    return el("span", { class: "box hatch", title: text, style: `left:${x * scale}px;top:${y}px;` +
      `width:${wide}px;height:${highOf(n) - 1}px;cursor:auto` + (wide > 90 ? "" : ";padding:0") },
    wide > 90 ? text : null);
  }
  const isOp = tree.op[n.i] === 1, row = tree.row[n.i];
  const bound = row >= 0 ? rows.bound[row] : "", wide = w * scale - 1;
  const high = highOf(n);
  const label = wide > 34;
  const box = el("button", { type: "button", tabindex: wide > 34 ? 0 : -1, "data-row": row,
    class: `box ${isOp ? "op" : "region"}${row >= 0 && row === state.row ? " sel" : ""}` +
      (wide < 8 ? " thin" : "") +
      (matches(n) ? "" : " off"),
    "aria-label": `${tree.name[n.i]} ${time(w)}`,
    style: `left:${x * scale}px;top:${y}px;width:${max(1, wide)}px;height:${high - 1}px;` +
      (isOp ? `background:${pale(bound)};` : "") + (label ? "" : "padding:0") },
  label ? [el("b", null, wide > 70 ? middleCut(tree.name[n.i] + countOf(n), (wide - 8) / 6.6)
    : tree.name[n.i] + countOf(n)), isOp ? el("br") : " ",
    el("i", null, isOp && tree.parameters[n.i] && wide > 110 && row >= 0
      ? `${paramsOf(row)} ${percent(w / whole)}${wide > 220 && bound ? ", " + bound : ""}`
      : `${percent(w / whole)}` +
        (wide > 150 && !isOp ? " " + time(w) : ""))] : null,
  tree.roof[n.i] === null ? null : el("u", { style: `height:${isOp ? 7 : 3}px;width:` +
    `${100 * min(1, tree.roof[n.i])}%;background:${isOp ? hue(bound) : "var(--line2)"}` }));
  box.addEventListener("pointermove", (event) => tipOfNode(event, n, whole));
  box.addEventListener("pointerleave", hideTip);
  box.addEventListener("click", () => {
    if (isOp && row >= 0) select(row);
    if (!n.children.length || n === treeView.at) return;
    hideTip();
    treeView.at = n;
    showTree();
  });
  return box;
}
function crumbs() {
  const path = [];
  for (let n = treeView.at; n; n = n.parent < 0 ? null : nodes[n.parent]) path.unshift(n);
  const link = (text, n) => el("button", { class: "link", type: "button",
    onclick: () => { treeView.at = n; showTree(); } }, text);
  byId("tree_l").replaceChildren(el("span", { class: "crumbs" }, link("all", null),
    path.map((n) => [" › ", link(tree.name[n.i] + countOf(n), n)])),
  el("span", { class: "note" }, isTouched()
    ? "a tap zooms into a scope and selects an operator; the path at the left leads up"
    : "click zooms into a scope and selects an operator; Esc goes up"));
}
function showTree() {
  byId("tree").hidden = nodes.length === 0;
  if (nodes.length === 0) return;
  const host = byId("tree_b"), width = host.clientWidth;
  const whole = treeView.at ? widthOf(treeView.at)
    : sumOf(topNodes, widthOf) + treeLeft[treeView.by][nodes.length];
  const scale = whole > 0 ? width / whole : 0;
  const items = layout(treeView.at, 1.2 / scale);
  const drawn = items.filter((item) => item.w * scale >= 1.2).slice(0, 1500);
  host.style.height = drawn.reduce((most, i) => max(most, i.y + highOf(i.n)), 0) + "px";
  const boxes = drawn.map((item) => [treeBox(item, scale, whole), item.n, item.few]);
  host.replaceChildren(...boxes.map(([box]) => box));
  treeView.boxes = boxes.filter(([, , few]) => !few);
  const left = sumOf(items, (i) => i.few || 1) - sumOf(drawn, (i) => (i.few ? 0 : 1));
  byId("tree_n").textContent = `width is ${treeView.by === "device" ? "device" : "host"} time` +
    `, repeated siblings folded${left ? `; ${count(left)} smaller ones are not drawn` : ""}`;
  crumbs();
}
/** Up by one; false where it is at the top. */
function treeUp() {
  if (!treeView.at) return false;
  treeView.at = treeView.at.parent < 0 ? null : nodes[treeView.at.parent];
  showTree();
  return true;
}
{
  const tools = byId("tree_t");
  if (device)
    tools.append(segmented("Time", [["device", "device"], ["host", "host"]], treeView.by,
      (value) => { treeView.by = value; treeView.at = null; showTree(); }));
  tools.append(segmented("Order", [["time", "by time"], ["execution", "as it ran"]], "time",
    (value) => { treeView.order = value; showTree(); }));
  tools.append(el("button", { type: "button", onclick: () => { treeView.at = null; showTree(); } },
    "Reset"));
  on("resize", showTree);
  on("select", () => {
    for (const [box, n] of treeView.boxes)
      box.classList.toggle("sel", tree.row[n.i] >= 0 && tree.row[n.i] === state.row);
  });
  on("filter", () => {
    for (const [box, n] of treeView.boxes) box.classList.toggle("off", !matches(n));
  });
}
