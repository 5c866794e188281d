// The steps of a round and what is said of each, for the filter in use.

const count = (step, arm, ...fates) => step.heard.filter((report) => fates.includes(report.fates[arm]));
const names = (reports) => reports.map((report) => `${report.agent}${report.lies ? " (lies)" : ""}`).join(", ");
const plural = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;
const base = (step) => step.filter.split(":")[0];

// How a filter takes the extremes away, in words.
const TRIMMING = {
  trimmed: (f) => `Step B: the ${f} largest and the ${f} smallest means go; of ${2 * f} or fewer none is used.`,
  pooled: (f) => `The ${f} largest and the ${f} smallest reports go; of ${2 * f} or fewer none is used.`,
  screened: (f) => `Of what passed the screening the largest and smallest go, as many as of f = ${f} are still to be feared.`,
  guarded: (f) => `What pulls the estimate hardest goes, ${f} up and ${f} down, less what was screened or is silent: a report pulls by its count times its distance from the middle.`,
  median: () => "The median needs no trimming: the middle is what counts.",
};
const ESTIMATE = {
  trimmed: "The estimate z is the average of what is left and one's own mean.",
  mean: "The estimate z is the average of all consistent reports and one's own mean: nothing was taken away.",
  median: "The estimate z is the median of one's own mean and the reports.",
  pooled: "The estimate z weighs every report by its pulls, but nobody for more than oneself.",
  screened: "The estimate z weighs every report by its pulls, but nobody for more than oneself.",
  guarded: "The estimate z weighs every report by its pulls, but nobody for more than oneself, or than the (f+1)-th largest count: some honest agent has as many.",
  solo: "Nobody is heard: the estimate z is one's own mean.",
};
const WIDTH = {
  trimmed: "its g already pays for the bias that Byzantine agents may have left in z.",
  guarded: "the doubt d pays for the bias that f Byzantine agents may have left in z.",
  screened: "the doubt d pays for part of the bias that Byzantine agents may have left in z.",
};

// Whether nothing that was told of an arm is used, though somebody told something.
const isAlone = (step, arm) => count(step, arm, "unused").length > 0 && !count(step, arm, "kept", "trimmed").length;

// The steps of a round: a name for each, and whether it has happened to a report's fate.
export function stagesOf(step) {
  const any = (fate) => step.heard.some((report) => report.fates.includes(fate));
  const stages = [{ name: "hear", drops: [] }];
  if (step.consistency && step.heard.length) stages.push({ name: "consistency", drops: ["inconsistent"] });
  if (any("unlike")) stages.push({ name: "likeness", drops: ["unlike"] });
  if (any("implausible")) stages.push({ name: "screening", drops: ["implausible"] });
  if (step.trims && step.heard.length) stages.push({ name: "trimming", drops: ["trimmed", "unused"] });
  stages.push({ name: "estimate", drops: [] });
  if (step.index !== null) stages.push({ name: step.worth === "index" ? "index" : "chance", drops: [] });
  stages.push({ name: "choice", drops: [] });
  return stages;
}

// What a step did, on one arm.
export function captionOf(step, stage, arm) {
  const own = step.context ? `${step.pulls[arm]} pulls that its own data are worth there` : `${step.pulls[arm]} own pulls`, kind = base(step), dropped = (...fates) => count(step, arm, ...fates);
  const gone = (reports) => (reports.length ? ` Here: agent${reports.length > 1 ? "s" : ""} ${names(reports)}.` : " Here: none.");
  switch (stage.name) {
    case "hear": {
      const old = step.heard.filter((report) => report.age > 0).length, silent = dropped("silent").length, expelled = dropped("expelled");
      const at = step.context ? `At the context (${step.context.map((number) => number.toFixed(2)).join(", ")}) every report becomes a pair of pulls and mean. ` : "";
      return `${at}Agent ${step.agent}${step.lies ? ", which is Byzantine," : ""} hears ${plural(step.heard.length, "report")} on arm ${arm + 1}, beside its ${own}`
        + `${old ? `; ${old} from earlier rounds` : ""}${silent ? `; ${silent} say nothing` : ""}${expelled.length ? `; ${names(expelled)} told what cannot be, and ${expelled.length > 1 ? "are" : "is"} heard no more` : ""}. κ = ${step.kappa.toFixed(3)}, f = ${step.f}.`;
    }
    case "consistency": return `Step A: a report counts if κ times its pulls is at least the ${own}.${gone(dropped("inconsistent"))}`;
    case "likeness": return `Neighbours differ: a neighbour whose means are far from the agent's own, over all arms, moves nothing. It may be honest.${gone(dropped("unlike"))}`;
    case "screening": return `${step.context ? "Vetting: a neighbour whose parameters contradict the agent's own data is left out." : "Reports that an honest agent could hardly have sent are dropped first."}${gone(dropped("implausible"))}`;
    case "trimming": if (step.context && !step.trusts) return "On trial: the reports predicted its rewards worse than its own data did, so it decides alone.";
      if (step.ignores) return "None is used: f = auto needs four neighbours or more, and no more of them expelled than f.";
      return isAlone(step, arm) ? `None is used: too few are left against f = ${step.f}${kind === "guarded" ? ", or alone one is surer" : ""}.` : `${(TRIMMING[kind] ?? ((f) => `The filter drops what it takes for extreme, with f = ${f}.`))(step.f)}${gone(dropped("trimmed", "unused"))}`;
    case "estimate": return `${isAlone(step, arm) ? `Nothing that was heard is used: the estimate z is one's own${step.context ? " at the context, LinUCB's" : " mean"}.` : ESTIMATE[kind] ?? "The estimate z is what the filter makes of it."} z = ${step.estimates[arm].toFixed(3)}, the truth is ${step.true_means[arm].toFixed(3)}.`;
    case "index": return `z is worth w = ${step.weights[arm].toFixed(1)} own pulls (it has ${step.pulls[arm]})${step.doubts[arm] ? `, with doubt d = ${step.doubts[arm].toFixed(3)}, which raises the index to the bound of one's own data at most` : ""}; `
      + `${WIDTH[kind] ?? "the more it is worth, the narrower."} Index ${step.index[arm].toFixed(3)} (t = ${step.time}; ${step.formula}).`;
    case "chance": return `Its chance to be drawn is ${step.index[arm].toFixed(3)} (${step.formula}).`;
    default: return `So in round ${step.round} agent ${step.agent} pulls arm ${step.choice}${step.worth === "index" && step.index ? ", whose index is the largest" : ""}.`;
  }
}

// What believing everyone would have made of the same reports.
export function counterfactualOf(step, arm) {
  const { everyone, true_means } = step, best = Math.max(...true_means);
  const z = `On arm ${arm + 1} believing everyone gives z = ${everyone.estimates[arm].toFixed(3)} instead of ${step.estimates[arm].toFixed(3)}; the truth is ${true_means[arm].toFixed(3)}.`;
  const cost = (choice) => `a regret of ${(best - true_means[choice - 1]).toFixed(2)}`;
  const pulled = everyone.choice === step.choice ? `It would have pulled the same arm, ${step.choice}.`
    : `It would have pulled arm ${everyone.choice}, ${cost(everyone.choice)}, instead of arm ${step.choice}, ${cost(step.choice)}.`;
  return `${z} ${pulled}`;
}

// The range of what honest agents saw on an arm, one's own included.
export function honestRange(step, arm) {
  const seen = step.heard.filter((report) => !report.lies && report.fates[arm] !== "silent").map((report) => report.means[arm]);
  if (!step.lies) seen.push(step.means[arm]);
  return seen.length ? [Math.min(...seen), Math.max(...seen)] : null;
}

const liesOf = (reports) => `The ${reports.length > 1 ? "lies" : "lie"} of ${reports.map((report) => report.agent).join(", ")} ${reports.length > 1 ? "are" : "is"}`;

// Why lies that are kept do no harm, or how much they may do.
export function harmlessOf(step, arm) {
  const lies = step.heard.filter((report) => report.lies), kept = lies.filter((report) => ["kept", "heard"].includes(report.fates[arm]));
  if (!lies.length) return "None of the agents that it hears is Byzantine.";
  if (!kept.length) return `No lie is left on arm ${arm + 1}: what ${lies.map((report) => report.agent).join(", ")} told is not used.`;
  const [low, high] = honestRange(step, arm) ?? [NaN, NaN];
  const inside = kept.filter((report) => report.means[arm] >= low && report.means[arm] <= high), outside = kept.filter((report) => !inside.includes(report));
  const words = [];
  if (inside.length) words.push(`${liesOf(inside)} kept, within what honest agents saw, ${low.toFixed(3)} to ${high.toFixed(3)}: averaging what is in that range cannot take z out of it.`);
  if (outside.length) {
    const cure = step.filter === "mean" ? "and nothing holds that back: this is what filtering is for." : step.doubts[arm] ? `but none counts for more than an honest report, and the doubt d = ${step.doubts[arm].toFixed(3)} in the index pays for it.` : "but none counts for more than one report among those left.";
    words.push(`${liesOf(outside)} kept though no honest agent saw that, ${cure}`);
  }
  return words.join(" ");
}
