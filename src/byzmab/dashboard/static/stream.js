// Talking to the server of a page: JSON sent to it, and streams of server-sent events.

export function postJson(path, data, signal) {
  return fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(data), signal });
}

// The JSON of an answer that is an error, or an empty object.
export function problemOf(answer) {
  return answer.json().catch(() => ({}));
}

// A stream that broke off.
export class Lost extends Error {}

// The events of an answer, one by one, as [name, data]; throws Lost where the connection breaks.
export async function* events(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ""; ;) {
    const { value, done } = await reader.read().catch((error) => {
      throw error.name === "AbortError" ? error : new Lost(error.message);
    });
    if (done) return;
    const blocks = (text + value).split(/\r?\n\r?\n/);
    text = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split(/\r?\n/).map((row) => [row.slice(0, row.indexOf(":")), row.slice(row.indexOf(":") + 1).trim()]));
      if (fields.data) yield [fields.event, JSON.parse(fields.data)];
    }
  }
}
