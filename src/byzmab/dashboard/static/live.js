// Shared by the live pages: a stream that is followed for ever, a history that does not grow for ever, small helpers.

import { by } from "./dom.js";
import { events, Lost, problemOf } from "./stream.js";

const AGAIN = 1000; // ms before a lost stream is asked for again
const QUIET = 4000; // ms without news after which we say so, unless news is always that slow
const MOST_POINTS = 400;

// "live", "reconnecting…": the word in the page's head; `problem` says below it what to do.
export function showStatus(word, kind, problem = "") {
  const pill = by("status");
  if (pill.textContent !== word) pill.textContent = word;
  pill.className = `pill ${kind}`;
  by("problem").textContent = problem;
  by("problem").hidden = !problem;
}

const tokenKept = () => sessionStorage.getItem("token");
const asking = () => ({ cache: "no-store", headers: tokenKept() ? { authorization: `Bearer ${tokenKept()}` } : {} });

// What the node answers to GET, with the token of this tab.
export async function ask(path) {
  const answer = await fetch(path, asking());
  if (!answer.ok) throw new Error((await problemOf(answer)).detail ?? `answered ${answer.status}`);
  return answer.json();
}

// Follow server-sent events, again after each loss. It is fetched, not an EventSource, as that cannot carry a token.
// `refused()` resolves when another token should be tried.
export async function follow(path, { onEvent, gone, refused = null }) {
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
      const answer = await fetch(path, asking());
      if (answer.status === 401 && refused) {
        await refused();
        continue;
      }
      if (!answer.ok) throw new Error((await problemOf(answer)).detail ?? `answered ${answer.status}`);
      for await (const [event, data] of events(answer)) {
        showStatus("live", "good");
        wait();
        onEvent(event, data);
      }
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof Lost)) console.warn(error.message); // TypeError: nobody answers
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

  // Begin again with these points.
  reset(points) {
    [this.points, this.#every, this.#seen] = [[], 1, 0];
    for (const point of points) this.add(point);
  }

  add(point) {
    if (this.#seen++ % this.#every) this.points.pop(); // the newest is always there, kept or not
    this.points.push(point);
    if (this.points.length <= MOST_POINTS) return;
    this.points = this.points.filter((_, index) => index % 2 === 0);
    this.#every *= 2;
    this.#seen = 1;
  }
}

// A function that does its work at most once in `pause` ms, and once more if it was called meanwhile.
export function throttle(work, pause) {
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

// A time span in words.
export function span(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 129600 ? `${(seconds / 3600).toFixed(1)} h` : `${(seconds / 86400).toFixed(1)} d`;
}
