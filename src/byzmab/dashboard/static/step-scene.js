// Drawings of a round: the reports on one arm as marks on an axis, which move as they are dropped, and all arms beside each other.

import { makeSvg } from "./dom.js";
import { honestRange } from "./step-words.js";

const WIDTH = 640, LEFT = 16, RIGHT = 624, BASE = 150, GONE = 205, HEIGHT = 250;
const SIZE = 8; // of a mark
const TOPS = { truth: 34, naive: 28, estimate: 15 }; // where a line begins, its label above it

// Round values on an axis, four to eight of them.
function ticks(low, high) {
  const step = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1].find((size) => (high - low) / size <= 8) ?? 2;
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, index) => Number(((first + index) * step).toFixed(4)));
}

// From values to places: all that is still looked at has room, and what lies outside is put at the edge.
function scaleOf(values) {
  const [least, most] = [Math.min(...values), Math.max(...values)], room = Math.max(0.04, 0.1 * (most - least));
  const [low, high] = [Math.max(0, least - room), most + room];
  const x = (value) => LEFT + ((RIGHT - LEFT) * (Math.min(Math.max(value, low), high) - low)) / (high - low);
  return { low, high, x };
}

const indexOf = (step) => (step.worth === "index" ? step.index : null);

// Heights of marks that would lie upon each other: a mark goes as low as there is room.
function stack(reports, arm, x) {
  const lanes = [], found = new Map();
  for (const report of [...reports].sort((one, other) => one.means[arm] - other.means[arm])) {
    const at = x(report.means[arm]);
    let lane = lanes.findIndex((last) => at - last > 2.3 * SIZE);
    if (lane < 0) lane = lanes.push(-Infinity) - 1;
    lanes[lane] = at;
    found.set(report.agent, lane);
  }
  return found;
}

function mark(report) {
  const shape = report.lies ? makeSvg("rect", { x: -SIZE * 0.9, y: -SIZE * 0.9, width: SIZE * 1.8, height: SIZE * 1.8, rx: 2 }) : makeSvg("circle", { r: SIZE });
  return makeSvg("g", { class: `mark ${report.lies ? "lies" : "honest"}`, "data-agent": report.agent }, makeSvg("title"), shape, makeSvg("text", { y: 0.5 }, String(report.agent)));
}

export class Scene {
  constructor(svg) {
    this.svg = svg;
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    this.marks = new Map(); // agent → its mark, kept from step to step so that it moves
    this.axis = makeSvg("g", { class: "axis" });
    this.range = makeSvg("rect", { class: "range", y: 32, height: BASE - 20, rx: 4 });
    this.lines = Object.fromEntries(["truth", "naive", "estimate"].map((name) => [name, makeSvg("g", { class: `line ${name}` }, makeSvg("line", { x1: 0, x2: 0, y1: TOPS[name], y2: BASE + 12 }), makeSvg("text", { y: name === "truth" ? GONE + 38 : TOPS[name] - 3 }))]));
    this.bar = makeSvg("line", { class: "reach", y1: BASE + 12, y2: BASE + 12 });
    this.own = makeSvg("g", { class: "own" }, makeSvg("title"), makeSvg("path", { d: "M0-9 9 0 0 9-9 0z" }));
    this.layer = makeSvg("g");
    svg.replaceChildren(this.range, this.axis, this.lines.truth, this.lines.naive, this.bar, this.layer, this.own, this.lines.estimate);
  }

  // Draw one arm after the step `at` of `stages`.
  show(step, arm, stages, at) {
    const passed = stages.slice(0, at + 1), dropped = new Set(passed.flatMap((stage) => stage.drops)), shown = passed.some((stage) => stage.name === "estimate");
    const told = step.heard.filter((report) => !["silent", "expelled"].includes(report.fates[arm])), left = told.filter((report) => !dropped.has(report.fates[arm]));
    const index = ["index", "choice"].includes(stages[at].name) ? indexOf(step)?.[arm] : undefined;
    const looked = [...left.map((report) => report.means[arm]), step.means[arm], step.true_means[arm], ...(shown ? [step.estimates[arm], step.everyone.estimates[arm]] : []), ...(index === undefined ? [] : [index])];
    const { low, high, x } = scaleOf(at ? looked : [0, 1, ...looked]);
    this.drawAxis(ticks(low, high), x);
    this.drawMarks(told, arm, x, dropped, shown);
    const seen = honestRange(step, arm);
    this.range.setAttribute("visibility", seen ? "visible" : "hidden");
    if (seen) {
      this.range.setAttribute("x", x(seen[0]) - 2);
      this.range.setAttribute("width", x(seen[1]) - x(seen[0]) + 4);
    }
    this.own.style.transform = `translate(${x(step.means[arm])}px, ${BASE}px)`;
    this.own.querySelector("title").textContent = `own mean ${step.means[arm].toFixed(3)} of ${step.pulls[arm]} pulls`;
    const [z, everyone] = [step.estimates[arm], step.everyone.estimates[arm]];
    this.line("truth", x(step.true_means[arm]), `true mean ${step.true_means[arm].toFixed(3)}`, true);
    this.line("estimate", x(z), `z ${z.toFixed(3)}`, shown, z >= everyone ? "start" : "end");
    this.line("naive", x(everyone), `believing everyone ${everyone.toFixed(3)}`, shown && step.filter !== "mean", z >= everyone ? "end" : "start");
    this.bar.setAttribute("x1", x(z));
    this.bar.setAttribute("x2", x(index ?? z));
    this.bar.setAttribute("visibility", index === undefined ? "hidden" : "visible");
  }

  drawAxis(values, x) {
    this.axis.replaceChildren(makeSvg("line", { x1: LEFT, x2: RIGHT, y1: BASE + 22, y2: BASE + 22 }),
      ...values.flatMap((value) => [makeSvg("line", { x1: x(value), x2: x(value), y1: BASE + 19, y2: BASE + 25 }), makeSvg("text", { x: x(value), y: BASE + 37 }, String(value))]));
  }

  drawMarks(told, arm, x, dropped, shown) {
    const lanes = stack(told, arm, x);
    for (const agent of [...this.marks.keys()]) {
      if (!told.some((report) => report.agent === agent)) {
        this.marks.get(agent).remove();
        this.marks.delete(agent);
      }
    }
    for (const report of told) {
      if (!this.marks.has(report.agent)) this.marks.set(report.agent, this.layer.appendChild(mark(report)));
      const element = this.marks.get(report.agent), fate = report.fates[arm], gone = dropped.has(fate);
      const room = Math.min(2.1 * SIZE, (BASE - 60) / Math.max(1, Math.max(...lanes.values(), 1)));
      const y = gone ? GONE + 6 * (lanes.get(report.agent) % 3) : BASE - 20 - room * lanes.get(report.agent);
      element.style.transform = `translate(${x(report.means[arm])}px, ${y}px)`;
      element.dataset.fate = gone ? fate : shown ? "kept" : "heard";
      element.querySelector("title").textContent = `agent ${report.agent}${report.lies ? " (lies)" : ""}: mean ${report.means[arm].toFixed(3)}, ${report.pulls[arm]} pulls${gone || shown ? `, ${fate}` : ""}`;
    }
  }

  line(name, at, text, visible, anchor = "middle") {
    const group = this.lines[name], label = group.lastChild;
    group.style.transform = `translate(${at}px, 0)`;
    group.style.opacity = visible ? 1 : 0;
    label.textContent = text;
    const room = at > 0.75 * WIDTH ? "end" : at < 0.25 * WIDTH ? "start" : anchor;
    label.setAttribute("text-anchor", room);
    label.setAttribute("x", { start: 4, end: -4, middle: 0 }[room]);
  }
}

const ROW = { most: 30, least: 13 };

// All arms below each other: from estimate to index, the one pulled, and the one that would have been.
export function drawArms(svg, step, arm, choose) {
  const arms = step.true_means.length, row = Math.max(ROW.least, Math.min(ROW.most, 300 / arms)), left = 62, width = 360;
  const index = indexOf(step), naive = index && step.everyone.index, top = 1.02 * Math.max(1, ...(index ?? []), ...(naive ?? []));
  const x = (value) => left + ((width - left - 12) * Math.min(Math.max(value, 0), top)) / top;
  svg.setAttribute("viewBox", `0 0 ${width} ${row * arms + 4}`);
  const focused = svg.contains(document.activeElement);
  svg.replaceChildren(...step.true_means.map((truth, number) => {
    const y = row * (number + 0.5) + 2, chosen = number + 1 === step.choice, would = number + 1 === step.everyone.choice;
    const group = makeSvg("g", { class: `arm${number === arm ? " shown" : ""}${chosen ? " chosen" : ""}${would && !chosen ? " would" : ""}`, role: "button", tabindex: number === arm ? 0 : -1, "aria-pressed": String(number === arm), "data-arm": number + 1,
      "aria-label": `arm ${number + 1}${chosen ? ", pulled" : ""}${would && !chosen ? ", pulled if everyone were believed" : ""}: z ${step.estimates[number].toFixed(3)}${step.index ? `, ${step.worth} ${step.index[number].toFixed(3)}` : ""}` },
      makeSvg("rect", { class: "row", x: 0, y: y - row / 2, width, height: row }),
      makeSvg("text", { x: left - 8, y, "font-size": Math.min(11.5, row * 0.8) }, `${chosen ? "✓ " : would ? "✗ " : ""}arm ${number + 1}`),
      makeSvg("line", { class: "truth", x1: x(truth), x2: x(truth), y1: y - row * 0.42, y2: y + row * 0.42 }),
      makeSvg("line", { class: "reach", x1: x(step.estimates[number]), x2: x(index ? index[number] : step.estimates[number] + 0.004), y1: y, y2: y, "stroke-width": row * 0.42 }));
    if (naive) group.append(makeSvg("line", { class: "naive", x1: x(naive[number]), x2: x(naive[number]), y1: y - row * 0.34, y2: y + row * 0.34 }));
    group.addEventListener("click", () => choose(number));
    return group;
  }));
  if (focused) svg.querySelector(".shown").focus();
}
