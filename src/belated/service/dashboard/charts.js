// Charts as SVG, drawn to the width they have; colours come from the style sheet, by class.

import { clock, duration, number, percent, short } from "./formatting.js";

const SVG = "http://www.w3.org/2000/svg";
const TIME_STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 14400, 21600, 28800, 43200,
  86400, 172800, 432000, 864000, 2592000, 7776000, 31536000,
];
const HUES = 7,
  DASHES = 4,
  ROW = 44,
  LETTER = 6.8;

/** The class that gives an arm its hue and dashes, everywhere on the page. */
export function look(place) {
  return place === null ? "others" : `hue${place % HUES} dash${place % DASHES}`;
}

/** An element of SVG with attributes. */
export function svg(name, attributes = {}, text = null) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== null) made.textContent = text;
  return made;
}

function sheet(width, height, about) {
  const made = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
  made.setAttribute("aria-label", about);
  return made;
}

function nice(span, most) {
  const rough = span / most,
    power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find(step => step * power >= rough * 0.999999);
}

function ticks(low, high, step) {
  const found = [];
  for (
    let k = Math.ceil(low / step - 1e-9);
    k * step <= high + step * 1e-9 && found.length < 40;
    k++
  ) {
    found.push(k * step + 0); // never minus zero
  }
  return found;
}

function timeStep(span, most) {
  return TIME_STEPS.find(step => span / step <= most) ?? nice(span, most);
}

function text(words, x, y, anchor = "start", kind = "label") {
  return svg("text", { x, y, "text-anchor": anchor, class: kind }, words);
}

function line(x1, y1, x2, y2, kind) {
  return svg("line", { x1, y1, x2, y2, class: kind });
}

/** A path along points; where one is missing, it ends. */
function path(points) {
  return points.map(([x, y], k) => `${k ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}

/** Shares over time: a line for each series {place, values}. */
export function lines(width, times, series, about) {
  const height = Math.max(190, Math.min(300, width * 0.42)),
    left = 44,
    right = 10,
    bottom = 26,
    top = 8;
  const made = sheet(width, height, about);
  const start = times[0],
    end = Math.max(times.at(-1), start + 1);
  const x = at => left + ((at - start) / (end - start)) * (width - left - right);
  const y = share => height - bottom - share * (height - bottom - top);
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    made.append(line(left, y(share), width - right, y(share), "grid"));
    made.append(text(percent(share), left - 6, y(share) + 4, "end"));
  }
  const step = timeStep(end - start, Math.max(2, Math.floor((width - left) / 90)));
  const shift = step >= 3600 ? new Date(1000 * start).getTimezoneOffset() * 60 : 0;
  for (const tick of ticks(start - shift, end - shift, step)) {
    const at = tick + shift;
    if (x(at) > width - 32 || x(at) < left + 4) continue;
    made.append(line(x(at), height - bottom, x(at), height - bottom + 4, "axis"));
    made.append(text(clock(at, step), x(at), height - 7, "middle"));
  }
  for (const { place, values } of series) {
    const points = values.map((value, k) => [x(times[k]), y(value)]);
    made.append(svg("path", { d: path(points), class: `line ${look(place)}` }));
    const [lastX, lastY] = points.at(-1);
    made.append(svg("circle", { cx: lastX, cy: lastY, r: 3, class: `dot ${look(place)}` }));
  }
  return made;
}

function heading(made, width, y, label, value) {
  const room = Math.floor((width - LETTER * value.length - 24) / LETTER);
  const name = text(short(label, room), 2, y, "start", "arm");
  name.append(svg("title", {}, label));
  made.append(name, text(value, width - 2, y, "end"));
}

/** A bar for each row {label, value, parts}, parts stacked from young to old. */
export function bars(width, rows, about) {
  const most = Math.max(
    1,
    ...rows.map(row => row.parts.reduce((sum, part) => sum + part.count, 0)),
  );
  const made = sheet(width, rows.length * ROW + 2, about);
  rows.forEach(({ label, value, parts }, k) => {
    const top = k * ROW;
    heading(made, width, top + 15, label, value);
    made.append(
      svg("rect", { x: 2, y: top + 22, width: width - 4, height: 12, rx: 3, class: "track" }),
    );
    let x = 2;
    for (const { count, kind, title } of parts) {
      if (count === 0) continue;
      const size = Math.max(1.5, (count / most) * (width - 4));
      const bar = svg("rect", { x, y: top + 22, width: size, height: 12, class: `bar ${kind}` });
      bar.append(svg("title", {}, title));
      made.append(bar);
      x += size;
    }
  });
  return made;
}

/** An estimate with its interval for each row {label, value, place, middle, low, high}; null: none.
 * A value that is marked has an upright line. */
export function intervals(width, rows, { low, high, isTime, mark = null }, about) {
  const height = rows.length * ROW + 26,
    made = sheet(width, height, about);
  const span = high - low,
    most = Math.max(2, Math.floor(width / 90));
  const step = isTime && span >= 2 ? timeStep(span, most) : nice(span, most);
  const x = value => 6 + ((Math.min(high, Math.max(low, value)) - low) / span) * (width - 12);
  for (const tick of ticks(low, high, step)) {
    const words = isTime ? duration(tick) : number((Math.round((tick / step) * 1e6) / 1e6) * step);
    const anchor = x(tick) < 24 ? "start" : x(tick) > width - 24 ? "end" : "middle";
    const place = anchor === "start" ? 2 : anchor === "end" ? width - 2 : x(tick);
    made.append(text(words, place, height - 6, anchor));
    rows.forEach((_, k) => {
      made.append(line(x(tick), k * ROW + 24, x(tick), k * ROW + 35, "grid"));
    });
  }
  rows.forEach(({ label, value, place, middle, low: from, high: to }, k) => {
    const y = k * ROW + 29;
    heading(made, width, k * ROW + 15, label, value);
    made.append(line(6, y, width - 6, y, "grid"));
    if (mark !== null) made.append(line(x(mark), y - 7, x(mark), y + 7, "mark"));
    if (middle === null) return;
    if (from !== null) {
      made.append(line(x(from), y, x(to ?? high), y, `interval ${look(place)}`));
      for (const end of to === null ? [from] : [from, to]) {
        made.append(line(x(end), y - 5, x(end), y + 5, `cap ${look(place)}`));
      }
    }
    made.append(svg("circle", { cx: x(middle), cy: y, r: 4.5, class: `dot ${look(place)}` }));
  });
  return made;
}

/** Counts of the last seconds as thin bars. */
export function tempo(width, counts, about) {
  const height = 130,
    left = 44,
    bottom = 24,
    top = 8,
    made = sheet(width, height, about);
  const peak = Math.max(1, ...counts),
    step = Math.max(1, nice(peak, 3));
  const high = Math.ceil(peak / step) * step;
  const y = value => height - bottom - (value / high) * (height - bottom - top);
  for (const tick of ticks(0, high, step)) {
    made.append(line(left, y(tick), width - 4, y(tick), "grid"));
    made.append(text(number(tick), left - 6, y(tick) + 4, "end"));
  }
  const slot = (width - left - 4) / counts.length;
  counts.forEach((value, k) => {
    if (value === 0) return;
    const bar = { x: left + k * slot + 0.5, y: y(value), width: Math.max(1, slot - 1) };
    made.append(svg("rect", { ...bar, height: y(0) - y(value), class: "bar hue0" }));
  });
  made.append(text("1 min ago", left, height - 6), text("now", width - 4, height - 6, "end"));
  return made;
}

/** The small sample of a line that a legend shows. */
export function sample(place) {
  const made = svg("svg", { width: 28, height: 10, "aria-hidden": "true" });
  made.append(svg("path", { d: "M1 5L27 5", class: `line ${look(place)}` }));
  return made;
}
