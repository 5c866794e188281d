// The arms of a node: what it holds true of them, now and over time.

import { colour, draw, translucent } from "./charts.js";
import { by, fillTable, make } from "./dom.js";

const CURVES = 6; // colours there are
const TITLES = { estimate: "estimate z", width: "width", pulls: "own pulls", share: "share of own pulls" };

// The radius of UCB around the estimate, √(2 ln t ⁄ w) + d, whatever policy is used.
function width(arm, round) {
  return arm.weight > 0 ? Math.sqrt((2 * Math.log(Math.max(round, 1))) / arm.weight) + arm.doubt : null;
}

function values(state) {
  const total = state.arms.reduce((sum, arm) => sum + arm.pulls, 0);
  return state.arms.map((arm) => ({ ...arm, width: width(arm, state.round), share: total ? arm.pulls / total : null }));
}

const number = (value, digits = 3) => (value === null || !Number.isFinite(value) ? "–" : value.toFixed(digits));

export function fillArms(state) {
  const rows = values(state), best = Math.max(...rows.map((arm) => arm.pulls));
  fillTable(by("arms"), rows.map((arm, index) => [
    make("span", {}, make("i", { class: "swatch", style: `background: var(--curve-${index % CURVES})` }), arm.arm),
    number(arm.estimate), number(arm.width), arm.pulls.toLocaleString("en"),
    make(arm.pulls === best && best > 0 ? "strong" : "span", {}, arm.share === null ? "–" : `${(100 * arm.share).toFixed(1)} %`),
    number(arm.pulls ? arm.mean : null), arm.weight.toFixed(0),
  ]));
  by("arms-note").textContent = rows.some((arm) => arm.pulls)
    ? (state.context ? "All of it at the context of the latest decision, so that estimates change with contexts as well as with what is learned. " : "") + "The estimate z is what the filter leaves of all reports; its width is that of UCB1, √(2 ln t ⁄ w) + d, whatever policy decides; w is what it is worth in own pulls."
    : "Nothing was pulled yet: ask for an arm with POST /v1/select, and tell its reward.";
}

export async function drawArms(points, view) {
  const moments = points.map((point) => ({ time: new Date(point.time), arms: values(point.state) }));
  const now = moments.at(-1).arms, names = now.map((arm) => arm.arm), traces = [];
  const leader = now.reduce((best, arm) => (arm.pulls > best.pulls ? arm : best)).arm; // the one whose width is drawn around it
  names.forEach((name, index) => {
    const ink = colour(`curve-${index % CURVES}`), x = [], y = [], low = [], high = [];
    for (const { time, arms } of moments) {
      const arm = arms.find((one) => one.arm === name);
      if (!arm || arm[view] === null) continue;
      x.push(time);
      y.push(arm[view]);
      low.push(Math.max(0, arm.estimate - arm.width));
      high.push(Math.min(1, arm.estimate + arm.width));
    }
    if (view === "estimate" && name === leader) {
      traces.push({ x: [...x, ...x.toReversed()], y: [...high, ...low.toReversed()], fill: "toself", fillcolor: translucent(ink, 0.12), mode: "lines", line: { width: 0 }, hoverinfo: "skip", showlegend: false });
    }
    traces.push({ x, y, name, mode: x.length > 1 ? "lines" : "markers", line: { color: ink, width: 2.2 }, marker: { color: ink }, hovertemplate: `${name}: %{y:.4~g}<extra></extra>` });
  });
  const range = view === "estimate" || view === "share" ? { range: [0, 1] } : { rangemode: "tozero" };
  await draw(by("plot-arms"), traces, { yaxis: { title: { text: TITLES[view] }, ...range, tickformat: view === "share" ? ".0%" : "" }, xaxis: { title: { text: "time" }, type: "date", tickformat: "%H:%M:%S", nticks: 6 } });
}
