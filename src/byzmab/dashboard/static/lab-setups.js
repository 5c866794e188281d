// The set-ups on the bench: those compared, the one being edited, and the address that holds them all.

const COLOURS = 6;

export class Setups {
  constructor() {
    this.list = [];
    this.known = []; // every set-up that was on the bench: who goes back finds it with its curve
    this.chosen = 0;
    this.load([{ label: "", settings: {} }]);
  }

  get here() {
    return this.list[this.chosen];
  }

  load(setups, chosen = 0) {
    const left = new Set(this.known);
    this.list = [];
    for (const { label, settings } of setups) {
      const setup = [...left].find((each) => keyOf(each.settings) === keyOf(settings)) ?? this.fresh(label, settings);
      left.delete(setup);
      if (this.list.some((each) => each.colour === setup.colour)) setup.colour = this.freeColour();
      this.list.push(Object.assign(setup, { label }));
    }
    this.chosen = Math.min(chosen, this.list.length - 1);
  }

  freeColour() {
    const taken = new Set(this.list.map((setup) => setup.colour));
    return [...Array(COLOURS).keys()].find((number) => !taken.has(number)) ?? this.list.length % COLOURS;
  }

  fresh(label, settings) {
    const setup = { label, settings, colour: this.freeColour(), info: null, result: null, playing: false };
    this.known.push(setup);
    return setup;
  }

  addCopy() {
    this.list.push(this.fresh("", { ...this.here.settings }));
    this.chosen = this.list.length - 1;
  }

  remove(setup) {
    const index = this.list.indexOf(setup);
    this.list.splice(index, 1);
    if (this.chosen >= index && this.chosen > 0) this.chosen--;
  }

  // What a set-up is called: as the user says, else by what sets it apart from the others.
  name(setup) {
    if (setup.label) return setup.label;
    const names = new Set(this.list.flatMap((each) => Object.keys(each.settings)));
    const apart = [...names].filter((name) => this.list.some((each) => each.settings[name] !== setup.settings[name]));
    const words = apart.filter((name) => setup.settings[name] !== undefined).map((name) => says(name, setup.settings[name]));
    const algorithm = [setup.settings.filter ?? "trimmed", setup.settings.policy ?? "ucb"].join(", ");
    return words.length && this.list.length > 1 ? words.join(", ") : algorithm;
  }

  // The part of the address behind #: settings as flags hold them, one set-up after the other.
  toFragment() {
    const parts = this.list.map((setup, index) => {
      const words = new URLSearchParams();
      if (setup.label) words.set("label", setup.label);
      if (index === this.chosen && index > 0) words.set("here", "");
      for (const [name, text] of Object.entries(setup.settings)) words.set(name, text);
      return words.toString();
    });
    const text = parts.join("|");
    return text ? `#${text}` : "#";
  }

  fromFragment(fragment) {
    const parts = fragment.replace(/^#/, "").split("|").map((text) => new URLSearchParams(text));
    const chosen = Math.max(0, parts.findIndex((words) => words.has("here")));
    this.load(parts.map((words) => {
      const { label = "", here: _, ...settings } = Object.fromEntries(words);
      return { label, settings };
    }), chosen);
  }
}

// The same for the same settings, in whatever order they were given.
export function keyOf(settings) {
  return JSON.stringify(Object.entries(settings).sort());
}

function says(name, text) {
  const short = text.length > 24 ? `${text.slice(0, 23)}…` : text;
  return ["filter", "policy", "attack", "graph", "algorithm"].includes(name) ? short : `${name.replaceAll("_", " ")} ${short}`;
}

// Whether what was played is what is set up now.
export function isStale(setup) {
  return setup.result !== null && setup.result.key !== keyOf(setup.settings);
}
