// The slices of the timeline, ready to draw: rows of slices that do not overlap, by time.

const timeline = data.timeline ? decoded(data.timeline) : null;
let lanes = [];
let hiddenLanes = [];
const MOST_REGIONS = 3;  // one in another, on a device
const MOST_LANES = 8;  // of threads, and of streams, unless asked for

/** Slices of a lane in rows: one that begins inside another lies a row below. */
function rowsOfLane(lane) {
  const out = [], ends = [];
  let begin = 0;
  lane.begin.forEach((difference, i) => {
    begin += difference;
    const end = begin + lane.ns[i];
    while (ends.length && ends[ends.length - 1] <= begin) ends.pop();
    const depth = ends.length;
    ends.push(end);
    (out[depth] = out[depth] || { begin: [], end: [], which: [] });
    out[depth].begin.push(begin);
    out[depth].end.push(end);
    out[depth].which.push(i);
  });
  // A slice that crosses the one before it in its row is cut where that one ends.
  for (const row of out)
    for (let i = 1; i < row.begin.length; i++)
      if (row.begin[i] < row.end[i - 1]) row.begin[i] = min(row.end[i], row.end[i - 1]);
  return out;
}
/** The first slice of a row that ends after `at`. */
function firstAfter(ends, at) {
  let low = 0, high = ends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle] > at) high = middle;
    else low = middle + 1;
  }
  return low;
}
/** The slice of a row at `t`, else the nearest within `slack` of it, else -1. */
function nearestSlice(line, t, slack) {
  const k = firstAfter(line.end, t);
  const after = k < line.end.length ? line.begin[k] - t : Infinity;
  const before = k > 0 ? t - line.end[k - 1] : Infinity;
  if (min(after, before) > slack) return -1;
  return before < after ? k - 1 : k;
}
const nodeAt = new Map();
/** The regions around a node, the outermost first. */
function regionsAround(node) {
  const out = [];
  for (let at = node; at; at = nodeAt.get(at.parent)) if (!at.op) out.unshift(at);
  return out;
}
/** Which run of a region a launch at `t` was in: when that began on the launching thread. */
function runOfRegion(thread, region, t) {
  for (const line of thread ? thread.rows : []) {
    const k = firstAfter(line.end, t);
    if (k < line.begin.length && line.begin[k] <= t && thread.node[line.which[k]] === region.id)
      return line.begin[k];
  }
  return -1;
}
/** Regions of the host where their work ran on a device: from the first start to the last end of
 * what was launched in a run of the region. */
function regionLane(id, streams, made) {
  const found = new Map(), laneAt = new Map(made.map((lane) => [lane.at, lane]));
  for (const lane of streams)
    for (const line of lane.rows)
      line.begin.forEach((begin, k) => {
        const i = line.which[k], launch = lane.launch[i];
        if (launch < 0) return;
        const thread = laneAt.get(lane.launcher[i]);
        // What is no slice of the host, as a graph, has its runs from what is around it.
        let run = -1;
        regionsAround(nodeAt.get(lane.node[i])).slice(0, MOST_REGIONS).forEach((region, depth) => {
          run = max(run, runOfRegion(thread, region, begin - launch));
          const key = `${region.id} ${run}`, one = found.get(key);
          if (!one) found.set(key, { region, depth, begin, end: line.end[k] });
          else {
            one.begin = min(one.begin, begin);
            one.end = max(one.end, line.end[k]);
          }
        });
      });
  if (found.size === 0) return [];
  const lane = { name: `GPU ${id}, regions`, kind: "regions", device: id, rows: [], node: [] };
  for (const one of [...found.values()].sort((a, b) => a.begin - b.begin)) {
    const line = lane.rows[one.depth] = lane.rows[one.depth] || { begin: [], end: [], which: [] };
    const before = line.end[line.end.length - 1];
    // What crosses the run before it is cut where that ends.
    if (before >= one.end) continue;
    line.begin.push(max(one.begin, before || one.begin));
    line.end.push(one.end);
    line.which.push(lane.node.length);
    lane.node.push(one.region.id);
  }
  lane.begin = lane.node;
  return [lane];
}
/** None where no row that ran there has a rate. */
function rateLane(id, sources) {
  const known = sources.some((lane) => lane.node.some((node) => {
    const of = nodeAt.get(node);
    return of && of.row >= 0 && metricOf(of.row, "gflops") > 0;
  }));
  return known ? [{ name: "rate", kind: "rate", device: id, sources, rows: [], begin: [] }] : [];
}
if (timeline) {
  timeline.node.forEach((node, i) => nodeAt.set(node, { id: node, name: timeline.node_name[i],
    row: timeline.node_row[i], op: timeline.node_op[i] === 1, parent: timeline.node_parent[i] }));
  const busy = (lane) => sumOf(lane.ns, (ns) => ns);
  const made = timeline.lanes.map(decoded).map((lane, i) =>
    ({ ...lane, at: i, busy: busy(lane), rows: rowsOfLane(lane) })).filter((l) => l.begin.length);
  const ofKind = (kind) => made.filter((l) => l.kind === kind).sort((a, b) => b.busy - a.busy);
  // Each thread's calls of CUDA stand below it.
  for (const thread of ofKind("thread"))
    lanes.push(thread, ...ofKind("calls").filter((c) => c.thread === thread.at));
  lanes.push(...ofKind("calls").filter((c) => !lanes.includes(c)));
  // The rate of each device stands below its streams, that of the host below its threads.
  const streams = ofKind("stream"), devices = [...new Set(streams.map((s) => s.device))].sort();
  if (devices.length === 0) lanes.push(...rateLane(-1, lanes.filter((l) => l.kind === "thread")));
  for (const id of devices) {
    const own = streams.filter((s) => s.device === id);
    lanes.push(...regionLane(id, own, made), ...own, ...rateLane(id, own));
  }
  if (data.steps && data.steps.of.length)
    lanes.unshift({ name: "steps", kind: "steps", rows: [{
      begin: data.steps.of.map((s) => s[1]), end: data.steps.of.map((s) => s[1] + s[2]),
      which: data.steps.of.map((_, i) => i) }] });
}

/** Leaves out the threads that do least, or shows all. */
function foldLanes(fold) {
  const all = [...lanes, ...hiddenLanes].sort((a, b) => a.order - b.order);
  let threads = 0, streams = 0;
  const keeps = (lane) => {
    if (/^(steps|regions|rate)$/.test(lane.kind)) return true;
    return lane.kind === "stream" ? ++streams <= MOST_LANES : ++threads <= MOST_LANES;
  };
  lanes = fold ? all.filter(keeps) : all;
  hiddenLanes = all.filter((lane) => !lanes.includes(lane));
}
lanes.forEach((lane, i) => { lane.order = i; });
foldLanes(true);

/** What a slice is: its name, the row that it stands for or -1, and how it is drawn. */
function sliceOf(lane, i) {
  if (lane.kind === "steps") return { name: `step ${data.steps.of[i][0]}`, row: -1, op: false };
  const node = lane.node ? nodeAt.get(lane.node[i]) : undefined;
  if (lane.kind === "regions") return { name: node.name, row: -1, op: false };
  if (lane.kind === "thread")
    return { name: node ? node.name : "", row: node && node.op ? node.row : -1, op: node &&
      node.op };
  const name = timeline.names[lane.name_of[i]] || "";
  return { name, row: node ? node.row : -1, op: lane.kind === "stream",
    launch: lane.launch && lane.launch[i] >= 0 ? lane.launch[i] : -1 };
}
/** When the slowest call of a row began that the page has, and how long it took. */
function slowestOf(row) {
  let found = null;
  for (const lane of lanes)
    for (const line of lane.rows)
      for (let k = 0; k < line.begin.length; k++) {
        if (lane.kind === "steps" || lane.kind === "regions") continue;
        const node = lane.node ? nodeAt.get(lane.node[line.which[k]]) : undefined;
        if (!node || node.row !== row || (lane.kind === "thread" && !node.op)) continue;
        const ns = line.end[k] - line.begin[k];
        if (!found || (lane.kind === "stream" && found.kind !== "stream") ||
          (lane.kind === found.kind && ns > found.ns))
          found = { begin: line.begin[k], ns, kind: lane.kind };
      }
  return found;
}
