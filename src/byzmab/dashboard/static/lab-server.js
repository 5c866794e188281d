// Asking the lab's server: questions with one answer, and the stream of an experiment that is played.

import { events, Lost, postJson, problemOf } from "./stream.js";

export class Refusal extends Error {
  constructor(detail, setting = null, busy = false) {
    super(detail);
    this.setting = setting;
    this.busy = busy; // it would be played if others were not
  }
}

const GONE = "The lab does not answer. Is `byzmab lab` still running? Start it again, then try once more.";

// The answer to a request, or a Refusal.
async function accepted(request) {
  let answer;
  try {
    answer = await request;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(GONE);
  }
  if (answer.ok) return answer;
  const problem = await problemOf(answer);
  throw new Refusal(problem.detail ?? `The lab answered ${answer.status}.`, problem.setting ?? null, answer.status === 429);
}

const post = (path, data, signal) => accepted(postJson(path, data, signal));

export const getMenu = async () => (await accepted(fetch("/lab/menu"))).json();

// What is to be known of a set-up, or a Refusal.
export async function check(settings, signal) {
  const answer = await (await post("/lab/check", { settings }, signal)).json();
  if (answer.problem) throw new Refusal(answer.problem.detail, answer.problem.setting);
  return answer;
}

export const lookInto = async (question, signal) => (await post("/lab/step", question, signal)).json();

// Play an experiment: `onEvent(name, data)` is called for each server-sent event; aborting the signal cancels it.
// A quick game has fewer updates, without fates and bound.
export const play = (settings, onEvent, signal, quick = false) => follow("/lab/run", { settings, quick }, onEvent, signal);

// The same for the page of contexts: so many liars, and how they lie.
export const playContexts = (lies, onEvent, signal) => follow("/contexts/run", lies, onEvent, signal);

async function follow(path, data, onEvent, signal) {
  const answer = await post(path, data, signal);
  let ended = false;
  try {
    for await (const [event, data] of events(answer)) {
      if (event === "trouble") throw new Refusal(data.detail);
      ended ||= event === "end";
      onEvent(event, data);
    }
  } catch (error) {
    throw error instanceof Lost ? new Refusal(GONE) : error;
  }
  if (!ended) throw new Refusal(GONE);
}
