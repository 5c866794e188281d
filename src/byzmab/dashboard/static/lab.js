// The lab: the story or the bench, with its set-ups, the form, runs that grow curves, and the address that holds it all.

import { loadPlotly, onTheme } from "./charts.js";
import { by, make } from "./dom.js";
import { showExports, wireExports } from "./lab-export.js";
import { Form } from "./lab-form.js";
import { appendUpdate, newResult, Results, swatchOf } from "./lab-results.js";
import { check, getMenu, play } from "./lab-server.js";
import { isStale, Setups } from "./lab-setups.js";
import { Steps } from "./lab-step.js";
import { drawStoryNetwork, Story } from "./lab-story.js";

const NARROW = "(max-width: 62rem)"; // one column: see lab.css
const setups = new Setups(), steps = new Steps(setups), results = new Results(setups, lookInto);
let form = null, story = null, running = null, checking = null, timer = null;
let hint = ""; // what an example is, and what to press, until something is pressed

// --- the address -------------------------------------------------------------------------------------------

function keepAddress(how = "replaceState") {
  const fragment = setups.toFragment();
  if (fragment !== location.hash && !(fragment === "#" && !location.hash)) history[how](null, "", fragment);
}

function readAddress() {
  showBuild(Boolean(location.hash));
  if (!location.hash) return;
  setups.fromFragment(location.hash);
  if (!setups.list.some((setup) => setup.playing)) stop();
  showBench();
}

// --- story or bench ----------------------------------------------------------------------------------------

function showBuild(wanted) {
  by("story-view").hidden = wanted;
  by("build-view").hidden = !wanted;
  by("to-story").setAttribute("aria-pressed", String(!wanted));
  by("to-build").setAttribute("aria-pressed", String(wanted));
  if (!wanted) story.tell();
}

// From the story to the bench, with what was played; with a round, to look into it.
function leaveStory(told, round) {
  setups.load(told.map(({ label, settings }) => ({ label, settings })));
  told.forEach(({ result }, index) => { setups.list[index].result = result; });
  keepAddress("pushState");
  showBuild(true);
  showBench();
  run([...setups.list], round === null); // now with fates and bound
  if (round !== null) lookInto(round);
}

async function lookInto(round) {
  setups.here.info ??= await check(setups.here.settings);
  steps.start(round);
  by("step-card").scrollIntoView({ block: "start" });
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
      if (error.name !== "AbortError" && setup === setups.here) refuse(error);
    }
  }, wait);
}

function tellInfo() {
  const { info } = setups.here;
  form.describe(info);
  by("warning").hidden = !info.warning;
  by("warning").textContent = info.warning ?? "";
  showExports(info);
  const work = info.work >= 5 ? `About ${Math.round(info.work)} s of work for one core.` : "";
  if (!running && setups.here.result === null) by("status").textContent = [hint, work].filter(Boolean).join(" ");
  steps.update();
}

function refuse(error, focus = false) {
  const marked = form.mark(error.setting, error.message);
  by("problem").hidden = marked;
  by("problem").textContent = error.message;
  by("warning").hidden = true;
  showExports(null, error.message);
  if (focus && marked) form.focus(error.setting);
}

// --- playing -----------------------------------------------------------------------------------------------

async function run(wanted, scroll = true) {
  stop();
  hint = "";
  const mine = (running = new AbortController());
  by("run").disabled = by("run-all").disabled = true;
  by("cancel").disabled = false;
  if (scroll && matchMedia(NARROW).matches) by("title-regret").closest(".card").scrollIntoView({ block: "start" });
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
  by("status").textContent = `${setups.name(setup)}: getting ready …`;
  by("progress").hidden = false;
  by("progress").removeAttribute("value");
  listSetups();
  try {
    await play({ ...setup.settings }, (event, data) => {
      if (event === "begin") result.about = data;
      else if (event === "compiling") by("status").textContent = `${setups.name(setup)}: compiling, the first time only: ${data.functions} functions …`;
      else if (event === "frame") {
        appendUpdate(result, data);
        setup.result = result;
        by("progress").value = data.done / result.about.horizon;
        by("status").textContent = `${setups.name(setup)}: round ${data.done} of ${result.about.horizon}, ${data.seconds.toFixed(1)} s${data.left >= 1 ? `, about ${Math.ceil(data.left)} s left` : ""}`;
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
    showBuild(true);
    by("example").value = "";
    by("status").textContent = hint = `${example.name}: ${example.title}. Press ${example.setups.length > 1 ? "Run all" : "Run"}.`;
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
  wireExports(setups, results, () => check(setups.here.settings));
  by("to-story").addEventListener("click", () => { stop(); history.pushState(null, "", location.pathname); showBuild(false); });
  by("to-build").addEventListener("click", () => { if (by("build-view").hidden) openFirst(); });
  window.addEventListener("popstate", readAddress);
  onTheme(() => { results.render(); steps.show(); story.show(); });
}

// The bench with what we recommend.
function openFirst() {
  setups.load([{ label: "", settings: form.menu.first }]);
  keepAddress("pushState");
  readAddress();
}

async function begin() {
  const shared = Boolean(location.hash);
  by("story-view").hidden = shared;
  by("build-view").hidden = !shared;
  drawStoryNetwork(2);
  loadPlotly().catch((error) => refuse(error)); // early, so that the first curve need not wait
  let menu;
  try {
    menu = await getMenu();
  } catch (error) {
    by("tale-status").textContent = error.message;
    by("fields").replaceChildren(make("p", { class: "note bad span" }, error.message));
    return;
  }
  form = new Form(by("fields"), menu, {
    changed: (settings, how) => { hint = ""; setups.here.settings = settings; keepAddress(how); listSetups(); results.render(); ask(); form.label.placeholder = setups.name(setups.here); },
    renamed: (label) => { setups.here.label = label; keepAddress(); listSetups(); results.render(); },
  });
  story = new Story(menu, leaveStory);
  offerExamples(menu.examples);
  wire();
  readAddress();
  if (shared) run([...setups.list]); // a shared link, or a page loaded again, plays itself
}

begin();
