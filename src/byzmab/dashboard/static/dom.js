// Elements of a page: finding, making and filling them, and files to take along.

export const by = (id) => document.getElementById(id);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function makeSvg(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

// Coordinates of the index-th of `count` points on a circle around the origin, the first on top.
export function onCircle(index, count, radius) {
  const angle = (2 * Math.PI * index) / count - Math.PI / 2;
  return [radius * Math.cos(angle), radius * Math.sin(angle)];
}

// An agent in a drawing: a square if it lies, else a circle.
export function agentShape(x, y, size, lies) {
  return lies
    ? makeSvg("rect", { x: x - size * 0.9, y: y - size * 0.9, width: size * 1.8, height: size * 1.8, rx: 3 })
    : makeSvg("circle", { cx: x, cy: y, r: size });
}

// Have the browser save a text as a file.
export function save(text, type, name) {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// A number in large type, and the small line below it.
export function showNumber(id, text, small) {
  const [value, below] = by(id).childNodes;
  value.textContent = text;
  below.textContent = small;
}

// Fill a table's body, changing only cells that differ, so that focus and scrolling stay. A row is a list of cells: text, or an element.
export function fillTable(body, rows) {
  while (body.rows.length > rows.length) body.deleteRow(-1);
  rows.forEach((cells, index) => {
    const row = body.rows[index] ?? body.insertRow();
    cells.forEach((cell, column) => {
      const at = row.cells[column] ?? row.appendChild(column ? make("td") : make("th", { scope: "row" }));
      if (typeof cell === "string") {
        if (at.textContent !== cell || at.childElementCount) at.textContent = cell;
      } else if (at.firstElementChild !== cell && at.innerHTML !== cell.outerHTML) {
        at.replaceChildren(cell);
      }
    });
  });
}
