// Shared by the live pages: a stream that is followed for ever, a history that does not grow for ever, small helpers.

export const by = (id) => document.getElementById(id);
const AGAIN = 1000; // ms before a lost stream is asked for again
const QUIET = 4000; // ms without news after which we say so, unless news is always that slow
const MOST_POINTS = 400;

export function make(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

export function draw(name, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// Where the place-th of so many things is on a circle, the first on top.
export function onCircle(place, things, radius) {
  const angle = (2 * Math.PI * place) / things - Math.PI / 2;
  return [radius * Math.cos(angle), radius * Math.sin(angle)];
}

export function save(text, name) {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: "application/json" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// "live", "reconnecting…": the word in the page's head; `problem` says below it what to do.
export function showStatus(word, kind, problem = "") {
  const pill = by("status");
  if (pill.textContent !== word) pill.textContent = word;
  pill.className = `pill ${kind}`;
  by("problem").textContent = problem;
  by("problem").hidden = !problem;
}

async function* messages(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ""; ;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (text + value).split(/\r?\n\r?\n/);
    text = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split(/\r?\n/).map((row) => [row.slice(0, row.indexOf(":")), row.slice(row.indexOf(":") + 1).trim()]));
      if (fields.data) yield [fields.event, JSON.parse(fields.data)];
    }
  }
}

// Follow server-sent events, again after each loss. It is fetched, not an EventSource, as that cannot carry a token.
// `token()` gives one or null; `refused()` resolves when another should be tried.
export async function follow(path, { hear, gone, token = () => null, refused = null }) {
  let longest = 0; // ms between two events
  for (;;) {
    let quiet, last = null;
    const wait = () => {
      const now = performance.now();
      longest = Math.max(longest, now - (last ?? now));
      last = now;
      clearTimeout(quiet);
      quiet = setTimeout(() => showStatus("no news", "warn", gone), Math.max(QUIET, 3 * longest));
    };
    try {
      const answer = await fetch(path, { cache: "no-store", headers: token() ? { authorization: `Bearer ${token()}` } : {} });
      if (answer.status === 401 && refused) {
        await refused();
        continue;
      }
      if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).detail ?? `answered ${answer.status}`);
      for await (const [event, data] of messages(answer)) {
        showStatus("live", "good");
        wait();
        hear(event, data);
      }
    } catch (error) {
      if (!(error instanceof TypeError) && error.name !== "AbortError") console.warn(error.message);
    }
    clearTimeout(quiet);
    showStatus("reconnecting…", "warn", gone);
    await new Promise((resolve) => setTimeout(resolve, AGAIN));
  }
}

// Points in time, oldest first; when there are too many, every second one goes, so that the whole time stays in view.
export class Timeline {
  points = [];
  #every = 1;
  #seen = 0;

  add(point) {
    if (this.#seen++ % this.#every) this.points.pop(); // the newest is always there, kept or not
    this.points.push(point);
    if (this.points.length <= MOST_POINTS) return;
    this.points = this.points.filter((_, place) => place % 2 === 0);
    this.#every *= 2;
    this.#seen = 1;
  }
}

// A function that does its work at most once in so many ms, and once more if it was asked to meanwhile.
export function calm(work, pause) {
  let resting = false, again = false;
  function rest() {
    resting = false;
    if (again) ask();
  }
  function ask() {
    again = resting;
    if (resting) return;
    resting = true;
    requestAnimationFrame(async () => {
      try {
        await work();
      } finally {
        setTimeout(rest, pause);
      }
    });
  }
  return ask;
}

export function span(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 129600 ? `${(seconds / 3600).toFixed(1)} h` : `${(seconds / 86400).toFixed(1)} d`;
}

// A table's body, changed only where it differs, so that focus and scrolling stay. A row is a list of cells: text, or an element.
export function fill(body, rows) {
  while (body.rows.length > rows.length) body.deleteRow(-1);
  rows.forEach((cells, place) => {
    const row = body.rows[place] ?? body.insertRow();
    cells.forEach((cell, column) => {
      const at = row.cells[column] ?? row.appendChild(column ? make("td") : make("th", { scope: "row" }));
      if (typeof cell === "string") {
        if (at.textContent !== cell || at.childElementCount) at.textContent = cell;
      } else if (at.firstElementChild !== cell && at.innerHTML !== cell.outerHTML) {
        at.replaceChildren(cell);
      }
    });
  });
}
