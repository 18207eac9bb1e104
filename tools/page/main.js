// The bar, keys, theme, print, and the first drawing of all sections.

const SECTIONS = [["overview", "Overview"], ["operators", "Operators"], ["roofline", "Roofline"],
  ["tree", "Tree"], ["timeline", "Timeline"], ["steps", "Steps"], ["kernels", "Kernels"],
  ["copies", "Copies"], ["compare", "Compare"], ["machine", "Machine"]];
const shownSections = () => SECTIONS.filter(([id]) => !byId(id).hidden);

function showLinks() {
  byId("links").replaceChildren(...shownSections().map(([id, text]) =>
    el("a", { href: "#" + id, "data-id": id }, text)));
  markSection();
}
function markSection() {
  let current = "overview";
  for (const [id] of shownSections())
    if (byId(id).getBoundingClientRect().top < 140) current = id;
  if (innerHeight + scrollY >= document.documentElement.scrollHeight - 4 && scrollY > 0)
    current = shownSections().at(-1)[0];
  for (const link of byId("links").children) {
    if (link.dataset.id !== current) { link.removeAttribute("aria-current"); continue; }
    if (link.hasAttribute("aria-current")) continue;
    link.setAttribute("aria-current", "true");
    const bar = byId("links");
    bar.scrollLeft = link.offsetLeft - bar.offsetLeft - bar.clientWidth / 2 + link.clientWidth / 2;
  }
}

// ---- theme

const isDark = () => document.documentElement.dataset.theme
  ? document.documentElement.dataset.theme === "dark"
  : matchMedia("(prefers-color-scheme: dark)").matches;
function setTheme(name) {
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  tell("theme");
}
const switchTheme = () => setTheme(isDark() ? "light" : "dark");
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => tell("theme"));

// ---- keys

const KEYS = [["/", "filter"], ["j k, ↓ ↑", "next and previous row"], ["Enter", "open a row"],
  ["1 … 9", "sections"], ["w s", "zoom the timeline"], ["a d", "move the timeline"],
  ["0", "the whole timeline"], ["Esc", "up in the tree, then select nothing"],
  ["t", "light or dark"], ["?", "these keys"]];
const WORDS = [
  ["roof", "the least time for the FLOPs and bytes of a call at this machine's highest rates"],
  ["lost", "the time of a row above its roof"],
  ["bound", "what holds a row back: compute or memory, whose roof is near; cache; balanced " +
    "between both; far from both latency, launch of short calls, a small grid that leaves the " +
    "device empty; impossible above a roof: a formula or a ceiling is wrong"],
  ["operator", "guarded code whose FLOPs and bytes formulas tell; a row is one with one set of " +
    "parameters"],
  ["region", "a named stretch of the program; regions alone is the time in them that is in no " +
    "operator; a scope is a region or a call"],
  ["S3, H13, …", "the rule behind an advice: see the documentation's page advice"]];
function showKeys() {
  const list = (of, head) => el("dl", null, of.flatMap(([word, what]) =>
    [el("dt", null, head(word)), el("dd", null, what)]));
  byId("keys").replaceChildren(el("h2", { id: "keys_h" }, "Keys and words"),
    isTouched() ? "" : list(KEYS, (key) => el("kbd", null, key)),
    list(WORDS, (word) => el("b", null, word)),
  el("button", { type: "button", onclick: () => byId("keys").close() }, "Close"));
  byId("keys").showModal();
}
function escape() {
  hideTip();
  const menu = document.querySelector("details.menu[open]");
  if (menu) { menu.open = false; return; }
  if (byId("filter") === document.activeElement) { clearFilter(); byId("filter").blur(); return; }
  if (!treeUp() && state.row >= 0) select(-1, true);
}
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
  if (event.key === "Escape") { escape(); return; }
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) &&
    event.target.type !== "checkbox") return;
  const sections = shownSections();
  const keys = { "/": () => byId("filter").focus(), t: switchTheme, "?": showKeys,
    j: () => focusRow(1), k: () => focusRow(-1) };
  if (keys[event.key]) keys[event.key]();
  else if (/^[1-9]$/.test(event.key) && sections[event.key - 1]) goTo(sections[event.key - 1][0]);
  else if (!timelineKey(event)) return;
  event.preventDefault();
}
addEventListener("keydown", onKey);
addEventListener("click", (event) => {
  const menu = document.querySelector("details.menu[open]");
  if (menu && !menu.contains(event.target)) menu.open = false;
});

// ---- fingers

// They do not hover: where one taps, what a pointer would show stays until the next touch.
addEventListener("click", (event) => {
  if (event.pointerType === "touch")
    event.target.dispatchEvent(new PointerEvent("pointermove",
      { bubbles: true, clientX: event.clientX, clientY: event.clientY, pointerType: "touch" }));
}, true);
addEventListener("pointerdown", (event) => { if (event.pointerType === "touch") hideTip(); }, true);

// ---- the window and the printer

let resized = 0, sizeBefore = "";
addEventListener("resize", () => {
  // On a phone the height changes while the page scrolls, which moves nothing.
  const size = `${innerWidth} ${devicePixelRatio}`;
  if (size === sizeBefore) return;
  sizeBefore = size;
  cancelAnimationFrame(resized);
  resized = requestAnimationFrame(() => tell("resize"));
});
addEventListener("scroll", markSection, { passive: true });
addEventListener("hashchange", selectFromHash);
addEventListener("popstate", selectFromHash);
let themeBefore;
addEventListener("beforeprint", () => {
  themeBefore = document.documentElement.dataset.theme;
  setTheme("light");
  document.body.style.width = "700px";
  document.documentElement.style.setProperty("--pad", "0px");
  state.printing = true;
  tell("resize");
  showTable();
  if (timeline && lanes.length) drawTimeline();
});
addEventListener("afterprint", () => {
  document.body.style.width = "";
  document.documentElement.style.removeProperty("--pad");
  state.printing = false;
  showTable();
  setTheme(themeBefore);
  tell("resize");
});
byId("theme").addEventListener("click", switchTheme);
byId("help").addEventListener("click", showKeys);

showTools();
showTable();
showRoofline();
showTree();
showSteps();
showStepFacts();
showKernels();
showCopies();
if (typeof showCompare !== "undefined") showCompare();  // the page may lack compare.js
showRest();
startTimeline();
showLinks();
if (location.hash.startsWith("#row=")) {
  selectFromHash();
  if (state.row >= 0)
    byId("ops").querySelector(`tr[data-row="${state.row}"]`)?.scrollIntoView({ block: "center" });
}
document.documentElement.dataset.ready = "true";
