// The neighbours of a node: a ring each for what became of the last report, and how far they were trusted over time.

import { colour, draw } from "./charts.js";
import { by, fillTable, make, makeSvg, onCircle } from "./dom.js";
import { span } from "./live.js";

const FATES = ["kept", "trimmed", "inconsistent", "implausible", "unlike", "unused", "silent", "heard"];
const WORDS = [...FATES.slice(0, 7), "refused", "expelled"];
const LABELS = 14; // neighbours up to which there is room for names
const EXPELLED = -1, SILENT = -0.5; // below the shares of what was kept, which are 0 to 1
const refusedBefore = new Map();

const paint = (word) => (word === "refused" ? "var(--curve-3)" : `var(--fate-${word})`);

export function showLegend() {
  by("legend").replaceChildren(...WORDS.map((word) => make("li", {}, make("i", { style: `background: ${paint(word)}` }), word)));
}

// What became of the last report, in one word: that of most arms.
function fate(peer) {
  if (peer.expelled) return "expelled";
  if (wasRefused(peer)) return "refused";
  const fates = Object.values(peer.fates);
  return FATES.toSorted((a, b) => fates.filter((one) => one === b).length - fates.filter((one) => one === a).length)[0];
}

// Whether frames were refused since the last look, and none accepted.
function wasRefused(peer) {
  const before = refusedBefore.get(peer.name);
  if (before?.accepted === peer.accepted && before?.rejected === peer.rejected) return before.refused;
  const refused = before !== undefined && peer.rejected > before.rejected && peer.accepted === before.accepted;
  refusedBefore.set(peer.name, { accepted: peer.accepted, rejected: peer.rejected, refused });
  return refused;
}

function ring(x, y, radius, fates) {
  const pieces = fates.length, around = 2 * Math.PI * radius, gap = pieces > 1 ? 1.5 : 0;
  return fates.map((one, index) => makeSvg("circle", {
    cx: x, cy: y, r: radius, fill: "none", stroke: paint(one), "stroke-width": 6,
    "stroke-dasharray": `${Math.max(around / pieces - gap, 0.5)} ${around}`, "stroke-dashoffset": -(around * index) / pieces, transform: `rotate(-90 ${x} ${y})`,
  }));
}

export function showStar(state, peers) {
  by("star").toggleAttribute("hidden", !peers.length);
  by("no-neighbours").hidden = peers.length > 0;
  const size = Math.max(9, Math.min(17, 300 / Math.max(peers.length, 1) / 1.6));
  const stars = peers.map((peer, index) => {
    const [x, y] = onCircle(index, peers.length, 118), word = fate(peer), arms = Object.entries(peer.fates);
    const group = makeSvg("g", { class: word, "data-peer": peer.name, "data-fate": word },
      makeSvg("title", {}, `${peer.name}: ${peer.expelled ? "expelled" : arms.map(([arm, one]) => `${arm} ${one}`).join(", ")}`),
      makeSvg("line", { class: "link", x1: 0, y1: 0, x2: x, y2: y, style: `stroke: ${paint(word)}` }),
      makeSvg("circle", { class: "hub", cx: x, cy: y, r: size + 3 }),
      ...ring(x, y, size, peer.expelled ? ["expelled"] : arms.map(([, one]) => one)));
    if (peers.length <= LABELS) group.append(makeSvg("text", { class: "name", x, y: y < -20 ? y - size - 12 : y + size + 12 }, peer.name));
    return group;
  });
  by("star").setAttribute("viewBox", "-160 -163 320 326");
  by("star").setAttribute("aria-label", `Neighbours and their last reports: ${peers.map((peer) => `${peer.name} ${fate(peer)}`).join(", ")}`);
  by("star").replaceChildren(...stars, makeSvg("circle", { class: "self", r: 25 }), makeSvg("text", { class: "self-name" }, state.name.slice(0, 9)));
}

const judged = (peer) => peer.kept + peer.trimmed + peer.implausible + peer.unlike + peer.inconsistent + peer.unused + peer.silent;

const OFTEN = 0.5; // of a neighbour's reports dropped as extreme, from which on it is worth a word

// How far a neighbour is trusted, and why: proof, a suspicion, or only that the filter drops it often, as it does honest ones too.
function standing(peer) {
  if (peer.findings.some((piece) => piece.kind !== "impossible")) return "proven";
  if (peer.findings.length || peer.impossible) return "suspected";
  const total = judged(peer);
  return total && (peer.trimmed + peer.implausible) / total > OFTEN ? "merely extreme" : "nothing known";
}

// How many pulls of this node a neighbour's report is worth here, of those that it claims; nothing is known with contexts.
function worth(peer) {
  const worths = Object.values(peer.worths);
  if (!worths.length) return "–";
  const counted = Math.round(worths.reduce((sum, value) => sum + value, 0));
  return `${counted.toLocaleString("en")} of ${peer.claimed.toLocaleString("en")}`;
}

export function fillTrust(peers) {
  fillTable(by("trust"), peers.map((peer) => {
    const word = fate(peer), total = judged(peer);
    const share = (count) => (total ? `${((100 * count) / total).toFixed(0)} %` : "–");
    return [
      peer.name, make("span", { class: `chip ${standing(peer).split(" ")[0]}` }, standing(peer)), make("span", { class: `chip ${word}` }, word), peer.age === null ? "never" : span(peer.age),
      worth(peer), share(peer.kept), share(peer.trimmed), share(peer.inconsistent), share(peer.implausible), share(peer.unlike), share(peer.silent),
      peer.rejected.toLocaleString("en"), String(peer.findings.length),
    ];
  }));
}

// The share kept between two points of the history; what was said of an expelled or a silent neighbour is no share.
function trust(before, after) {
  if (!after) return null;
  if (after.expelled) return EXPELLED;
  const seen = before && judged(after) >= judged(before) ? before : { kept: 0, trimmed: 0, implausible: 0, unlike: 0, inconsistent: 0, unused: 0, silent: 0 };
  const total = judged(after) - judged(seen);
  if (total <= 0) return null;
  return after.silent - seen.silent > total / 2 ? SILENT : (after.kept - seen.kept) / total;
}

export async function drawTrust(points) {
  const box = by("plot-trust"), names = points.at(-1).peers.map((peer) => peer.name);
  box.hidden = names.length === 0 || points.length < 2;
  if (box.hidden) return;
  const at = (point, name) => point.peers.find((peer) => peer.name === name);
  const z = names.map((name) => points.slice(1).map((point, index) => trust(at(points[index], name), at(point, name))));
  const told = (value) => (value === null ? "nothing" : value === EXPELLED ? "expelled" : value === SILENT ? "silent" : `${Math.round(100 * value)} % kept`);
  const scale = [[0, colour("fate-expelled")], [0.2, colour("fate-expelled")], [0.2, colour("fate-silent")], [0.45, colour("fate-silent")], [0.45, colour("fate-trimmed")], [0.5, colour("fate-trimmed")], [0.7, colour("faint")], [0.72, colour("faint")], [1, colour("fate-kept")]];
  const height = 78 + 26 * names.length;
  box.style.height = `${height}px`;
  await draw(box, [{
    type: "heatmap", x: points.slice(1).map((point) => new Date(point.time)), y: names, z, text: z.map((row) => row.map(told)),
    zmin: EXPELLED, zmax: 1, colorscale: scale, showscale: false, ygap: 3, hoverongaps: false, hovertemplate: "%{y}: %{text}<extra></extra>",
  }], { height, yaxis: { autorange: "reversed", type: "category" }, xaxis: { title: { text: "time" }, type: "date", tickformat: "%H:%M:%S", nticks: 6 }, margin: { l: 60, r: 12, t: 4, b: 48 } });
}
