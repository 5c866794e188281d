// The network, drawn by hand: agents on a circle, liars square, edges that can be clicked.

import { agentShape, makeSvg, onCircle } from "./dom.js";

const SIZE = 320, RADIUS = 132;
const MOST_GHOSTS = 16; // agents up to which edges that are not there can be clicked too

const positionOf = (agent, agents) => onCircle(agent - 1, agents, RADIUS);

function line(a, b, agents, size, attributes) {
  const [[x1, y1], [x2, y2]] = [positionOf(a, agents), positionOf(b, agents)];
  const length = Math.hypot(x2 - x1, y2 - y1), dx = ((x2 - x1) / length) * size, dy = ((y2 - y1) / length) * size;
  return makeSvg("line", { x1: x1 + dx, y1: y1 + dy, x2: x2 - dx, y2: y2 - dy, ...attributes });
}

// Draw into an svg. `edges` are [teller, hearer]; `toggle(a, b)`, if there is one, is called when an edge is clicked, or two agents in turn.
export function drawNetwork(svg, { agents, byzantine, edges, toggle = null }) {
  const size = Math.max(5, Math.min(14, (2.2 * RADIUS) / agents));
  const told = new Set(edges.map(([teller, hearer]) => `${teller}>${hearer}`));
  const arrow = makeSvg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 5, markerHeight: 5, orient: "auto" },
    makeSvg("path", { d: "M0 0 8 4 0 8z", fill: "context-stroke" }));
  const lines = makeSvg("g"), hits = makeSvg("g"), dots = makeSvg("g");
  let first = null;

  for (let a = 1; a <= agents; a++) {
    for (let b = a + 1; b <= agents; b++) {
      const there = told.has(`${a}>${b}`), back = told.has(`${b}>${a}`);
      if (there || back) {
        const [from, to] = there ? [a, b] : [b, a];
        const one = there !== back, liar = from <= byzantine || (there && back && a <= byzantine);
        const edge = line(from, to, agents, size, { class: liar ? "edge from-liar" : "edge" });
        if (one) edge.setAttribute("marker-end", "url(#arrow)");
        lines.append(edge);
      }
      if (!toggle || (!there && !back && agents > MOST_GHOSTS)) continue;
      const does = there && back ? `${a} and ${b} hear each other` : there ? `${b} hears ${a}` : back ? `${a} hears ${b}` : `${a} and ${b} do not hear each other`;
      const hit = line(a, b, agents, size, { class: "hit", "data-edge": `${a}-${b}` });
      hit.append(makeSvg("title", {}, does));
      hit.addEventListener("click", () => toggle(a, b));
      hits.append(hit);
    }
  }

  function pick(agent, dot) {
    if (first === null || first.agent === agent) {
      const again = first !== null;
      first?.dot.setAttribute("aria-pressed", "false");
      first = again ? null : { agent, dot };
      dot.setAttribute("aria-pressed", String(!again));
      return;
    }
    toggle(first.agent, agent);
  }

  for (let agent = 1; agent <= agents; agent++) {
    const [x, y] = positionOf(agent, agents), liar = agent <= byzantine;
    const heard = edges.filter(([, hearer]) => hearer === agent).length;
    const role = { "data-agent": agent, role: "button", tabindex: 0, "aria-pressed": "false", "aria-label": `agent ${agent}, ${liar ? "lies" : "honest"}, hears ${heard}` };
    const dot = makeSvg("g", { class: liar ? "agent liar" : "agent", ...(toggle ? role : {}) }, agentShape(x, y, size, liar));
    if (size > 6) dot.append(makeSvg("text", { x, y, "font-size": size * 0.95 }, String(agent)));
    dots.append(dot);
    if (!toggle) continue;
    dot.addEventListener("click", () => pick(agent, dot));
    dot.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      pick(agent, dot);
    });
  }
  const focused = svg.contains(document.activeElement) ? document.activeElement.dataset.agent : null;
  svg.setAttribute("viewBox", `${-SIZE / 2} ${-SIZE / 2} ${SIZE} ${SIZE}`);
  svg.replaceChildren(makeSvg("defs", {}, arrow), lines, hits, dots);
  if (focused) dots.querySelector(`[data-agent="${focused}"]`)?.focus();
}

// The edges of the graph on which everyone hears everyone.
export function completeEdges(agents) {
  const all = Array.from({ length: agents }, (_, index) => index + 1);
  return all.flatMap((teller) => all.filter((hearer) => hearer !== teller).map((hearer) => [teller, hearer]));
}

// The text of a graph written edge by edge, as `--graph` takes it.
export function edgesText(agents, edges) {
  const told = new Set(edges.map(([teller, hearer]) => `${teller}>${hearer}`));
  const words = [...edges].sort(([a, b], [c, d]) => a - c || b - d)
    .filter(([a, b]) => a < b || !told.has(`${b}>${a}`))
    .map(([a, b]) => `${a}${told.has(`${b}>${a}`) ? "-" : ">"}${b}`);
  return `edges:${agents}:${words.join(",")}`;
}

// The edges after a click on a pair: an edge that is there goes, one that is not comes, both ways or from the first to the second.
export function toggled(edges, a, b, oneWay) {
  const others = edges.filter(([teller, hearer]) => !((teller === a && hearer === b) || (teller === b && hearer === a)));
  if (others.length < edges.length) return others;
  return oneWay ? [...others, [a, b]] : [...others, [a, b], [b, a]];
}
