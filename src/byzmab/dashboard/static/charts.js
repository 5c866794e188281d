// Charts: Plotly, loaded when first needed, in the colours of the page.

let loading = null;
let revision = 0; // of all charts: curves grow in place, which Plotly does not notice by itself

export function loadPlotly() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = "/plotly.js";
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => { loading = null; reject(new Error("Plotly could not be loaded; reload the page.")); };
    document.head.append(script);
  });
  return loading;
}

// The value of a colour of style.css, as it is now.
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// Text as Plotly shows it: as it is, never as markup.
export function plain(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

export function translucent(hex, share) {
  const [r, g, b] = [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
  return `rgba(${r},${g},${b},${share})`;
}

function dress(layout) {
  const ink = colour("ink"), line = colour("line");
  const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true, fixedrange: true };
  return {
    paper_bgcolor: colour("card"),
    plot_bgcolor: colour("card"),
    font: { color: ink, family: "system-ui, sans-serif", size: 12 },
    margin: { l: 48, r: 22, t: 8, b: 40 },
    datarevision: ++revision,
    legend: { orientation: "h", y: -0.18, x: 0, font: { color: ink } },
    hoverlabel: { bgcolor: colour("card"), bordercolor: line, font: { color: ink } },
    ...layout,
    xaxis: { ...axis, ...layout.xaxis },
    yaxis: { ...axis, ...layout.yaxis },
  };
}

export async function draw(box, traces, layout) {
  const plotly = await loadPlotly();
  await plotly.react(box, traces, dress(layout), { responsive: true, displayModeBar: false });
}

export async function download(box, format, filename) {
  const plotly = await loadPlotly();
  await plotly.downloadImage(box, { format, filename, width: 1000, height: 600, scale: format === "png" ? 2 : 1 });
}

// Call back when the page turns light or dark, as charts have to be drawn anew.
export function onTheme(callback) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", callback);
}
