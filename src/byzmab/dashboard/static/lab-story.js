// The opening story: the same agents alone, believing everyone, and filtering; three levers play it again at once.

import { colour, draw } from "./charts.js";
import { by, make } from "./dom.js";
import { appendUpdate, newResult } from "./lab-results.js";
import { play } from "./lab-server.js";
import { keyOf } from "./lab-setups.js";
import { completeEdges, drawNetwork } from "./network.js";
import { savedSentence } from "./savings.js";

const AGENTS = 10;
const SEAT = 300; // ms before a seat is asked for again
const TINTS = { alone: "solo", believing: "curve-1", papers: "curve-2", chosen: "curve-0" };
const DASHES = { alone: "dot", believing: "dash", papers: "dashdot", chosen: "solid" };
// Why believing everyone is not best where everyone is honest: the filters differ in what they take reports to be worth.
const HONEST = "Everybody is honest, and every report counts. But the paper's width takes the average of all reports to be worth at most 4/κ = 2.7 times the agent's own pulls, so the agent goes on exploring. Guarded and pooled add up the pulls of all.";
const COUNTS = ["Nobody lies", "One of ten lies", "Two of ten lie", "Three of ten lie", "Four of ten lie"];

// The network of the story, drawn before the server was asked anything.
export function drawStoryNetwork(liars) {
  drawNetwork(by("tale-network"), { agents: AGENTS, byzantine: liars, edges: completeEdges(AGENTS) });
  by("tale-network").setAttribute("aria-label", `Ten agents, everyone hears everyone. ${COUNTS[liars]}.`);
}

export class Story {
  // `leave(setups, round)` is called with set-ups and their results, to build on; with a round, to look into it.
  constructor(menu, leave) {
    this.menu = menu;
    this.leave = leave;
    this.told = menu.story;
    this.levers = { liars: Number(this.told.settings.byzantine), attack: this.told.settings.attack, filter: this.told.filter };
    this.results = new Map(); // by settings: a lever put back shows at once what was played
    this.before = null; // lever positions and regrets of the last story told
    this.playing = null;
    this.drawing = this.again = this.listening = false;
    this.wire();
  }

  wire() {
    by("lever-liars").replaceChildren(...this.told.liars.map((count) => {
      const button = make("button", { type: "button", "data-liars": count, "aria-label": COUNTS[count] }, String(count));
      button.addEventListener("click", () => this.pull("liars", count));
      return button;
    }));
    for (const kind of ["attack", "filter"]) {
      const select = by(`lever-${kind}`);
      select.replaceChildren(...this.told[`${kind}s`].map((name) => make("option", { value: name }, name)));
      select.disabled = false;
      select.addEventListener("input", () => this.pull(kind, select.value));
    }
    by("tale-build").addEventListener("click", () => this.leave(this.setups(), null));
    by("tale-step").addEventListener("click", () => this.leave(this.setups(), Math.round(this.horizon() / 10)));
  }

  horizon() {
    return Number(this.told.settings.horizon ?? this.menu.usual.horizon);
  }

  pull(lever, value) {
    this.levers[lever] = value;
    this.tell();
  }

  settings(filter) {
    const { liars, attack } = this.levers;
    return { ...this.told.settings, attack, byzantine: String(liars), f: String(liars), filter };
  }

  // What is played: believing everyone, the paper's filter, and the chosen one if it is another.
  parts() {
    const chosen = this.levers.filter, parts = { believing: this.told.believing };
    if (chosen !== this.told.papers) parts.papers = this.told.papers;
    return { ...parts, chosen };
  }

  // As set-ups for the bench: the chosen filter first, in the colours of the story.
  setups() {
    const parts = this.parts(), order = ["chosen", "believing", "papers"].filter((part) => part in parts);
    return order.map((part) => ({ label: part === "believing" ? "believing everyone" : parts[part], settings: this.settings(parts[part]), result: this.result(parts[part]) }));
  }

  result(filter) {
    return this.results.get(keyOf(this.settings(filter))) ?? null;
  }

  // Play what was not yet played, and tell what came of it.
  async tell() {
    this.playing?.abort();
    const mine = (this.playing = new AbortController()), began = performance.now();
    this.showLevers();
    for (const id of ["tale-build", "tale-step"]) by(id).disabled = true;
    try {
      for (const filter of Object.values(this.parts())) while (!(await this.playOne(filter, mine.signal)));
      by("tale-status").textContent = `${this.told.settings.runs} runs of ${this.horizon().toLocaleString("en")} rounds, ${((performance.now() - began) / 1000).toFixed(1)} s`;
      this.explainChange();
      for (const id of ["tale-build", "tale-step"]) by(id).disabled = false;
    } catch (error) {
      if (error.name !== "AbortError") by("tale-status").textContent = error.message;
    }
    if (this.playing === mine) this.show();
  }

  // Play one filter, unless that was done before; false if others take all seats, as those do for a moment that levers pulled before began.
  async playOne(filter, signal) {
    const settings = this.settings(filter), key = keyOf(settings);
    if (this.results.get(key)?.complete) return true;
    const result = newResult(settings);
    await play(settings, (event, data) => {
      if (event === "begin") {
        result.about = data;
        by("tale-status").textContent = `Playing ${filter} …`;
      } else if (event === "compiling") by("tale-status").textContent = `Compiling ${filter}, the first time only: ${data.functions} functions …`;
      else if (event === "frame") {
        appendUpdate(result, data);
        this.results.set(key, result);
        this.show();
      } else result.complete = true;
    }, signal, true).catch(async (error) => {
      if (!error.busy) throw error;
      by("tale-status").textContent = error.message;
      await new Promise((resolve) => { setTimeout(resolve, SEAT); });
      signal.throwIfAborted();
    });
    return result.complete;
  }

  showLevers() {
    const { liars, attack, filter } = this.levers;
    drawStoryNetwork(liars);
    for (const button of by("lever-liars").children) button.setAttribute("aria-pressed", String(Number(button.dataset.liars) === liars));
    by("lever-attack").value = attack;
    by("lever-attack-about").textContent = this.menu.kinds.attack[attack].about;
    by("lever-filter").value = filter;
    by("lever-filter-about").textContent = this.menu.kinds.filter[filter].about;
  }

  // The curves of the story, with what each is called.
  curves() {
    const found = [], parts = Object.entries(this.parts()).map(([part, filter]) => [part, filter, this.result(filter)]).filter(([, , result]) => result);
    const longest = parts.map(([, , result]) => result).reduce((best, result) => (best && best.rounds.length >= result.rounds.length ? best : result), null);
    if (longest) found.push({ part: "alone", title: "Alone", x: longest.rounds, y: longest.soloMean, saved: null });
    for (const [part, filter, result] of parts) {
      found.push({ part, title: part === "believing" ? "Believing everyone" : `Filtering: ${filter}`, x: result.rounds, y: result.mean, saved: result.last.saved, filter });
    }
    return found;
  }

  async show() {
    if (this.drawing) {
      this.again = true;
      return;
    }
    this.drawing = true;
    try {
      do {
        this.again = false;
        await new Promise(requestAnimationFrame);
        await this.draw();
      } while (this.again);
    } finally {
      this.drawing = false;
    }
  }

  async draw() {
    const curves = this.curves();
    if (!curves.length || by("story-view").hidden) return;
    const traces = curves.map(({ part, title, x, y }) => ({ x, y, name: title, mode: "lines", line: { color: colour(TINTS[part]), dash: DASHES[part], width: part === "chosen" ? 3.2 : 2.2 }, hovertemplate: `${title}: %{y:.0f}<extra></extra>` }));
    const top = Math.max(...curves.map(({ y }) => y.at(-1)), 1);
    this.caption(curves);
    const box = by("plot-tale");
    await draw(box, traces, { showlegend: false, hovermode: "x unified", xaxis: { title: { text: "round t" }, range: [0, this.horizon()], hoverformat: "d" }, yaxis: { title: { text: "regret" }, range: [0, top * 1.06], hoverformat: ".0f" } });
    if (!this.listening) {
      this.listening = true;
      box.on("plotly_click", ({ points }) => this.leave(this.setups(), points[0].x));
    }
  }

  caption(curves) {
    by("tale-captions").replaceChildren(...curves.map((curve) => make("li", { "data-part": curve.part },
      make("span", { class: "swatch", style: `color: var(--${TINTS[curve.part]}); border-top-style: ${curve.part === "chosen" ? "solid" : curve.part === "alone" ? "dotted" : "dashed"}` }),
      make("strong", {}, curve.title), make("span", { class: "figure" }, curve.y.at(-1).toFixed(0)), make("span", { class: "why" }, this.why(curve)))));
    by("plot-tale").setAttribute("aria-label", `Regret by round; so far ${curves.map(({ title, y }) => `${title} ${y.at(-1).toFixed(0)}`).join(", ")}`);
  }

  why({ part, saved, filter }) {
    const { liars } = this.levers;
    if (part === "alone") return "No reports are used: Byzantine agents cannot hurt, and honest ones cannot help.";
    if (part === "believing") {
      const how = liars === 0 ? HONEST : saved?.low > 0 ? "Every report counts, lies too, but these lies are mild: try extreme." : "Every report counts, lies too: they drag the average.";
      return `${how} ${savedSentence(saved)}`;
    }
    const trims = liars === 0 ? "With f = 0 nothing is trimmed." : `The ${liars} largest and ${liars} smallest reports go, whoever sent them; what is left cannot lie outside what honest agents saw.`;
    return `${filter === this.told.papers ? trims : this.menu.kinds.filter[filter].about} ${savedSentence(saved)}`;
  }

  enoughFor(liars) {
    const wanted = 3 * liars + 1;
    if (liars === 0) return "Nobody lies, and the filters assume that: f = 0.";
    return `The filters assume f = ${liars}, for which ${wanted} neighbours are ${wanted < AGENTS ? `enough; there are ${AGENTS - 1}` : `wanted, and there are only ${AGENTS - 1}`}.`;
  }

  // What changed since the story was told before, and why.
  explainChange() {
    const curves = this.curves(), now = Object.fromEntries(curves.map(({ title, y }) => [title, y.at(-1)]));
    const { before } = this, levers = { ...this.levers };
    this.before = { levers, now };
    const pulled = Object.keys(levers).filter((name) => before && levers[name] !== before.levers[name]), lever = pulled.at(-1);
    by("tale-change").hidden = !lever;
    if (!lever) return;
    const moved = Object.keys(now).filter((title) => title in before.now && Math.round(now[title]) !== Math.round(before.now[title]))
      .map((title) => `${title.replace("Filtering: ", "")} ${before.now[title].toFixed(0)} → ${now[title].toFixed(0)}`);
    if (levers.filter !== before.levers.filter) moved.unshift([before, this.before].map((told) => `${told.levers.filter} ${told.now[`Filtering: ${told.levers.filter}`].toFixed(0)}`).join(" → "));
    const because = { liars: this.enoughFor(levers.liars), attack: levers.liars ? this.menu.kinds.attack[levers.attack].about : "Nobody lies: how they would makes no difference.", filter: this.menu.kinds.filter[levers.filter].about }[lever];
    by("tale-change").textContent = `${pulled.map((name) => `${name} ${before.levers[name]} → ${levers[name]}`).join(", ")}. ${moved.length ? `${moved.join(", ")}. ` : ""}${because}`;
  }
}
