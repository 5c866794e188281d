// The lab: the bench with its set-ups, the form, runs that grow curves, and the address that holds it all.

import { loadPlotly, onTheme } from "./charts.js";
import { by, make } from "./dom.js";
import { showExports, wireExports } from "./lab-export.js";
import { Form } from "./lab-form.js";
import { appendUpdate, newResult, Results, swatchOf } from "./lab-results.js";
import { check, getMenu, play } from "./lab-server.js";
import { isStale, Setups } from "./lab-setups.js";
import { Steps } from "./lab-step.js";

const setups = new Setups(), results = new Results(setups), steps = new Steps(setups);
let form = null, running = null, checking = null, timer = null;

// --- the address -------------------------------------------------------------------------------------------

function keepAddress(how = "replaceState") {
  const fragment = setups.toFragment();
  if (fragment !== location.hash && !(fragment === "#" && !location.hash)) history[how](null, "", fragment);
}

function readAddress() {
  setups.fromFragment(location.hash);
  if (!setups.list.some((setup) => setup.playing)) stop();
  showBench();
}

// --- the bench ---------------------------------------------------------------------------------------------

function listSetups() {
  const focused = by("setups").contains(document.activeElement);
  by("setups").replaceChildren(...setups.list.map((setup, index) => {
    const name = setups.name(setup);
    const choose = make("button", { type: "button", class: "choose", "aria-pressed": String(index === setups.chosen) },
      swatchOf(setup), make("span", { class: "name" }, name), make("span", { class: "state" }, stateOf(setup)));
    choose.addEventListener("click", () => { setups.chosen = index; keepAddress("pushState"); showBench(); });
    const remove = make("button", { type: "button", class: "remove", "aria-label": `Remove ${name}` }, "✕");
    remove.disabled = setups.list.length === 1 || setup.playing;
    remove.addEventListener("click", () => { setups.remove(setup); keepAddress("pushState"); showBench(); });
    return make("li", {}, choose, remove);
  }));
  if (focused) by("setups").querySelector("[aria-pressed='true']").focus();
  by("run-all").hidden = setups.list.length < 2;
}

function stateOf(setup) {
  if (setup.playing) return "playing";
  if (setup.result === null) return "";
  return isStale(setup) ? "changed" : setup.result.complete ? "played" : "cancelled";
}

function showBench() {
  listSetups();
  form.fill(setups.here, setups.name(setups.here));
  form.mark(null);
  if (setups.here.info) tellInfo();
  results.render();
  ask(0);
}

// --- checking what is set up -------------------------------------------------------------------------------

function ask(wait = 200) {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    checking?.abort();
    checking = new AbortController();
    const setup = setups.here;
    try {
      setup.info = await check(setup.settings, checking.signal);
      form.mark(null);
      by("problem").hidden = true;
      if (setup === setups.here) tellInfo();
    } catch (error) {
      if (error.name !== "AbortError") refuse(error);
    }
  }, wait);
}

function tellInfo() {
  const { info } = setups.here;
  form.describe(info);
  by("warning").hidden = !info.warning;
  by("warning").textContent = info.warning ?? "";
  showExports(info);
  steps.update();
}

function refuse(error, focus = false) {
  const marked = form.mark(error.setting, error.message);
  by("problem").hidden = marked;
  by("problem").textContent = error.message;
  by("warning").hidden = true;
  if (focus && marked) form.focus(error.setting);
}

// --- playing -----------------------------------------------------------------------------------------------

async function run(wanted) {
  stop();
  const mine = (running = new AbortController());
  by("run").disabled = by("run-all").disabled = true;
  by("cancel").disabled = false;
  try {
    for (const setup of wanted) await runOne(setup, mine.signal);
    by("status").textContent = "Played.";
  } catch (error) {
    if (error.name === "AbortError") by("status").textContent = "Cancelled.";
    else {
      by("status").textContent = "";
      refuse(error, true);
    }
  } finally {
    if (running === mine) {
      running = null;
      by("run").disabled = by("run-all").disabled = false;
      by("cancel").disabled = by("progress").hidden = true;
    }
    listSetups();
    results.render();
  }
}

async function runOne(setup, signal) {
  try {
    setup.info = await check(setup.settings, signal);
  } catch (error) {
    if (setup !== setups.here && error.name !== "AbortError") { // show what is wrong where it is
      setups.chosen = setups.list.indexOf(setup);
      showBench();
    }
    throw error;
  }
  const result = newResult(setup.settings), before = setup.result;
  setup.playing = true;
  by("status").textContent = `${setups.name(setup)}: getting ready; what was never played before is compiled first, some ten seconds.`;
  by("progress").hidden = false;
  by("progress").removeAttribute("value");
  listSetups();
  try {
    await play({ ...setup.settings }, (event, data) => {
      if (event === "begin") result.about = data;
      else if (event === "frame") {
        appendUpdate(result, data);
        setup.result = result;
        by("progress").value = data.done / result.about.horizon;
        by("status").textContent = `${setups.name(setup)}: round ${data.done} of ${result.about.horizon}, ${data.seconds.toFixed(1)} s`;
        results.render(true);
      } else result.complete = true;
    }, signal);
  } catch (error) {
    if (error.name !== "AbortError" || !result.rounds.length) setup.result = before;
    throw error;
  } finally {
    setup.playing = false;
  }
}

function stop() {
  running?.abort();
}

// --- beginning ---------------------------------------------------------------------------------------------

function offerExamples(examples) {
  const groups = Map.groupBy(examples, (example) => example.from);
  for (const [title, members] of groups) {
    const options = members.map((example) => make("option", { value: example.name }, `${example.name}: ${example.title}`));
    by("example").append(make("optgroup", { label: title }, ...options));
  }
  by("example").addEventListener("change", () => {
    const example = examples.find((each) => each.name === by("example").value);
    if (!example) return;
    stop();
    setups.load(example.setups);
    by("example").value = "";
    by("status").textContent = `${example.name}: ${example.title}. Press ${example.setups.length > 1 ? "Run all" : "Run"}.`;
    keepAddress("pushState");
    showBench();
  });
}

function wire() {
  by("form").addEventListener("submit", (event) => { event.preventDefault(); run([setups.here]); });
  by("run-all").addEventListener("click", () => run([...setups.list]));
  by("cancel").addEventListener("click", stop);
  by("add").addEventListener("click", () => { setups.addCopy(); keepAddress("pushState"); showBench(); form.label.focus(); });
  for (const scale of ["linear", "log"]) {
    by(`scale-${scale}`).addEventListener("click", () => {
      results.log = scale === "log";
      for (const each of ["linear", "log"]) by(`scale-${each}`).setAttribute("aria-pressed", String(each === scale));
      results.render();
    });
  }
  wireExports(setups, results);
  window.addEventListener("popstate", readAddress);
  onTheme(() => { results.render(); steps.show(); });
}

async function begin() {
  let menu;
  try {
    menu = await getMenu();
  } catch (error) {
    by("fields").replaceChildren(make("p", { class: "note bad span" }, error.message));
    return;
  }
  form = new Form(by("fields"), menu, {
    changed: (settings) => { setups.here.settings = settings; keepAddress(); listSetups(); results.render(); ask(); form.label.placeholder = setups.name(setups.here); },
    renamed: (label) => { setups.here.label = label; keepAddress(); listSetups(); results.render(); },
  });
  offerExamples(menu.examples);
  wire();
  if (!location.hash) { // the first view: what we recommend
    setups.load([{ label: "", settings: menu.first }]);
    keepAddress();
  }
  readAddress();
  loadPlotly().catch((error) => refuse(error)); // early, so that the first curve need not wait
}

begin();
