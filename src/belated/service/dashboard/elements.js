// Elements of the page, and how they are filled without flicker.

import { number } from "./formatting.js";

const MOST_ROWS = 200;
const held = new WeakMap(); // what each element holds

/** An HTML element with attributes and children. */
export function html(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Fill an element, unless it holds the same already; so nothing flickers or loses the focus. */
export function fill(element, what, make) {
  const told = JSON.stringify(what);
  if (held.get(element) === told) return;
  held.set(element, told);
  element.replaceChildren(...[make(what)].flat());
}

/** A table whose first column names the rows. */
export function table(caption, head, rows) {
  const cells = row => row.map((cell, k) => html(k ? "td" : "th", k ? {} : { scope: "row" }, cell));
  const kept = rows.slice(0, MOST_ROWS);
  const more = rows.length > MOST_ROWS ? `, the first ${MOST_ROWS} of ${number(rows.length)}` : "";
  return html(
    "table",
    {},
    html("caption", {}, caption + more),
    html("thead", {}, html("tr", {}, ...head.map(word => html("th", { scope: "col" }, word)))),
    html("tbody", {}, ...kept.map(row => html("tr", {}, ...cells(row)))),
  );
}
