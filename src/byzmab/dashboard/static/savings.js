// What is saved of the regret alone, in words.

// A share in per cent; what rounds to 0 has no sign.
function percent(share) {
  const whole = Math.round(100 * share);
  return `${whole < 0 ? "−" : ""}${Math.abs(whole)}`;
}

// A share with its interval, where there is one.
export function savedText(saved) {
  if (!saved) return "–";
  return saved.low === null ? `${percent(saved.mean)} %` : `${percent(saved.mean)} % (${percent(saved.low)} to ${percent(saved.high)})`;
}

// What a share comes to, judged by its interval.
export function savedSentence(saved) {
  if (!saved) return "";
  if (saved.mean === 0 && saved.low === 0 && saved.high === 0) return "Too few reports are left to use any: each agent is alone.";
  if (saved.low === null || saved.low > 0) return `Saves ${savedText(saved)} of what an agent loses alone.`;
  if (saved.high < 0) return `Worse than alone: ${savedText({ mean: -saved.mean, low: -saved.high, high: -saved.low })} more is lost.`;
  return `No better and no worse than alone, as far as these runs tell: ${savedText(saved)} saved.`;
}
