// The overview of a network: its map, the regret of its nodes against their shadows, and levers.

import { colour, draw, onTheme, plain, translucent } from "./charts.js";
import { by, fillTable, make, showNumber } from "./dom.js";
import { follow, span, throttle } from "./live.js";
import { busy, GONE, NAMES, showAttack, showNode, wireLevers } from "./overview-levers.js";
import { showLegend, showMap } from "./overview-map.js";
import { savedText } from "./savings.js";

const LABELS = 8; // events whose names have room in the chart
let about = null, latest = null, chosen = null, points = [];

const proves = (row, name) => row.evidence.some((piece) => piece.against === name && piece.kind !== "impossible");

// What a visitor must know of contexts: regret is against the best arm at each of them.
function contextFacts({ context, contexts, shares, vetting }) {
  const seen = { alike: "alike for all nodes" }[contexts] ?? (contexts.startsWith("leaning") ? "each node's lean to a direction of its own" : `drawn from ${contexts}`);
  return `contexts of ${context} dimensions, ${seen} · ${shares} shares${vetting ? ", vetted" : ""} · regret is against the best arm at each context`;
}

function showNumbers({ agents, seconds, decisions, regret, saved }) {
  const honest = agents.filter((row) => !row.lies), liars = agents.filter((row) => row.lies).map((row) => row.name), up = agents.filter((row) => row.state === "up").length;
  const proven = liars.filter((name) => honest.some((row) => proves(row, name))), out = liars.filter((name) => honest.some((row) => row.expelled.includes(name)));
  showNumber("n-decisions", decisions.toLocaleString("en"), `in ${span(seconds)}`);
  showNumber("n-regret", regret.regret?.toFixed(1) ?? "–", `${savedText(saved)} saved of being alone`);
  showNumber("n-solo", regret.solo_regret?.toFixed(1) ?? "–", "the same policy, hearing nobody");
  showNumber("n-believer", regret.believer_regret?.toFixed(1) ?? "–", about.context ? "the same policy, adding up all" : "the same policy, averaging all");
  showNumber("n-up", `${up} of ${agents.length}`, up === agents.length ? "all of them" : agents.filter((row) => row.state !== "up").map((row) => `${row.name} ${row.state}`).join(", "));
  const told = out.length ? `${out.length} expelled` : proven.length ? "kept; none expelled" : liars.length ? "none so far" : "nobody lies";
  showNumber("n-proven", `${proven.length} of ${liars.length}`, told);
}

function showAgents(rows) {
  fillTable(by("agents"), rows.map((row) => {
    const name = make("span", {}, make("a", { href: row.url, target: "_blank", rel: "noopener" }, row.name));
    if (row.lies) name.append(" ", make("span", { class: "chip lies" }, "lies"));
    const word = busy.has(row.agent) ? `${NAMES[busy.get(row.agent)].toLowerCase()} …` : row.state;
    const found = [...new Set(row.evidence.filter((piece) => piece.kind !== "impossible").map((piece) => piece.against))];
    return [name, make("span", { class: `chip ${row.state.split(" ")[0]}` }, word), row.decisions.toLocaleString("en"), row.regret.toFixed(1), row.solo_regret.toFixed(1), row.believer_regret.toFixed(1), found.join(", ") || "–", row.expelled.join(", ") || "–"];
  }));
}

function choose(agent) {
  chosen = agent;
  showNode(latest.agents[chosen - 1], show); // at once: whoever is quick must not open or kill the one before
  show();
}

const show = throttle(() => {
  if (!about || !latest) return;
  const rows = latest.agents;
  chosen ??= (rows.find((row) => !row.lies) ?? rows[0]).agent;
  by("facts").textContent = `${rows.length} nodes · f = ${about.f}, κ = ${about.kappa}, filter ${about.filter}, policy ${about.policy} · ${about.context ? contextFacts(about) : `true means ${latest.true_means.map((mean) => +mean.toFixed(3)).join(", ")}`}`;
  by("believer-does").textContent = about.context ? "adds up all it is told" : "averages all it is told";
  showMap(about, rows, chosen, choose);
  showNode(rows[chosen - 1], show);
  showAttack(latest);
  showNumbers(latest);
  showAgents(rows);
  by("happened").replaceChildren(...latest.events.toReversed().slice(0, 12).map(({ seconds, what }) => make("li", {}, make("span", { class: "muted" }, span(seconds)), ` ${what}`)));
}, 100);

// Vertical lines where something happened, the newest with their names.
function marks(events) {
  const shapes = events.map(({ seconds }) => ({ type: "line", x0: seconds, x1: seconds, yref: "paper", y0: 0, y1: 1, line: { color: colour("soft"), width: 1, dash: "dot" } }));
  const annotations = events.slice(-LABELS).map(({ seconds, what }, index) => ({ x: seconds, yref: "paper", y: 1 - 0.07 * (index % LABELS), text: plain(what), showarrow: false, xanchor: "left", yanchor: "top", font: { size: 10, color: colour("soft") }, bgcolor: colour("card") }));
  return { shapes, annotations };
}

const showChart = throttle(async () => {
  if (document.hidden || points.length < 2) return;
  by("empty").hidden = true;
  by("plot-regret").hidden = false;
  const x = points.map((point) => point.seconds), mean = points.map((point) => point.regret), ink = colour("curve-0");
  const edge = (sign) => points.map((point) => Math.max(0, point.regret + sign * point.spread));
  const none = { mode: "lines", line: { width: 0 }, hoverinfo: "skip", showlegend: false };
  const line = (name, y, tint, dash, width) => ({ x, y, name, mode: "lines", line: { color: tint, dash, width }, hovertemplate: `${name}: %{y:.1f}<extra></extra>` });
  const traces = [
    { x, y: edge(1), ...none }, { x, y: edge(-1), ...none, fill: "tonexty", fillcolor: translucent(ink, 0.18) },
    line("believing everyone", points.map((point) => point.believer_regret), colour("curve-1"), "dash", 2.4),
    line("alone", points.map((point) => point.solo_regret), colour("solo"), "dot", 2.4),
    line("honest nodes", mean, ink, "solid", 3),
  ];
  await draw(by("plot-regret"), traces, { ...marks(latest?.events ?? []), yaxis: { title: { text: "regret" }, rangemode: "tozero" }, xaxis: { ticksuffix: " s", rangemode: "tozero" } });
}, 400);

function onEvent(event, data) {
  if (event === "about") {
    about = data;
    by("attack").replaceChildren(...about.attacks.map((name) => make("option", { value: name }, name)));
  } else if (event === "past") {
    points = data.points;
  } else {
    latest = data;
    if (points.at(-1)?.seconds !== data.point.seconds) points.push(data.point);
    showChart();
  }
  show();
}

wireLevers(show);
showLegend();
onTheme(() => { by("map").dataset.drawn = ""; show(); showChart(); });
document.addEventListener("visibilitychange", showChart);
follow("/network/stream", { onEvent, gone: GONE });
