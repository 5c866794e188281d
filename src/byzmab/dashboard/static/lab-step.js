// Step-through: one round of one agent, step by step, beside what believing everyone would have made of it.

import { by, make } from "./dom.js";
import { lookInto } from "./lab-server.js";
import { drawArms, Scene } from "./step-scene.js";
import { captionOf, counterfactualOf, harmlessOf, stagesOf } from "./step-words.js";

const PACE = 1100; // ms between two steps when they play themselves
const STILL = "(prefers-reduced-motion: reduce)"; // then they do not, unless asked to

export class Steps {
  constructor(setups) {
    this.setups = setups;
    this.open = false;
    this.shown = null;
    this.scene = null;
    this.arm = null; // from 0; of a new round the one that is pulled
    this.at = 0; // index of the step
    this.timer = null;
    this.player = null;
    this.abort = null;
    by("open-step").addEventListener("click", () => this.start());
    by("stepper").addEventListener("submit", (event) => event.preventDefault());
    by("step-run").addEventListener("input", () => this.soon());
    by("step-agent").addEventListener("input", () => this.soon());
    by("step-round").addEventListener("input", () => { by("step-slide").value = by("step-round").value; this.soon(); });
    by("step-slide").addEventListener("input", () => { by("step-round").value = by("step-slide").value; this.soon(); });
    by("step-back").addEventListener("click", () => this.move(-1));
    by("step-on").addEventListener("click", () => this.move(1));
    by("stage-play").addEventListener("click", () => this.play());
    by("step-view").addEventListener("keydown", (event) => this.key(event));
  }

  // Open at a round; without one, where it stands.
  start(round = null) {
    this.open = true;
    if (round !== null) by("step-round").value = by("step-slide").value = Math.max(1, round);
    by("step").hidden = false;
    by("open-step").hidden = true;
    this.playing = true; // the first time it plays itself
    this.update();
  }

  move(way) {
    const epoch = Number(this.setups.here.settings.epoch ?? 1) || 1;
    const round = Math.min(Math.max(1, Number(by("step-round").value) + way * epoch), Number(by("step-slide").max));
    by("step-round").value = by("step-slide").value = round;
    this.soon();
  }

  key(event) {
    const moves = { ArrowRight: () => this.goTo(this.at + 1), ArrowLeft: () => this.goTo(this.at - 1), ArrowDown: () => this.choose(this.arm + 1), ArrowUp: () => this.choose(this.arm - 1), PageDown: () => this.move(1), PageUp: () => this.move(-1) };
    if (!(event.key in moves) || this.shown === null) return;
    event.preventDefault();
    moves[event.key]();
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
    if (Number(by("step-round").value) > info.horizon) by("step-round").value = info.horizon;
    by("step-slide").value = by("step-round").value; // its range may have been shorter
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
      this.arm = this.shown.choice - 1;
      const before = this.stages?.[this.at]?.name; // a round may have a step more or less; one looks at the same
      this.stages = stagesOf(this.shown);
      const same = this.stages.findIndex(({ name }) => name === before);
      this.at = this.playing ? 0 : same >= 0 ? same : Math.min(this.at, this.stages.length - 1);
      this.show();
      if (this.playing) this.begin();
    } catch (error) {
      if (error.name === "AbortError") return;
      problem.textContent = error.message;
      problem.hidden = false;
      by("step-view").hidden = true;
    }
  }

  // The first time: play the steps, or show the last one to a person who wants nothing to move by itself.
  begin() {
    this.playing = false;
    if (matchMedia(STILL).matches) this.goTo(this.stages.length - 1);
    else this.play();
  }

  // Play the steps from the first one on.
  play() {
    this.goTo(0);
    this.player = setInterval(() => (this.at + 1 < this.stages.length ? this.goTo(this.at + 1, true) : clearInterval(this.player)), PACE);
  }

  goTo(at, played = false) {
    if (!played) clearInterval(this.player);
    if (this.shown === null || at < 0 || at >= this.stages.length) return;
    this.at = at;
    this.show();
  }

  choose(arm) {
    if (arm < 0 || arm >= this.shown.true_means.length) return;
    clearInterval(this.player);
    this.arm = arm;
    this.show();
  }

  show() {
    if (this.shown === null || !this.open) return;
    const { shown, arm, stages, at } = this;
    this.scene ??= new Scene(by("scene"));
    this.showStages();
    by("title-scene").textContent = `Arm ${arm + 1}${arm + 1 === shown.choice ? ", which is pulled" : ""}`;
    by("stage-caption").textContent = captionOf(shown, stages[at], arm);
    by("counterfactual").textContent = counterfactualOf(shown, arm);
    by("harmless").textContent = harmlessOf(shown, arm);
    this.scene.show(shown, arm, stages, at);
    drawArms(by("arms-scene"), shown, arm, (number) => this.choose(number));
    const row = by("arms-scene").querySelector(".shown"), box = by("arms-scene").parentElement, y = row.getBBox().y;
    if (y < box.scrollTop || y > box.scrollTop + box.clientHeight - 20) box.scrollTop = Math.max(0, y - box.clientHeight / 2);
    fillReports(shown, arm);
    fillTable(shown);
  }

  showStages() {
    const box = by("stages"), focused = box.contains(document.activeElement);
    box.replaceChildren(...this.stages.map(({ name }, index) => {
      const button = make("button", { type: "button", "aria-pressed": String(index === this.at), "data-stage": name }, `${index + 1} ${name}`);
      button.addEventListener("click", () => this.goTo(index));
      return button;
    }));
    if (focused) box.children[this.at].focus();
  }
}

const cells = (kind, ...texts) => texts.map((text) => make(kind, kind === "th" ? { scope: "col" } : {}, text));

// The reports on one arm, smallest mean first.
function fillReports(step, arm) {
  const rows = [...step.heard].sort((one, other) => one.means[arm] - other.means[arm]).map((report) => {
    const fate = report.fates[arm];
    return make("tr", { class: report.lies ? "lies" : "" }, make("th", { scope: "row" }, `agent ${report.agent}${report.lies ? ", lies" : ""}${report.age ? ` (${report.age} rounds old)` : ""}`),
      ...cells("td", ["silent", "expelled"].includes(fate) ? "–" : report.means[arm].toFixed(3), String(report.pulls[arm])), make("td", {}, make("span", { class: `fate ${fate}` }, fate)));
  });
  const own = make("tr", { class: "total" }, make("th", { scope: "row" }, "own"), ...cells("td", step.means[arm].toFixed(3), String(step.pulls[arm]), ""));
  by("reports-table").replaceChildren(make("thead", {}, make("tr", {}, ...cells("th", `on arm ${arm + 1}`, "mean", "pulls", "fate"))), make("tbody", {}, own, ...rows));
}

// All arms, a row each, so that fifty are read like four.
function fillTable(step) {
  const listed = (arm, ...fates) => step.heard.filter((report) => fates.includes(report.fates[arm])).map((report) => report.agent).join(", ") || "–";
  const head = make("thead", {}, make("tr", {}, ...cells("th", `round ${step.round}`, "own mean", "pulls", "kept", "dropped", "z", "w", "d", ...(step.index === null ? [] : [step.worth]), "z believing everyone", "pulled")));
  const rows = step.true_means.map((_, arm) => {
    const said = [step.means[arm].toFixed(3), String(step.pulls[arm]), listed(arm, "kept", "heard"), listed(arm, "inconsistent", "implausible", "unlike", "trimmed", "unused"),
      step.estimates[arm].toFixed(3), step.weights[arm].toFixed(1), step.doubts[arm].toFixed(3), ...(step.index === null ? [] : [step.index[arm].toFixed(4)]), step.everyone.estimates[arm].toFixed(3),
      [arm + 1 === step.choice ? "✓" : "", arm + 1 === step.everyone.choice ? "believing everyone" : ""].filter(Boolean).join(", ")];
    return make("tr", { class: arm + 1 === step.choice ? "chosen" : "" }, make("th", { scope: "row" }, `arm ${arm + 1}`), ...cells("td", ...said));
  });
  by("round-table").replaceChildren(head, make("tbody", {}, ...rows));
}
