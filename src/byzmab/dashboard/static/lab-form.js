// The form: one control per setting, in words, with what is wrong marked at the field.

import { make, makeSvg } from "./dom.js";
import { drawNetwork, edgesText, toggled } from "./network.js";

const LABELS = {
  arms: "Means of the arms", agents: "Agents", byzantine: "Byzantine", f: "f", kappa: "kappa", graph: "Graph", time_varying: "Drawn anew in every round",
  attack: "Attack", filter: "Filter", policy: "Policy", horizon: "Horizon", runs: "Runs", memory: "Memory", subset: "Subset", epoch: "Epoch",
  delay: "Delay", tell: "Tell", audit: "Audit", rewards: "Rewards", spread: "Spread", drift: "Drift", tally: "Tally", algorithm: "Algorithm", seed: "Seed", record: "Record",
  context: "Dimensions of contexts", contexts: "Contexts", ridge: "Ridge", shares: "Shares", vetting: "Vetting",
};
const GROUPS = [
  ["Arms and agents", ["arms wide", "agents third", "byzantine third", "f third"]],
  ["Contexts", ["context wide", "contexts", "shares", "ridge", "vetting"]],
  ["Graph", ["graph wide", "time_varying wide", "drawing"]],
  ["Attack", ["attack wide"]],
  ["Filter and policy", ["filter", "policy", "kappa wide"]],
  ["How long", ["horizon", "runs"]],
];
const MORE = ["algorithm", "rewards", "spread", "drift", "tally", "memory", "subset", "epoch", "delay", "tell", "audit", "seed", "record"];
const CHOICES = ["graph", "attack", "filter", "policy", "algorithm"]; // a name, and perhaps parameters behind a colon
const SWITCHES = ["time_varying", "vetting"];
const LISTS = { audit: [["", "as the filter does"], ["true", "yes"], ["false", "no"]], shares: ["equal", "information", "projection"].map((name) => [name, name]) };
const NUMBERS = ["context", "agents", "byzantine", "horizon", "runs", "memory", "subset", "epoch", "delay", "seed", "record"];

export class Form {
  // `changed(settings, how)` is called with the settings that are not as usual, after every edit; `how` the address keeps it.
  constructor(box, menu, { changed, renamed }) {
    this.menu = menu;
    this.changed = changed;
    this.controls = {};
    this.drawing = null;
    this.label = make("input", { id: "label", autocomplete: "off" });
    this.label.addEventListener("input", () => renamed(this.label.value.trim()));
    const nameField = make("div", { class: "field wide" }, make("label", { for: "label" }, "Name in the legend"), this.label);
    const parts = GROUPS.flatMap(([title, items]) => [make("h3", { class: "group" }, title), ...items.map((item) => this.item(item))]);
    const more = make("details", { class: "more" }, make("summary", {}, "More settings"), make("div", { class: "fields" }, ...MORE.map((item) => this.item(item))));
    box.replaceChildren(nameField, ...parts, more);
    box.addEventListener("input", (event) => { if (event.target !== this.label && event.target.id !== "connect") this.edited(); });
  }

  item(words) {
    const [name, width = ""] = words.split(" ");
    if (name === "drawing") return this.makeDrawing();
    const id = `set-${name}`, described = `help-${name} error-${name}`;
    const label = make("label", { for: id }, LABELS[name]);
    const help = make("p", { class: "help", id: `help-${name}` }, this.menu.about[name]);
    const error = make("p", { class: "error", id: `error-${name}`, hidden: "" });
    let control;
    if (SWITCHES.includes(name)) control = make("input", { id, type: "checkbox", "aria-describedby": described });
    else if (CHOICES.includes(name)) control = this.makeSelect(name, id, described);
    else if (LISTS[name]) control = make("select", { id, "aria-describedby": described }, ...LISTS[name].map(([value, text]) => make("option", { value }, text)));
    else control = make("input", { id, autocomplete: "off", spellcheck: "false", "aria-describedby": described, placeholder: this.menu.usual[name], ...(NUMBERS.includes(name) ? { inputmode: "numeric" } : {}) });
    const parts = SWITCHES.includes(name) ? [control, label] : [label, control];
    const field = make("div", { class: `field ${width} ${SWITCHES.includes(name) ? "check" : ""}`, "data-setting": name }, ...parts);
    if (name === "context") { // before the box hears of it and reads the form
      control.addEventListener("input", () => { if (control.value.trim()) this.switched(); }); // correcting a number empties the field for a moment
      control.addEventListener("change", () => { if (this.switched()) this.edited(); });
    }
    let params = null;
    if (CHOICES.includes(name)) {
      params = make("input", { id: `${id}-params`, "aria-label": `${LABELS[name]}: parameters`, autocomplete: "off", spellcheck: "false", hidden: "" });
      field.append(params);
      control.addEventListener("input", () => this.suggest(name)); // before the box hears of it and reads the form
    }
    field.append(help, error);
    this.controls[name] = { control, params, help, error, field };
    return field;
  }

  makeSelect(name, id, described) {
    const options = Object.entries(this.menu.kinds[name]).map(([value, entry]) => make("option", { value, title: entry.about }, value));
    return make("select", { id, "aria-describedby": described }, ...options);
  }

  get hasContexts() {
    return Number(this.controls.context.control.value) > 0;
  }

  // Show what goes with contexts, or without: settings, and names of attacks and algorithms.
  showContexts() {
    const { only, not } = this.menu.at_contexts, goes = this.hasContexts ? "with" : "without";
    for (const name of only) this.controls[name].field.hidden = !this.hasContexts;
    for (const name of not) this.controls[name].field.hidden = this.hasContexts;
    for (const kind of CHOICES) for (const option of this.controls[kind].control.options) option.hidden = option.disabled = !(this.menu.kinds[kind][option.value]?.[goes] ?? true);
    this.contexts = this.hasContexts;
  }

  // The dimensions were edited: what does not go with contexts, or not without, is set to what does; whether anything was.
  switched() {
    if (this.contexts === this.hasContexts) return false;
    const { settings, only, not } = this.menu.at_contexts, { first, usual } = this.menu, on = this.hasContexts, goes = on ? "with" : "without";
    for (const name of on ? not : only) this.set(name, usual[name]);
    for (const kind of ["attack", "algorithm"]) if (!this.entry(kind)[goes]) this.set(kind, on ? settings[kind] ?? usual[kind] : usual[kind]);
    for (const kind of ["filter", "policy"]) {
      const [from, to] = on ? [[first[kind], usual[kind]], settings[kind]] : [[settings[kind]], first[kind]];
      if (from.includes(this.textOf(kind))) this.set(kind, to);
    }
    if (on && !this.controls.arms.control.value.startsWith("random")) this.set("arms", settings.arms);
    for (const name of ["horizon", "runs"]) if (on && Number(this.controls[name].control.value || usual[name]) > Number(settings[name])) this.set(name, settings[name]);
    this.showContexts();
    return true;
  }

  makeDrawing() {
    const svg = makeSvg("svg", { class: "network", role: "group", "aria-label": "The graph: choose two agents in turn to connect or part them" });
    const connect = make("select", { id: "connect" }, make("option", { value: "both" }, "both ways"), make("option", { value: "one" }, "one way: the first tells the second"));
    const legend = make("div", { class: "legend" }, make("span", {}, "○ honest"), make("span", {}, "□ lies"), make("span", { id: "graph-note" }));
    const how = make("p", { class: "muted" }, "Click an edge to cut it, or two agents in turn to connect them.");
    this.drawing = { svg, connect, note: legend.lastChild };
    return make("div", { class: "drawing span" }, svg, legend, how, make("div", { class: "field" }, make("label", { for: "connect" }, "New edges go"), connect));
  }

  entry(kind) {
    return this.menu.kinds[kind][this.controls[kind].control.value] ?? { about: "", parameters: "", example: "", is_default: false };
  }

  // A name was chosen: show parameters that go with it, which are then played.
  suggest(kind) {
    const { control, params } = this.controls[kind];
    if (kind === "graph" && control.value === "edges" && this.shown) params.value = edgesText(this.shown.agents, this.shown.edges).slice("edges:".length);
    else params.value = this.entry(kind).example;
    this.showParams(kind);
  }

  showParams(kind) {
    const { params, help } = this.controls[kind], entry = this.entry(kind);
    params.hidden = !entry.parameters && kind !== "attack"; // any attack can be careful
    params.placeholder = entry.example;
    help.textContent = [entry.about, entry.parameters].filter(Boolean).join(" ");
  }

  // Show a set-up.
  fill(setup, name) {
    this.label.value = setup.label;
    this.label.placeholder = name;
    for (const setting of Object.keys(this.controls)) {
      const follows = ["agents", "f", "subset"].includes(setting) && !(setting in setup.settings);
      this.set(setting, follows ? "" : setup.settings[setting] ?? this.menu.usual[setting]);
    }
    this.showContexts();
  }

  // Show the text of one setting.
  set(setting, text) {
    const { control, params } = this.controls[setting];
    if (SWITCHES.includes(setting)) control.checked = text === "true";
    else if (params) {
      const [choice, ...rest] = text.split(":");
      control.value = choice;
      if (control.selectedIndex < 0) { // a name that nobody knows stays to be seen, and to be refused
        control.append(make("option", { value: choice }, choice));
        control.value = choice;
      }
      const entry = this.entry(setting);
      params.value = rest.join(":") || (entry.is_default ? entry.example : "");
      this.showParams(setting);
    } else control.value = text;
  }

  // The settings that are not as usual.
  read() {
    const settings = {};
    for (const [name, { control, params }] of Object.entries(this.controls)) {
      let text;
      if (SWITCHES.includes(name)) text = String(control.checked);
      else if (params) text = this.textOf(name);
      else text = control.value.trim().replace(/\s*,\s*/g, ",");
      if (text !== "" && text !== this.menu.usual[name]) settings[name] = text;
    }
    return settings;
  }

  // The text of a choice; parameters that the name has anyway are left out.
  textOf(kind) {
    const { control, params } = this.controls[kind], entry = this.entry(kind), given = params.value.trim();
    const alone = params.hidden || !given || (entry.is_default && given === entry.example);
    return alone ? control.value : `${control.value}:${given}`;
  }

  edited(how = "replaceState") {
    this.changed(this.read(), how);
  }

  // Mark the field that is wrong, or none; whether there was such a field. A link may set one that is hidden: it is shown.
  mark(setting, detail) {
    for (const [name, { control, params, error, field }] of Object.entries(this.controls)) {
      const wrong = name === setting;
      error.hidden = !wrong;
      error.textContent = wrong ? detail : "";
      for (const each of [control, params]) wrong ? each?.setAttribute("aria-invalid", "true") : each?.removeAttribute("aria-invalid");
      if (!wrong) continue;
      field.hidden = false;
      control.closest("details")?.setAttribute("open", "");
    }
    return setting in this.controls;
  }

  focus(setting) {
    this.controls[setting]?.control.focus();
  }

  // Show what the server says of the set-up: what follows from others, and the graph.
  describe(info) {
    this.shown = info;
    this.controls.agents.control.placeholder = String(info.agents);
    this.controls.f.control.placeholder = String(info.f);
    this.controls.subset.control.placeholder = "all";
    const { svg, connect, note } = this.drawing;
    note.textContent = info.random_graph ? "as drawn in the first run" : `${info.edges.length} edges`;
    drawNetwork(svg, {
      ...info,
      toggle: (a, b) => {
        const edges = toggled(info.edges, a, b, connect.value === "one");
        const { control, params } = this.controls.graph;
        control.value = "edges";
        params.value = edgesText(info.agents, edges).slice("edges:".length);
        this.showParams("graph");
        this.edited("pushState"); // who goes back has the edge again
      },
    });
  }
}
