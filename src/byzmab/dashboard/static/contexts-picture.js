// A picture of decision regions: which arm looks best at every point of the disc, and where each truly is.

import { colour } from "./charts.js";
import { make } from "./dom.js";

const COLOURS = ["curve-0", "curve-1", "curve-2"];
const ROOM = 20; // pixels around the disc, for letters

const PIXELS = 240; // of a picture, across: enough for smooth borders

// Draw which arm has the largest estimate, point by point; `estimates` holds a grid for each arm, row by row from the top.
export function drawPicture(canvas, about, estimates) {
  const size = canvas.clientWidth, scale = window.devicePixelRatio || 1;
  if (!size) return;
  canvas.width = canvas.height = Math.round(size * scale);
  const pen = canvas.getContext("2d"), middle = size / 2, radius = middle - ROOM;
  pen.scale(scale, scale);
  pen.fillStyle = colour("faint");
  pen.beginPath();
  pen.arc(middle, middle, radius, 0, 2 * Math.PI);
  pen.fill();
  if (estimates) {
    pen.save();
    pen.clip();
    pen.globalAlpha = 0.75;
    pen.drawImage(regions(about.grid, estimates), ROOM, ROOM, 2 * radius, 2 * radius);
    pen.restore();
  }
  border(pen, about.arms, middle, radius);
}

// The regions as a picture: estimates are interpolated between the points of the grid, so borders are smooth.
function regions(grid, estimates) {
  const picture = make("canvas", { width: PIXELS, height: PIXELS }), pen = picture.getContext("2d");
  const image = pen.createImageData(PIXELS, PIXELS), tints = COLOURS.map((name) => rgb(colour(name)));
  for (let row = 0; row < PIXELS; row++) {
    for (let column = 0; column < PIXELS; column++) {
      const values = estimates.map((table) => between(table, grid, place(row, grid), place(column, grid)));
      image.data.set([...tints[values.indexOf(Math.max(...values))], 255], 4 * (row * PIXELS + column));
    }
  }
  pen.putImageData(image, 0, 0);
  return picture;
}

const rgb = (hex) => [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));

// Where a pixel is, in steps of the grid.
const place = (pixel, grid) => (pixel / (PIXELS - 1)) * (grid - 1);

// The value of a table between its four nearest points.
function between(table, grid, y, x) {
  const top = Math.min(Math.floor(y), grid - 2), left = Math.min(Math.floor(x), grid - 2), down = y - top, right = x - left;
  const at = (row, column) => table[row * grid + column];
  const upper = at(top, left) * (1 - right) + at(top, left + 1) * right, lower = at(top + 1, left) * (1 - right) + at(top + 1, left + 1) * right;
  return upper * (1 - down) + lower * down;
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
