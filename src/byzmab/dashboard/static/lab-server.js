// Asking the lab's server: questions with one answer, and the stream of an experiment that is played.

export class Refusal extends Error {
  constructor(detail, setting = null) {
    super(detail);
    this.setting = setting;
  }
}

const GONE = "The lab does not answer. Is `byzmab lab` still running? Start it again, then try once more.";

async function ask(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(GONE);
  }
  if (answer.ok) return answer;
  const problem = await answer.json().catch(() => ({}));
  throw new Refusal(problem.detail ?? `The lab answered ${answer.status}.`, problem.setting ?? null);
}

function post(path, data, signal) {
  return ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(data), signal });
}

export const getMenu = async () => (await ask("/lab/menu")).json();

// What is to be known of a set-up, or a Refusal.
export async function check(settings, signal) {
  const answer = await (await post("/lab/check", { settings }, signal)).json();
  if (answer.problem) throw new Refusal(answer.problem.detail, answer.problem.setting);
  return answer;
}

export const lookInto = async (question, signal) => (await post("/lab/step", question, signal)).json();

// Play an experiment: `hear(event, data)` is called for each server-sent event; aborting the signal cancels it.
export async function play(settings, hear, signal) {
  const answer = await post("/lab/run", { settings }, signal);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "", ended = false;
  for (;;) {
    const { value, done } = await reader.read().catch((error) => {
      if (error.name === "AbortError") throw error;
      throw new Refusal(GONE);
    });
    if (done) break;
    text += value;
    const blocks = text.split(/\r?\n\r?\n/);
    text = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split(/\r?\n/).map((row) => [row.slice(0, row.indexOf(":")), row.slice(row.indexOf(":") + 1).trim()]));
      if (!fields.event) continue;
      const data = JSON.parse(fields.data);
      if (fields.event === "trouble") throw new Refusal(data.detail);
      ended ||= fields.event === "end";
      hear(fields.event, data);
    }
  }
  if (!ended) throw new Refusal(GONE);
}
