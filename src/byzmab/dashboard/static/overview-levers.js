// Levers of a network: on the node that is chosen, on the attack, and on what becomes of proven liars.

import { by, make } from "./dom.js";
import { postJson, problemOf } from "./stream.js";

export const GONE = "The network does not answer. Is `byzmab network` still running? This page goes on by itself when it is.";
const DONE = { kill: "was killed", restart: "is up again", partition: "is cut off from its neighbours", heal: "has its neighbours back", freeze: "hangs", thaw: "goes on", turn: "was turned" };
export const NAMES = { kill: "Kill", restart: "Restart", partition: "Partition", heal: "Heal", freeze: "Hang", thaw: "Wake", turn: "Turn into a liar" };
export const busy = new Map(); // agent → what is being done to it

export async function post(path, data) {
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

async function act(action, row, show) {
  if (busy.has(row.agent)) return; // a double click is one
  busy.set(row.agent, action);
  by("done").textContent = `${NAMES[action]}: ${row.name} …`;
  show();
  const done = await post("/network/deeds", { deed: action, agent: row.agent });
  busy.delete(row.agent);
  by("done").textContent = done ? `${row.name} ${DONE[action]}.` : "";
  show();
}

// The levers of the chosen node: four buttons, each of which turns into its opposite.
export function showNode(row, show) {
  const box = by("levers");
  by("chosen-name").textContent = row.name;
  by("chosen-name").href = row.url;
  by("chosen-state").textContent = `${row.lies ? "lies, " : "honest, "}${busy.has(row.agent) ? `${NAMES[busy.get(row.agent)].toLowerCase()} …` : row.state}`;
  while (box.children.length < 4) {
    const button = box.appendChild(make("button", { type: "button" }));
    button.addEventListener("click", () => act(button.dataset.action, JSON.parse(box.dataset.row), show));
  }
  box.dataset.row = JSON.stringify({ agent: row.agent, name: row.name });
  const down = row.state === "down", still = busy.has(row.agent);
  const actions = [down ? "restart" : "kill", row.state === "cut off" ? "heal" : "partition", row.state === "hung" ? "thaw" : "freeze", "turn"];
  const allowed = [true, !down && row.state !== "hung", !down && row.state !== "cut off", row.state === "up"];
  [...box.children].forEach((button, index) => {
    const action = actions[index], name = action === "turn" && row.lies ? "Make honest" : NAMES[action];
    button.dataset.action = action;
    button.disabled = still || !allowed[index];
    button.textContent = name;
    button.setAttribute("aria-label", `${name}: ${row.name}`);
  });
}

// Which liars nobody honest listens to any more.
export function unheard(rows) {
  const honest = rows.filter((row) => !row.lies && row.state === "up");
  return rows.filter((row) => row.lies && honest.length && honest.every((one) => !(row.name in one.fates) || one.fates[row.name] === "expelled"));
}

// Why the attack matters no more, or matters more than the filter is made for.
function warningOf(agents, overrun) {
  const liars = agents.filter((row) => row.lies), out = unheard(agents), many = out.length > 1;
  if (liars.length > 0 && out.length === liars.length) return `Nobody listens: ${out.map((row) => row.name).join(", ")} ${many ? "are" : "is"} expelled, however ${many ? "they lie" : "it lies"}. Take the liars back to see the filter at work again.`;
  return overrun ? `More liars than f: honest nodes hear ${overrun.liars} and reckon with ${overrun.f}, so nothing is promised. Expel who is proven, or make one honest.` : "";
}

// The attack lever says when nobody listens; the other one expels proven liars, or takes them back.
export function showAttack({ agents, attack, equivocators, overrun }) {
  const select = by("attack"), warning = warningOf(agents, overrun);
  if (document.activeElement !== select && !select.dataset.busy) select.value = attack;
  select.disabled = !agents.some((row) => row.lies) || Boolean(select.dataset.busy);
  by("unheard").hidden = !warning;
  by("unheard").textContent = warning;
  by("expel").dataset.next = equivocators === "keep" ? "expel" : "keep";
  by("expel").textContent = equivocators === "keep" ? "Expel who is proven" : "Take the liars back";
}

export function wireLevers(show) {
  by("attack").addEventListener("change", async () => {
    const select = by("attack"), attack = select.value;
    select.dataset.busy = "1";
    by("done").textContent = `Switching to ${attack} … the first time it is compiled.`;
    const done = await post("/network/attack", { attack });
    delete select.dataset.busy;
    by("done").textContent = done ? `The liars lie by ${attack} from their next report on.` : "";
    select.blur();
    show();
  });
  by("expel").addEventListener("click", async () => {
    const equivocators = by("expel").dataset.next;
    by("expel").disabled = true;
    const done = await post("/network/equivocators", { equivocators });
    by("expel").disabled = false;
    by("done").textContent = done ? { expel: "Whoever is proven to lie is expelled.", keep: "The liars are heard again; the filter has to deal with them." }[equivocators] : "";
    show();
  });
}
