// The overview of a network: its map, the regret of its nodes, and levers on each of them.

import { colour, draw, onTheme } from "./charts.js";
import { agentShape, by, fillTable, make, makeSvg, onCircle, showNumber } from "./dom.js";
import { Timeline, follow, span, throttle } from "./live.js";
import { postJson, problemOf } from "./stream.js";

const GONE = "The network does not answer. Is `byzmab network` still running? This page goes on by itself when it is.";
const CURVES = 6, DASHES = ["solid", "dot", "dashdot"];
const history = new Timeline();
const levers = new Map(); // agent → its buttons, made once, so that they keep their focus
const busy = new Map(); // agent → what is being done to it
let about = null, latest = null;

async function post(path, data) {
  by("failure").hidden = true;
  try {
    const answer = await postJson(path, data);
    if (answer.ok) return true;
    by("failure").textContent = (await problemOf(answer)).detail ?? `The network answered ${answer.status}.`;
  } catch {
    by("failure").textContent = GONE;
  }
  by("failure").hidden = false;
  return false;
}

const DONE = { kill: "was killed", restart: "is up again", partition: "is cut off from its neighbours", heal: "has its neighbours back", freeze: "hangs", thaw: "goes on" };
const NAMES = { kill: "Kill", restart: "Restart", partition: "Partition", heal: "Heal", freeze: "Hang", thaw: "Wake" };

async function act(action, row) {
  busy.set(row.agent, action);
  by("done").textContent = `${NAMES[action]} ${row.name} …`;
  show();
  const done = await post("/network/deeds", { deed: action, agent: row.agent });
  busy.delete(row.agent);
  by("done").textContent = done ? `${row.name} ${DONE[action]}.` : "";
  show();
}

// Three buttons, each of which turns into its opposite.
function leversOf(row) {
  if (!levers.has(row.agent)) {
    const box = make("div", { class: "buttons", role: "group", "aria-label": `Levers of ${row.name}` });
    for (let index = 0; index < 3; index++) {
      const button = box.appendChild(make("button", { type: "button" }));
      button.addEventListener("click", () => act(button.dataset.action, row));
    }
    levers.set(row.agent, box);
  }
  const down = row.state === "down", still = busy.has(row.agent);
  const actions = [down ? "restart" : "kill", row.state === "cut off" ? "heal" : "partition", row.state === "hung" ? "thaw" : "freeze"];
  const allowed = [true, !down && row.state !== "hung", !down && row.state !== "cut off"];
  [...levers.get(row.agent).children].forEach((button, index) => {
    const action = actions[index];
    button.dataset.action = action;
    button.disabled = still || !allowed[index];
    button.textContent = NAMES[action];
    button.setAttribute("aria-label", `${NAMES[action]} ${row.name}`);
  });
  return levers.get(row.agent);
}

function showMap(rows) {
  const agents = about.agents.length, size = Math.max(6, Math.min(17, 300 / agents)), state = new Map(rows.map((row) => [row.agent, row.state]));
  const whole = (agent) => ["up", undefined].includes(state.get(agent));
  const lies = new Set(about.agents.filter((one) => one.lies).map((one) => one.agent));
  const edges = about.edges.filter(([a, b]) => a < b || !about.edges.some(([c, d]) => c === b && d === a)).map(([a, b]) => {
    const [[x1, y1], [x2, y2]] = [a, b].map((agent) => onCircle(agent - 1, agents, 130));
    return makeSvg("line", { x1, y1, x2, y2, class: `edge${lies.has(a) || lies.has(b) ? " from-liar" : ""}${whole(a) && whole(b) ? "" : " cut"}` });
  });
  const dots = about.agents.map((one) => {
    const [x, y] = onCircle(one.agent - 1, agents, 130), now = state.get(one.agent) ?? "up";
    const dot = makeSvg("a", { href: one.url, target: "_blank", rel: "noopener", class: `${one.lies ? "liar" : "honest"} ${now.split(" ")[0]}`, "data-agent": one.agent, "aria-label": `${one.name}, ${one.lies ? "lies" : "honest"}, ${now}: open its page` }, agentShape(x, y, size, one.lies));
    if (size > 7) dot.append(makeSvg("text", { x, y }, String(one.agent)));
    return dot;
  });
  const map = by("map"), drawn = rows.map((row) => row.state).join();
  if (map.dataset.drawn === drawn) return; // links keep their focus
  map.dataset.drawn = drawn;
  map.replaceChildren(...edges, ...dots);
}

const saved = (regret, alone) => (alone > 0 ? `${Math.round(100 * (1 - regret / alone))} %` : "–");

function showNumbers({ agents, seconds, decisions, regret }) {
  const honest = agents.filter((row) => !row.lies), liars = agents.filter((row) => row.lies).map((row) => row.name);
  const out = liars.filter((name) => honest.some((row) => row.expelled.includes(name))), up = agents.filter((row) => row.state === "up").length;
  showNumber("n-decisions", decisions.toLocaleString("en"), `in ${span(seconds)}`);
  showNumber("n-regret", regret.regret?.toFixed(1) ?? "–", regret.regret === null ? "nobody is honest" : `${saved(regret.regret, regret.solo_regret)} saved`);
  showNumber("n-solo", regret.solo_regret?.toFixed(1) ?? "–", "hearing nobody");
  showNumber("n-up", `${up} of ${agents.length}`, up === agents.length ? "all of them" : agents.filter((row) => row.state !== "up").map((row) => `${row.name} ${row.state}`).join(", "));
  showNumber("n-expelled", `${out.length} of ${liars.length}`, out.length ? out.join(", ") : "none is proven an equivocator");
}

function showAgents(rows) {
  fillTable(by("agents"), rows.map((row) => {
    const name = make("span", {}, make("a", { href: row.url, target: "_blank", rel: "noopener" }, row.name));
    if (row.lies) name.append(" ", make("span", { class: "chip lies" }, "lies"));
    const word = busy.has(row.agent) ? `${NAMES[busy.get(row.agent)].toLowerCase()} …` : row.state;
    return [name, make("span", { class: `chip ${row.state.split(" ")[0]}` }, word), row.decisions.toLocaleString("en"), row.regret.toFixed(1), row.solo_regret.toFixed(1), saved(row.regret, row.solo_regret), row.expelled.join(", ") || "–", leversOf(row)];
  }));
}

const show = throttle(() => {
  if (!about || !latest) return;
  by("facts").textContent = `${about.agents.length} nodes · f = ${about.f}, κ = ${about.kappa}, filter ${about.filter}, policy ${about.policy} · true means ${latest.truths.map((mean) => +mean.toFixed(3)).join(", ")}`;
  if (!by("attack").disabled) by("attack").value = latest.attack;
  showMap(latest.agents);
  showNumbers(latest);
  showAgents(latest.agents);
}, 100);

const showChart = throttle(async () => {
  const points = history.points;
  if (document.hidden || points.length < 2) return;
  by("empty").hidden = true;
  by("plot-regret").hidden = false;
  const x = points.map((point) => point.seconds);
  const honest = points.at(-1).agents.filter((row) => !row.lies);
  const traces = honest.map((row, index) => ({
    x, y: points.map((point) => point.agents[row.agent - 1].regret), name: row.name, mode: "lines", hovertemplate: `${row.name}: %{y:.1f}<extra></extra>`,
    line: { color: colour(`curve-${index % CURVES}`), width: 1.8, dash: DASHES[Math.floor(index / CURVES) % DASHES.length] },
  }));
  traces.unshift({ x, y: points.map((point) => point.regret.solo_regret), name: "alone, mean", mode: "lines", line: { color: colour("solo"), width: 2.6, dash: "dash" }, hovertemplate: "alone: %{y:.1f}<extra></extra>" });
  await draw(by("plot-regret"), traces, { yaxis: { title: { text: "regret" }, rangemode: "tozero" }, xaxis: { ticksuffix: " s" } });
}, 400);

function onEvent(event, data) {
  if (event === "about") {
    about = data;
    by("attack").replaceChildren(...about.attacks.map((name) => make("option", { value: name }, name)));
    by("attack").disabled = !about.agents.some((one) => one.lies);
  } else {
    latest = data;
    history.add(data);
    showChart();
  }
  show();
}

by("attack").addEventListener("change", async () => {
  const attack = by("attack").value;
  by("attack").disabled = true;
  by("done").textContent = `Switching to ${attack} … the first time it is compiled.`;
  const done = await post("/network/attack", { attack });
  if (done) latest.attack = attack;
  by("attack").disabled = false;
  by("done").textContent = done ? `The liars lie by ${attack} from their next report on.` : "";
  show();
});
onTheme(() => { by("map").dataset.drawn = ""; show(); showChart(); });
document.addEventListener("visibilitychange", showChart);
follow("/network/stream", { onEvent, gone: GONE });
