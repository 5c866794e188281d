// Step-through: one round of one agent, the paper's algorithm made visible.

import { colour, draw } from "./charts.js";
import { by, make } from "./dom.js";
import { lookInto } from "./lab-server.js";

const SYMBOLS = { kept: "circle", trimmed: "x", implausible: "diamond-open", inconsistent: "triangle-down-open", unused: "circle-open", heard: "circle" };

export class Steps {
  constructor(setups) {
    this.setups = setups;
    this.open = false;
    this.shown = null;
    this.timer = null;
    this.abort = null;
    by("open-step").addEventListener("click", () => this.start());
    by("stepper").addEventListener("submit", (event) => event.preventDefault());
    by("step-run").addEventListener("input", () => this.soon());
    by("step-agent").addEventListener("input", () => this.soon());
    by("step-round").addEventListener("input", () => { by("step-slide").value = by("step-round").value; this.soon(); });
    by("step-slide").addEventListener("input", () => { by("step-round").value = by("step-slide").value; this.soon(); });
    by("step-back").addEventListener("click", () => this.move(-1));
    by("step-on").addEventListener("click", () => this.move(1));
  }

  start() {
    this.open = true;
    by("step").hidden = false;
    by("open-step").hidden = true;
    this.update();
  }

  move(way) {
    const epoch = Number(this.setups.here.settings.epoch ?? 1) || 1;
    const round = Math.min(Math.max(1, Number(by("step-round").value) + way * epoch), Number(by("step-slide").max));
    by("step-round").value = by("step-slide").value = round;
    this.soon();
  }

  // The set-up changed: its agents and rounds, then the round itself.
  update() {
    const { info } = this.setups.here;
    if (!this.open || info === null) return;
    by("step-slide").max = by("step-round").max = info.horizon;
    by("step-run").max = info.runs;
    const chosen = Number(by("step-agent").value) || info.byzantine + 1;
    by("step-agent").replaceChildren(...Array.from({ length: info.agents }, (_, index) =>
      make("option", { value: index + 1 }, `${index + 1}${index < info.byzantine ? " (lies)" : ""}`)));
    by("step-agent").value = chosen <= info.agents ? chosen : info.agents;
    if (Number(by("step-round").value) > info.horizon) by("step-round").value = by("step-slide").value = info.horizon;
    this.soon();
  }

  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), 120);
  }

  async ask() {
    this.abort?.abort();
    this.abort = new AbortController();
    const { info, settings } = this.setups.here, problem = by("step-problem");
    const [run, round, agent] = ["step-run", "step-round", "step-agent"].map((id) => Number(by(id).value));
    try {
      if (!info.steps) throw new Error(`${settings.algorithm} has no filter to step through; choose the algorithm resilient.`);
      for (const [what, value, most] of [["run", run, info.runs], ["round", round, info.horizon]]) {
        if (!Number.isInteger(value) || value < 1 || value > most) throw new Error(`${what} ${value} does not exist; there are 1 to ${most}.`);
      }
      this.shown = await lookInto({ settings, run, round, agent }, this.abort.signal);
      problem.hidden = true;
      by("step-view").hidden = false;
      this.show();
    } catch (error) {
      if (error.name === "AbortError") return;
      problem.textContent = error.message;
      problem.hidden = false;
      by("step-view").hidden = true;
    }
  }

  show() {
    if (this.shown === null || !this.open) return;
    tellStory(this.shown);
    drawRound(this.shown);
    fillTable(this.shown);
  }
}

function tellStory(step) {
  const reports = step.heard.length, arm = step.choice - 1;
  const fates = step.heard.map((report) => report.fates[arm]);
  const count = (fate) => fates.filter((each) => each === fate).length;
  const old = step.heard.filter((report) => report.age > 0).length;
  const lines = [
    [`Agent ${step.agent}${step.lies ? ", a liar," : ""} hears `, `${reports} report${reports === 1 ? "" : "s"}`, old ? `, ${old} of them from earlier rounds.` : `. κ = ${step.kappa.toFixed(3)}, f = ${step.f}.`],
  ];
  const dropped = ["inconsistent", "implausible", "trimmed", "unused", "silent"].filter(count).map((fate) => `${count(fate)} ${fate}`);
  if (reports) lines.push([`On arm ${step.choice}, which it will choose, `, `${count("kept") + count("heard")} count`, dropped.length ? `; ${dropped.join(", ")}.` : "."]);
  lines.push(["With its own they make ", `z = ${step.estimates[arm].toFixed(3)}`, `, worth w = ${step.weights[arm].toFixed(1)} pulls of its own ${step.pulls[arm]}${step.doubts[arm] ? `, with doubt d = ${step.doubts[arm].toFixed(3)}` : ""}.`]);
  const worth = step.index === null ? "" : ` Its ${step.worth} is ${step.index[arm].toFixed(3)}${step.worth === "index" ? ", the largest" : ""} (t = ${step.time}; ${step.formula.replace(/\.$/, "")}).`;
  lines.push(["So in round " + step.round + " it pulls ", `arm ${step.choice}`, `.${worth}`]);
  by("story").replaceChildren(...lines.map(([before, bold, after]) => make("li", {}, before, make("strong", {}, bold), after)));
}

async function drawRound(step) {
  const arms = step.truths.length, traces = [];
  const spread = (index) => (step.heard.length > 1 ? 0.56 * (index / (step.heard.length - 1) - 0.5) : 0);
  for (const [fate, symbol] of Object.entries(SYMBOLS)) {
    const points = step.heard.flatMap((report, index) => report.fates.flatMap((each, arm) => (each === fate ? [{ report, arm, y: arm + 1 + spread(index) }] : [])));
    if (!points.length) continue;
    traces.push({
      type: "scatter", mode: "markers", name: fate, x: points.map((point) => point.report.means[point.arm]), y: points.map((point) => point.y),
      marker: { symbol, size: 9, color: colour(`fate-${fate}`), line: { width: points.map((point) => (point.report.lies ? 2.5 : 0.8)), color: points.map((point) => (point.report.lies ? colour("liar") : colour("card"))) } },
      text: points.map(({ report, arm }) => `agent ${report.agent}${report.lies ? " (lies)" : ""}: x̄ ${report.means[arm].toFixed(3)}, n ${report.pulls[arm]}, ${fate}`), hoverinfo: "text",
    });
  }
  const rows = step.truths.map((_, arm) => arm + 1);
  const tick = (name, x, tint, size, symbol = "line-ns") => ({ type: "scatter", mode: "markers", name, x, y: rows, marker: { symbol, size, color: tint, line: { width: 2.5, color: tint } }, hovertemplate: `${name} %{x:.3f}<extra>arm %{y}</extra>` });
  traces.push(tick("true mean μ", step.truths, colour("solo"), 26), tick("own mean x̄", step.means, colour("ink"), 9, "square-open"), tick("estimate z", step.estimates, colour("accent"), 30));
  if (step.index !== null && step.worth === "index") traces.push(tick("index", step.index, colour("accent"), 9, "triangle-right"));
  const box = by("plot-round");
  box.style.height = `${Math.max(15, 6 + arms * 3.2)}rem`;
  const shade = { type: "rect", xref: "paper", x0: 0, x1: 1, y0: step.choice - 0.45, y1: step.choice + 0.45, fillcolor: colour("accent-soft"), line: { width: 0 }, layer: "below" };
  await draw(box, traces, {
    xaxis: { title: { text: "mean reward" } }, shapes: [shade],
    yaxis: { range: [arms + 0.5, 0.5], tickvals: rows, ticktext: rows.map((arm) => (arm === step.choice ? `<b>arm ${arm} ✓</b>` : `arm ${arm}`)), showgrid: false, zeroline: false },
    legend: { orientation: "h", y: -3.6 / Math.max(9, arms * 3.2), font: { color: colour("ink") } },
  });
}

function fillTable(step) {
  const arms = step.truths.map((_, arm) => arm), chosen = (arm) => (arm + 1 === step.choice ? "chosen" : "");
  const row = (title, cell, kind = "") => make("tr", { class: kind }, make("th", { scope: "row" }, title), ...arms.map((arm) => make("td", { class: chosen(arm) }, ...[cell(arm)].flat())));
  const listed = (fate) => (arm) => step.heard.filter((report) => report.fates[arm] === fate).map((report) => report.agent).join(", ") || "–";
  const any = (fate) => step.heard.some((report) => report.fates.includes(fate));
  const head = make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "round " + step.round), ...arms.map((arm) => make("th", { scope: "col", class: chosen(arm) }, `arm ${arm + 1}`))));
  const own = make("tbody", {}, row("own x̄ · n", (arm) => [step.means[arm].toFixed(3), make("small", {}, ` · ${step.pulls[arm]}`)], "total"));
  const heard = make("tbody", {}, ...step.heard.map((report) => row(`agent ${report.agent}${report.lies ? ", lies" : ""}${report.age ? ` (${report.age} rounds old)` : ""}`, (arm) => {
    const fate = report.fates[arm];
    return [make("span", { class: "value" }, fate === "silent" ? "–" : report.means[arm].toFixed(3)), make("small", {}, ` · ${report.pulls[arm]}`), make("span", { class: `fate ${fate}` }, fate)];
  }, report.lies ? "lies" : "")));
  const steps = make("tbody", {});
  if (step.consistency) steps.append(row("step A drops", listed("inconsistent")));
  if (any("implausible")) steps.append(row("screening drops", listed("implausible")));
  if (any("trimmed")) steps.append(row("step B drops", listed("trimmed")));
  if (any("unused")) steps.append(row("too few to use", listed("unused")));
  steps.append(row("kept", (arm) => String(step.heard.filter((report) => ["kept", "heard"].includes(report.fates[arm])).length)));
  const best = step.index === null ? null : Math.max(...step.index);
  const belief = make("tbody", {},
    row("estimate z", (arm) => step.estimates[arm].toFixed(3)), row("weight w", (arm) => step.weights[arm].toFixed(1)), row("doubt d", (arm) => step.doubts[arm].toFixed(3)),
    ...(step.index === null ? [] : [row(step.worth, (arm) => (step.index[arm] === best ? make("strong", {}, step.index[arm].toFixed(4)) : step.index[arm].toFixed(4)), "total")]),
    row("choice", (arm) => (arm + 1 === step.choice ? "✓ pulled" : ""), "total"));
  const table = by("round-table"), frame = table.parentElement;
  table.replaceChildren(head, own, heard, steps, belief);
  const column = head.querySelector(".chosen"); // of many arms, the chosen one is the one to see
  if (column.offsetLeft + column.offsetWidth > frame.clientWidth) frame.scrollLeft = column.offsetLeft - frame.clientWidth / 2;
  else frame.scrollLeft = 0;
}
