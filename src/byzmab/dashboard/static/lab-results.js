// Results: regret curves with bands, beside solo and bound, pull shares, fates of reports, and the numbers.

import { colour, draw, plain, translucent } from "./charts.js";
import { by, make } from "./dom.js";
import { isStale, keyOf } from "./lab-setups.js";
import { savedText } from "./savings.js";

const DASHES = ["solid", "dash", "dashdot", "longdash", "longdashdot", "6px,4px"]; // none is dotted but alone
const PAUSE = 40; // ms between two drawings while curves grow
const SIDE_PAUSE = 400; // ms between two drawings of the smaller charts while curves grow
const FATES = ["kept", "trimmed", "implausible", "unlike", "inconsistent", "unused", "silent", "expelled", "heard"];

export function newResult(settings) {
  return { key: keyOf(settings), about: null, rounds: [], mean: [], std: [], soloMean: [], soloStd: [], bound: [], last: null, complete: false };
}

export function appendUpdate(result, update) {
  result.rounds.push(...update.rounds);
  result.mean.push(...update.regret.mean);
  result.soloMean.push(...update.solo.mean);
  if (update.regret.std) result.std.push(...update.regret.std);
  if (update.solo.std) result.soloStd.push(...update.solo.std);
  result.bound.push(...update.bound);
  result.last = update;
}

// The mark of a set-up's curve.
export function swatchOf(setup) {
  return make("span", { class: "swatch", style: `color: var(--curve-${setup.colour})` });
}

// One standard deviation around the mean; on a log scale only where all of it is above zero.
function band(rounds, mean, std, tint, group, log) {
  if (!std.length) return [];
  if (log) {
    const inside = rounds.map((_, index) => index).filter((index) => mean[index] > std[index]);
    [rounds, mean, std] = [rounds, mean, std].map((values) => inside.map((index) => values[index]));
  }
  const edge = { mode: "lines", line: { width: 0 }, hoverinfo: "skip", showlegend: false, legendgroup: group };
  return [
    { ...edge, x: rounds, y: mean.map((value, index) => value + std[index]) },
    { ...edge, x: rounds, y: mean.map((value, index) => Math.max(value - std[index], 0)), fill: "tonexty", fillcolor: translucent(tint, 0.16) },
  ];
}

export class Results {
  // `opened(round)` is called when a curve is clicked.
  constructor(setups, opened) {
    this.setups = setups;
    this.opened = opened;
    this.listening = false;
    this.log = false;
    this.drawing = false;
    this.changed = false;
    this.sideAt = 0; // when the smaller charts were drawn last
  }

  // Draw soon, and once for all that changed in the meantime; `growing` while more is to come.
  async render(growing = false) {
    this.growing = growing;
    this.changed = true;
    if (this.drawing) return;
    this.drawing = true;
    by("plot-regret").setAttribute("aria-busy", "true");
    try {
      while (this.changed) {
        await new Promise(requestAnimationFrame);
        this.changed = false;
        await this.drawAll();
        if (this.growing) await new Promise((resolve) => { setTimeout(resolve, PAUSE); }); // for the page to move in between
      }
    } finally {
      this.drawing = false;
      by("plot-regret").removeAttribute("aria-busy");
    }
  }

  played() {
    return this.setups.list.filter((setup) => setup.result?.rounds.length);
  }

  async drawAll() {
    const played = this.played();
    by("empty").hidden = played.length > 0;
    for (const id of ["plot-regret", "numbers-box", "pair"]) by(id).hidden = !played.length;
    for (const id of ["save-csv", "save-png", "save-svg"]) by(id).disabled = !played.length;
    this.tell(played);
    if (!played.length) return;
    this.fillNumbers(played);
    await this.drawRegret(played);
    if (this.growing && performance.now() - this.sideAt < SIDE_PAUSE) return;
    await Promise.all([this.drawShares(played), this.drawFates()]);
    this.sideAt = performance.now();
  }

  async drawRegret(played) {
    const traces = [], solos = new Set();
    const ends = (mean, std) => mean.at(-1) + (std.at(-1) ?? 0);
    const top = 1.06 * (Math.max(...played.flatMap(({ result }) => [ends(result.mean, result.std), ends(result.soloMean, result.soloStd)])) || 1);
    for (const setup of played) {
      const { rounds, mean, std, soloMean, soloStd, bound, about } = setup.result;
      if (!solos.has(about.solo)) {
        const name = solos.size ? `alone, ${about.policy}, as in ${plain(this.setups.name(setup))}` : "alone";
        solos.add(about.solo);
        const tint = colour("solo");
        traces.push(...band(rounds, soloMean, soloStd, tint, about.solo, this.log));
        traces.push({ x: rounds, y: soloMean, name, legendgroup: about.solo, mode: "lines", line: { color: tint, dash: "dot", width: 2 } });
      }
      const tint = colour(`curve-${setup.colour}`), name = plain(this.setups.name(setup));
      traces.push(...band(rounds, mean, std, tint, name, this.log));
      traces.push({ x: rounds, y: mean, name, legendgroup: name, mode: "lines", line: { color: tint, dash: DASHES[setup.colour], width: 2.4 } });
      if (this.shows(bound, top)) {
        traces.push({ x: rounds.slice(0, bound.length), y: bound, name: `bound, ${name}`, mode: "lines", line: { color: tint, width: 1.2 }, opacity: 0.75 });
      }
    }
    const horizon = Math.max(...played.map((setup) => setup.result.about.horizon));
    const narrow = window.innerWidth < 640;
    const box = by("plot-regret");
    await draw(box, traces, {
      hovermode: "x unified",
      xaxis: { title: { text: "round t" }, range: [0, horizon], hoverformat: "d" },
      yaxis: this.log ? { type: "log", title: { text: "regret" }, hoverformat: ".1f", dtick: 1, tickformat: "~g" } : { range: [0, top], title: { text: "regret" }, hoverformat: ".1f" },
      legend: { orientation: "h", y: narrow ? -0.25 : -0.16, x: 0, font: { color: colour("ink"), size: narrow ? 11 : 12 } },
    });
    this.listen(box);
  }

  // Whether a bound is drawn: on a linear scale only where it ends inside the picture, or a sliver of it would be left.
  shows(bound, top) {
    return bound.length > 0 && (this.log || bound.at(-1) <= top);
  }

  // A click on a curve opens that round.
  listen(box) {
    if (this.listening) return;
    this.listening = true;
    box.on("plotly_click", ({ points }) => this.opened(points[0].x));
  }

  // In words, what the curves are.
  tell(played) {
    const caption = by("caption");
    if (!played.length) {
      caption.textContent = "";
      return;
    }
    const { about } = played.at(-1).result;
    const bands = about.runs > 1 ? "Mean over runs with a band of one standard deviation. " : "";
    const bounds = played.some((setup) => setup.result.bound.length);
    const missing = played.find((setup) => setup.result.about.no_bound);
    const off = bounds && !this.log ? " It is shown only on the log scale where it lies above this picture." : "";
    caption.textContent = `${bands}Alone: the same agents with the same policy and random numbers, without reports. Saved: of the regret alone, with its paired 95 % interval over runs.`
      + (bounds ? ` Bound: the paper's upper bound at τ = T, from the g recorded in the first run.${off}` : "")
      + (missing ? ` No bound for ${this.setups.name(missing)}: ${missing.result.about.no_bound}.` : "");
  }

  fillNumbers(played) {
    const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
    const said = played.map((setup) => `${this.setups.name(setup)} ${setup.result.mean.at(-1).toFixed(1)}, alone ${setup.result.soloMean.at(-1).toFixed(1)}`);
    by("plot-regret").setAttribute("aria-label", `Regret by round; in the end: ${said.join("; ")}`);
    document.querySelector("#numbers tbody").replaceChildren(...played.map((setup) => {
      const { mean, std, soloMean, bound, last, complete } = setup.result;
      const megabytes = last.bytes / 1e6;
      const name = this.setups.name(setup) + (complete ? "" : ` (to round ${whole.format(last.done)})`) + (isStale(setup) ? " (set-up changed since)" : "");
      const cells = [
        mean.at(-1).toFixed(1), std.length ? std.at(-1).toFixed(1) : "–", soloMean.at(-1).toFixed(1),
        savedText(last.saved),
        bound.length ? whole.format(bound.at(-1)) : "–", `${whole.format(last.messages)} (${megabytes.toFixed(megabytes < 10 ? 1 : 0)} MB)`,
      ];
      return make("tr", {}, make("td", {}, swatchOf(setup), name), ...cells.map((text) => make("td", {}, text)));
    }));
  }

  async drawShares(played) {
    const traces = played.map((setup) => ({
      type: "bar", name: plain(this.setups.name(setup)), x: setup.result.last.shares.map((_, arm) => arm + 1), y: setup.result.last.shares,
      marker: { color: colour(`curve-${setup.colour}`) }, hovertemplate: "arm %{x}: %{y:.1%}<extra>%{fullData.name}</extra>",
    }));
    await draw(by("plot-shares"), traces, {
      barmode: "group", showlegend: played.length > 1,
      xaxis: { title: { text: "arm" }, dtick: traces[0].x.length > 12 ? 5 : 1, tick0: traces[0].x.length > 12 ? 0 : 1 }, yaxis: { tickformat: ".0%", rangemode: "tozero" },
      legend: { orientation: "h", y: -0.3, font: { color: colour("ink") } },
    });
  }

  // Of the set-up that is being edited, or the last one played.
  async drawFates() {
    const played = this.played(), setup = played.includes(this.setups.here) ? this.setups.here : played.at(-1);
    const { last, about } = setup.result;
    const agents = last.fates.map((_, index) => (index < about.byzantine ? `${index + 1} lies` : `${index + 1}`));
    const totals = last.fates.map((counts) => Object.values(counts).reduce((sum, count) => sum + count, 0));
    const traces = FATES.filter((fate) => last.fates.some((counts) => counts[fate])).map((fate) => ({
      type: "bar", orientation: "h", name: fate, y: agents, x: last.fates.map((counts, index) => (counts[fate] ?? 0) / (totals[index] || 1)),
      marker: { color: colour(`fate-${fate}`) }, hovertemplate: `agent %{y}: %{x:.0%} ${fate}<extra></extra>`,
    }));
    const note = by("fates-note");
    note.textContent = traces.length
      ? `${this.setups.name(setup)}: what honest agents' filters made of each agent's reports, on all arms, in ${last.looked} rounds of the first run, evenly spread.`
      : `${this.setups.name(setup)}: no reports are used, or the algorithm has no filter.`;
    const box = by("plot-fates");
    box.style.height = `${Math.max(19, 5 + agents.length * 1.15)}rem`;
    await draw(box, traces, {
      barmode: "stack", bargap: 0.25,
      xaxis: { tickformat: ".0%", range: [0, 1] }, yaxis: { type: "category", autorange: "reversed", title: { text: "agent" }, dtick: 1 },
      legend: { orientation: "h", y: -0.12, font: { color: colour("ink") }, traceorder: "normal" },
    });
  }
}
