// What one takes along: the link, the command, the experiment file, the program, the data and the figure.

import { download } from "./charts.js";
import { by, save } from "./dom.js";

function quoted(text) {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// Every curve on the page, one row per recorded round.
export function toCsv(setups, played) {
  const rows = ["experiment,round,regret_mean,regret_std,alone_mean,alone_std,bound"];
  for (const setup of played) {
    const { rounds, mean, std, soloMean, soloStd, bound } = setup.result, name = quoted(setups.name(setup));
    rounds.forEach((round, i) => rows.push([name, round, mean[i], std[i] ?? "", soloMean[i], soloStd[i] ?? "", bound[i] ?? ""].join(",")));
  }
  return `${rows.join("\n")}\n`;
}

// `current()` gives what the server says of the form as it is now, or throws what is wrong with it.
export function wireExports(setups, results, current) {
  const say = (text) => { by("export-status").textContent = text; };
  async function copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
      say(`${what} copied.`);
    } catch {
      say(`The browser does not let pages copy here; copy the ${what.toLowerCase()} by hand.`);
    }
  }
  by("copy-link").addEventListener("click", () => copy(location.href, "Link"));
  async function withCurrent(what, use) {
    try {
      use(await current());
    } catch (error) {
      say(`There is no ${what} for what is in the form: ${error.message}`);
    }
  }
  by("copy-command").addEventListener("click", () => withCurrent("command", (info) => copy(info.command, "Command")));
  by("copy-python").addEventListener("click", () => withCurrent("program", (info) => copy(info.python, "Python")));
  by("save-toml").addEventListener("click", () => withCurrent("file", (info) => { save(info.toml, "application/toml", "experiment.toml"); say("experiment.toml saved."); }));
  by("save-csv").addEventListener("click", () => { save(toCsv(setups, results.played()), "text/csv", "regret.csv"); say("regret.csv saved."); });
  for (const format of ["png", "svg"]) {
    by(`save-${format}`).addEventListener("click", async () => {
      await download(by("plot-regret"), format, "regret");
      say(`regret.${format} saved.`);
    });
  }
}

// The command, the file and the program of a set-up; without one, why there is none.
export function showExports(info, problem = "") {
  for (const id of ["command", "toml", "python"]) by(id).textContent = info?.[id] ?? `# ${problem}`;
}
