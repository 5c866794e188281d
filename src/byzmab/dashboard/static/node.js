// The page of a node: follow its stream, add to the history it begins with, show both.

import { onTheme } from "./charts.js";
import { drawArms, fillArms } from "./node-arms.js";
import { drawTrust, fillTrust, showLegend, showStar } from "./node-neighbours.js";
import { drawRates, showEvidence, showNumbers } from "./node-numbers.js";
import { by } from "./dom.js";
import { Timeline, follow, showStatus, throttle } from "./live.js";

const STEP = 1000; // ms between two points of the history
const PAUSE = 400; // ms between two drawings of the charts
const GONE = "The node does not answer. Its page goes on by itself as soon as it does; what is shown is what was last heard.";
const history = new Timeline();
let latest = null, view = "estimate", added = -Infinity;

const showTables = throttle(() => {
  const { state, peers } = latest;
  document.title = `${state.name} · byzmab node`;
  by("name").textContent = state.name;
  by("facts").textContent = `of ${state.network} · f = ${state.f}${peers.some((peer) => peer.expelled) ? " (each expelled neighbour lowers it by one)" : ""}, κ = ${state.kappa}, filter ${state.filter}, policy ${state.policy}${state.context ? `, contexts of ${state.context} dimensions` : ""} · epoch ${state.epoch}, round ${state.round}, ${state.pending} rewards awaited`;
  by("trouble").hidden = !state.trouble;
  by("trouble").textContent = state.trouble ? `State cannot be written, so nothing is accepted: ${state.trouble}` : "";
  by("alarm").hidden = !state.warnings.length;
  by("alarm").textContent = state.warnings.length ? `Something is wrong with this node's key: ${state.warnings.join("; ")}.` : "";
  by("ignored").hidden = !state.ignored;
  by("ignored").textContent = state.ignored ? `This node decides alone. ${state.ignored}.` : "";
  showNumbers(latest, history.points);
  fillArms(state);
  showStar(state, peers);
  fillTrust(peers);
  showEvidence(state, peers);
}, PAUSE / 2);

const showCharts = throttle(async () => {
  if (document.hidden || !latest) return;
  await drawArms(history.points, view);
  await drawTrust(history.points);
  await drawRates(history.points);
}, PAUSE);

function onEvent(event, data) {
  if (event === "history") { // what the node kept, also after a lost stream; later points than its last are ours
    const last = data.at(-1)?.time ?? 0, later = history.points.filter((point) => point.time > last);
    history.reset([...data, ...later]);
    return;
  }
  if (event !== "state") return; // evidence comes with the next state, too
  latest = data;
  const now = Date.now();
  if (now - added >= STEP) {
    added = now;
    history.add({ time: now, ...data });
    showCharts();
  }
  showTables();
}

function refused() {
  const form = by("token-form"), tried = sessionStorage.getItem("token") !== null;
  showStatus("token needed", "warn", tried ? "That token is not the node's. Try again." : "");
  form.hidden = false;
  by("token").focus();
  return new Promise((resolve) => {
    form.onsubmit = (event) => {
      event.preventDefault();
      sessionStorage.setItem("token", by("token").value.trim());
      by("token").value = "";
      form.hidden = true;
      showStatus("connecting…", "warn");
      resolve();
    };
  });
}

for (const button of document.querySelectorAll("[data-view]")) {
  button.addEventListener("click", () => {
    view = button.dataset.view;
    for (const other of document.querySelectorAll("[data-view]")) other.setAttribute("aria-pressed", String(other === button));
    showCharts();
  });
}
onTheme(() => { showTables(); showCharts(); });
document.addEventListener("visibilitychange", showCharts);
showLegend();
follow("/v1/stream", { onEvent, gone: GONE, refused });
