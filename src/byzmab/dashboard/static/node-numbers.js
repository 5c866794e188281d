// The numbers of a node: what happens per second, and evidence to take along.

import { colour, draw } from "./charts.js";
import { by, fillTable, make, save, showNumber } from "./dom.js";
import { ask, span } from "./live.js";

const WINDOW = 5; // points of the history over which the present rate is taken

const heard = (peers) => peers.reduce((sum, peer) => sum + peer.accepted, 0);
const RATES = {
  decisions: (point) => point.state.decisions,
  rewards: (point) => point.state.rewards,
  reports: (point) => heard(point.peers),
};

// Per second between two points; nothing across a restart, after which counts begin anew.
function rate(before, after, count) {
  const seconds = after.state.uptime - before.state.uptime, more = count(after) - count(before);
  return seconds > 0 && more >= 0 && after.state.epoch === before.state.epoch ? more / seconds : null;
}

export function showNumbers({ state, peers }, points) {
  const now = Object.fromEntries(Object.entries(RATES).map(([name, count]) => {
    const value = points.length > 1 ? rate(points.at(-Math.min(WINDOW, points.length)), points.at(-1), count) : null;
    return [name, value === null ? "…" : `${value.toFixed(1)} per second`];
  }));
  const expelled = peers.filter((peer) => peer.expelled).length, fresh = peers.filter((peer) => peer.hears && !peer.expelled && peer.seq !== null).length;
  showNumber("n-decisions", state.decisions.toLocaleString("en"), now.decisions);
  showNumber("n-rewards", state.rewards.toLocaleString("en"), now.rewards);
  showNumber("n-reports", heard(peers).toLocaleString("en"), now.reports);
  showNumber("n-heard", `${fresh} of ${peers.filter((peer) => peer.hears).length}`, state.f ? `${3 * state.f + 1} wanted for f = ${state.f}` : "f = 0");
  showNumber("n-caught", String(peers.filter((peer) => peer.findings.some((piece) => piece.kind !== "impossible")).length), expelled ? `${expelled} expelled: f is ${expelled} less` : "none expelled");
  showNumber("n-uptime", span(state.uptime), `epoch ${state.epoch}`);
}

export async function drawRates(points) {
  if (points.length < 2) return;
  const later = points.slice(1), x = later.map((point) => new Date(point.time));
  const traces = Object.entries(RATES).map(([name, count], index) => ({
    x, y: later.map((point, before) => rate(points[before], point, count)), name, mode: "lines",
    line: { color: colour(`curve-${index}`), width: 2, dash: index === 1 ? "dot" : "solid" }, hovertemplate: `${name}: %{y:.1f} per second<extra></extra>`,
  }));
  await draw(by("plot-rates"), traces, { yaxis: { title: { text: "per second" }, rangemode: "tozero" }, xaxis: { title: { text: "time" }, type: "date", tickformat: "%H:%M:%S", nticks: 5 } });
}

const KINDS = { equivocation: "equivocation", sequence: "impossible sequence", numbers: "impossible numbers", impossible: "impossible history" };
const shown = new Map(); // the rows by file name, made once, so that a button keeps its focus

// The stream tells of evidence without its frames: they are asked for when wanted.
async function saveEvidence(name, choose) {
  const { neighbours: peers } = await ask("/v1/neighbours");
  save(JSON.stringify(choose(peers), null, 2), "application/json", name);
}

function row(peer, piece, index) {
  const name = `evidence-${peer.name}-${index + 1}.json`;
  if (!shown.has(name)) {
    const button = make("button", { type: "button", "aria-label": `Download evidence ${index + 1} against ${peer.name}` }, "Download");
    button.addEventListener("click", () => saveEvidence(name, (peers) => peers.find((one) => one.name === peer.name)?.evidence[index] ?? []));
    shown.set(name, button);
  }
  return [peer.name, KINDS[piece.kind], `${piece.epoch} · ${piece.seq}`, new Date(1000 * piece.found).toLocaleTimeString("en-GB"), shown.get(name)];
}

export function showEvidence(state, peers) {
  const none = peers.every((peer) => peer.findings.length === 0);
  by("no-evidence").hidden = !none;
  by("evidence-box").hidden = none;
  by("save-evidence").disabled = none;
  by("save-evidence").onclick = () => saveEvidence(`evidence-by-${state.name}.json`, (all) => all.flatMap((peer) => peer.evidence));
  const rows = peers.flatMap((peer) => peer.findings.map((piece, index) => row(peer, piece, index)));
  fillTable(by("evidence"), rows.sort((one, other) => Number(one[1] === KINDS.impossible) - Number(other[1] === KINDS.impossible))); // proof before suspicions
}
