// The map of a network: nodes to choose, and each edge in two halves, coloured by what the hearer made of the last report.

import { agentShape, by, make, makeSvg, onCircle } from "./dom.js";

const RADIUS = 130;
export const FATES = ["kept", "trimmed", "implausible", "unlike", "inconsistent", "unused", "silent", "expelled"];

export function showLegend() {
  const words = { kept: "kept", trimmed: "trimmed", implausible: "implausible", unlike: "unlike", inconsistent: "inconsistent", unused: "unused", silent: "silent or cut", expelled: "expelled" };
  by("legend").replaceChildren(...FATES.map((fate) => make("li", {}, make("i", { style: `background: var(--fate-${fate})` }), words[fate])));
}

// What became of the newest report of `teller` at `hearer`; "cut" where one of the two is not there.
function fateOf(rows, teller, hearer) {
  const [from, to] = [rows[teller - 1], rows[hearer - 1]];
  if (from.state !== "up" || to.state !== "up") return "cut";
  return to.fates[from.name] ?? "silent";
}

function halves(rows, edges, agents) {
  return edges.map(([teller, hearer]) => {
    const [[x1, y1], [x2, y2]] = [teller, hearer].map((agent) => onCircle(agent - 1, agents, RADIUS)), fate = fateOf(rows, teller, hearer);
    const line = makeSvg("line", { x1: (x1 + x2) / 2, y1: (y1 + y2) / 2, x2, y2, class: `edge ${fate}${rows[teller - 1].lies ? " from-liar" : ""}`, "data-edge": `${teller}>${hearer}` });
    line.append(makeSvg("title", {}, `what ${rows[hearer - 1].name} made of ${rows[teller - 1].name}: ${fate}`));
    return line;
  });
}

// Draw the map; `choose(agent)` is called when a node is clicked. Elements are kept while nothing changed, and with them the focus.
export function showMap(about, rows, chosen, choose) {
  const map = by("map"), agents = rows.length, size = Math.max(6, Math.min(17, 300 / agents));
  const drawn = JSON.stringify([chosen, rows.map((row) => [row.state, row.lies, row.fates])]);
  if (map.dataset.drawn === drawn) return;
  map.dataset.drawn = drawn;
  const focused = map.contains(document.activeElement);
  const dots = rows.map((row) => {
    const [x, y] = onCircle(row.agent - 1, agents, RADIUS);
    const dot = makeSvg("g", { class: `node ${row.lies ? "liar" : "honest"} ${row.state.split(" ")[0]}`, role: "button", tabindex: 0, "data-agent": row.agent, "aria-pressed": String(row.agent === chosen),
      "aria-label": `${row.name}, ${row.lies ? "lies" : "honest"}, ${row.state}: show its levers` }, agentShape(x, y, size, row.lies));
    if (size > 7) dot.append(makeSvg("text", { x, y }, String(row.agent)));
    dot.addEventListener("click", () => choose(row.agent));
    dot.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose(row.agent);
    });
    return dot;
  });
  map.replaceChildren(...halves(rows, about.edges, agents), ...dots);
  if (focused) map.querySelector(`[data-agent="${chosen}"]`)?.focus();
}
