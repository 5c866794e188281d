// A picture of decision regions: which arm looks best at every point of the disc, and where each truly is.

import { colour } from "./charts.js";
import { make } from "./dom.js";

const COLOURS = ["curve-0", "curve-1", "curve-2"];
const ROOM = 20; // pixels around the disc, for letters

// Draw regions, a digit for each point in the disc, row by row from the top; none before the first.
export function drawPicture(canvas, about, regions) {
  const size = canvas.clientWidth, scale = window.devicePixelRatio || 1;
  if (!size) return;
  canvas.width = canvas.height = Math.round(size * scale);
  const pen = canvas.getContext("2d"), middle = size / 2, radius = middle - ROOM;
  pen.scale(scale, scale);
  pen.fillStyle = colour("faint");
  pen.beginPath();
  pen.arc(middle, middle, radius, 0, 2 * Math.PI);
  pen.fill();
  if (regions) {
    const cell = (2 * radius) / (about.grid - 1); // points are in the middle of their cells
    pen.save();
    pen.clip();
    pen.globalAlpha = 0.75;
    pen.imageSmoothingEnabled = false;
    pen.drawImage(cells(about.grid, regions), ROOM - cell / 2, ROOM - cell / 2, about.grid * cell, about.grid * cell);
    pen.restore();
  }
  border(pen, about.arms, middle, radius);
}

// The regions as a picture with one pixel for each point; around the disc they go on outwards.
function cells(grid, regions) {
  const picture = make("canvas", { width: grid, height: grid }), pen = picture.getContext("2d"), tints = COLOURS.map(colour);
  const numbers = new Map(), from = (step) => (2 * step) / (grid - 1) - 1;
  for (let row = 0; row < grid; row++) {
    for (let column = 0; column < grid; column++) {
      if (from(column) ** 2 + from(row) ** 2 <= 1 + 1e-9) numbers.set(row * grid + column, regions[numbers.size]);
    }
  }
  for (let row = 0; row < grid; row++) {
    for (let column = 0; column < grid; column++) {
      let [y, x] = [row, column], share = 1;
      while (!numbers.has(Math.round(y) * grid + Math.round(x))) {
        share -= 0.02;
        [y, x] = [row, column].map((step) => ((from(step) * share + 1) * (grid - 1)) / 2);
      }
      pen.fillStyle = tints[Number(numbers.get(Math.round(y) * grid + Math.round(x)))];
      pen.fillRect(column, row, 1, 1);
    }
  }
  return picture;
}

// The circle, the lines between the thirds, and the letter of each arm where it pays most.
function border(pen, arms, middle, radius) {
  pen.strokeStyle = pen.fillStyle = colour("ink");
  pen.lineWidth = 1.6;
  pen.beginPath();
  pen.arc(middle, middle, radius, 0, 2 * Math.PI);
  pen.stroke();
  pen.setLineDash([5, 4]);
  for (const { angle } of arms) {
    pen.beginPath();
    pen.moveTo(middle, middle);
    pen.lineTo(middle - radius * Math.cos(angle), middle + radius * Math.sin(angle)); // between the other two
    pen.stroke();
  }
  pen.setLineDash([]);
  pen.font = "600 14px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  for (const { name, angle } of arms) {
    pen.fillText(name, middle + (radius + 11) * Math.cos(angle), middle - (radius + 11) * Math.sin(angle));
  }
}
