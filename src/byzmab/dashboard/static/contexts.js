// The page of contexts: the decision regions of an agent alone, believing everyone, and filtering, as rounds go.

import { colour, draw, onTheme } from "./charts.js";
import { drawPicture } from "./contexts-picture.js";
import { by, make } from "./dom.js";
import { playContexts } from "./lab-server.js";

const WORDS = {
  constant: "only A ever pays",
  swap: "each arm is as the next one",
  flip: "each arm is the opposite",
};
const MOST_LIARS = 4;
const WAYS = { alone: ["Alone", "solo", "dot"], believing: ["Believing everyone", "curve-1", "dash"], filtering: ["Filtering", "curve-0", "solid"] };
const DISC = { arms: [90, 210, 330].map((degrees, index) => ({ name: "ABC"[index], angle: (degrees * Math.PI) / 180 })) };
const levers = { liars: 2, attack: "constant" };
let about = DISC; // as drawn before the server has said so
let frames = [];
let playing = null;

const figures = () => [...document.querySelectorAll("figure[data-way]")];
const percent = (share) => `${Math.round(100 * share)} %`;

function show() {
  const frame = frames[Number(by("round").value)];
  for (const figure of figures()) {
    const way = frame?.ways[figure.dataset.way], canvas = figure.querySelector("canvas");
    drawPicture(canvas, about, way?.estimates);
    if (!way) continue;
    figure.querySelector(".numbers").textContent = `right at ${percent(way.right)} of the disc, regret ${way.regret.toFixed(1)}`;
    canvas.setAttribute("aria-label", `After ${frame.round} rounds the best arm is chosen at ${percent(way.right)} of all contexts`);
  }
  if (!frame) return;
  by("status").textContent = `Round ${frame.round} of ${about.rounds}; regret is per honest agent.`;
  showCurves(frame.round);
}

// Regret up to the latest round played, and a line at the round that is looked at.
async function showCurves(round) {
  const traces = Object.entries(WAYS).map(([way, [name, tint, dash]]) => {
    const y = frames.flatMap((frame) => frame.ways[way].curve), x = y.map((_, index) => (index + 1) * about.step);
    return { x, y, name, mode: "lines", line: { color: colour(tint), dash, width: way === "filtering" ? 3.2 : 2.2 }, hovertemplate: `${name}: %{y:.1f}<extra></extra>` };
  });
  const line = { type: "line", x0: round, x1: round, yref: "paper", y0: 0, y1: 1, line: { color: colour("soft"), width: 1, dash: "dot" } };
  const last = frames.at(-1).ways;
  by("plot-regret").setAttribute("aria-label", `Regret by round; so far ${Object.keys(WAYS).map((way) => `${WAYS[way][0]} ${last[way].regret.toFixed(1)}`).join(", ")}`);
  await draw(by("plot-regret"), traces, { hovermode: "x unified", shapes: [line], xaxis: { title: { text: "round t" }, range: [0, about.rounds], hoverformat: "d" }, yaxis: { title: { text: "regret" }, rangemode: "tozero" } });
}

function showLevers() {
  for (const button of by("liars").children) button.setAttribute("aria-pressed", String(Number(button.textContent) === levers.liars));
  by("attack").value = levers.attack;
  by("attack").disabled = levers.liars === 0;
}

// What came of it, in a sentence.
function judge() {
  const { alone, believing, filtering } = frames.at(-1).ways;
  const times = (way) => `${(way.regret / alone.regret).toFixed(way.regret < alone.regret ? 2 : 1)} times the regret`;
  by("verdict").textContent = `After ${about.rounds} rounds, believing everyone has ${times(believing)} of an agent alone, and filtering ${times(filtering)}.`;
  by("verdict").hidden = false;
}

function take(event, data) {
  if (event === "begin") about = data;
  else if (event === "compiling") by("status").textContent = `Compiling, the first time only: ${data.functions} functions …`;
  else if (event === "frame") {
    const slider = by("round"), follows = Number(slider.value) >= frames.length - 1;
    frames.push(data);
    slider.max = frames.length - 1;
    slider.disabled = false;
    if (follows) slider.value = slider.max;
    slider.setAttribute("aria-valuetext", `round ${frames[Number(slider.value)].round}`);
    show();
  }
}

async function play() {
  playing?.abort();
  const mine = (playing = new AbortController());
  frames = [];
  by("round").max = by("round").value = 0;
  by("verdict").hidden = true;
  by("status").textContent = "Getting ready …";
  showLevers();
  try {
    await playContexts(levers, (event, data) => playing === mine && take(event, data), mine.signal);
    if (playing === mine) judge();
  } catch (error) {
    if (error.name !== "AbortError" && playing === mine) by("status").textContent = error.message;
  }
}

function pull(lever, value) {
  levers[lever] = value;
  play();
}

by("liars").replaceChildren(...Array.from({ length: MOST_LIARS + 1 }, (_, count) => {
  const button = make("button", { type: "button" }, String(count));
  button.addEventListener("click", () => pull("liars", count));
  return button;
}));
by("attack").replaceChildren(...Object.entries(WORDS).map(([name, words]) => make("option", { value: name }, `${name}: ${words}`)));
by("attack").addEventListener("input", () => pull("attack", by("attack").value));
by("round").addEventListener("input", () => {
  by("round").setAttribute("aria-valuetext", `round ${frames[Number(by("round").value)]?.round ?? 0}`);
  show();
});
addEventListener("resize", show);
onTheme(show);
show();
play();
