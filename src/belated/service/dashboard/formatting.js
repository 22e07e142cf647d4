// Numbers, times and sentences in plain words.

const UNITS = [
  ["d", 86400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
];

/** The ranges of time, and what a note says of each. */
export const RANGES = {
  hour: "Of decisions of the last hour.",
  day: "Of decisions of the last day.",
  week: "Of decisions of the last week.",
  all: "Of all decisions.",
};

/** 1234567 as 1,234,567; fractions with three digits that count. */
export function number(value) {
  if (Number.isInteger(value)) return value.toLocaleString("en");
  const digits =
    Math.abs(value) >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 };
  return value.toLocaleString("en", digits);
}

/** A share as a percentage; small ones are not called zero. */
export function percent(share) {
  if (share > 0 && share < 0.001) return "< 0.1 %";
  const digits = share < 0.1 || share > 0.99 ? 1 : 0;
  return `${(100 * share).toLocaleString("en", { maximumFractionDigits: digits })} %`;
}

/** Seconds in the unit that suits them: 90 ms, 4 s, 3 h 20 min. */
export function duration(seconds) {
  if (seconds < 0) return "0 s"; // the lower end of an interval
  if (seconds < 1) return seconds === 0 ? "0 s" : `${Math.max(1, Math.round(1000 * seconds))} ms`;
  if (seconds < 10) return `${number(Math.round(10 * seconds) / 10)} s`;
  const rounded = Math.round(seconds);
  const place = UNITS.findIndex(([, size]) => rounded >= size);
  const [unit, size] = UNITS[place];
  if (size === 1) return `${rounded} s`;
  const whole = Math.floor(rounded / size);
  const [lesser, part] = UNITS[place + 1];
  const rest = Math.floor((rounded - whole * size) / part);
  return whole >= 10 || rest === 0
    ? `${number(whole)} ${unit}`
    : `${whole} ${unit} ${rest} ${lesser}`;
}

/** A mean and half the width of its interval, with the digits that mean something. */
export function spread(mean, half) {
  if (half === 0) return number(mean);
  const digits = Math.min(12, Math.max(0, 1 - Math.floor(Math.log10(half))));
  const wanted = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return `${mean.toLocaleString("en", wanted)} ± ${half.toLocaleString("en", wanted)}`;
}

/** 1 outcome, 12 outcomes. */
export function count(value, one, many = `${one}s`) {
  return `${number(value)} ${value === 1 ? one : many}`;
}

/** A time of day, with seconds or with the day where that is what tells times apart. */
export function clock(at, step = 60) {
  const time = new Date(1000 * at);
  if (step >= 86400) return time.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  const wanted = { hour: "2-digit", minute: "2-digit" };
  return time.toLocaleTimeString("en-GB", step < 60 ? { ...wanted, second: "2-digit" } : wanted);
}

/** The day and the time. */
export function moment(at) {
  const isToday = new Date(1000 * at).toDateString() === new Date().toDateString();
  return isToday ? clock(at, 1) : `${clock(at, 86400)}, ${clock(at)}`;
}

/** A long name, cut to fit beside a number. */
export function short(name, most) {
  const letters = [...name];
  return letters.length <= most ? name : `${letters.slice(0, Math.max(1, most - 1)).join("")}…`;
}

/** What a problem waits for. */
export function waiting(tickets, oldest) {
  if (tickets === 0) return "No outcome is outstanding";
  const age = oldest === null ? "" : `, the oldest for ${duration(oldest)}`;
  return `Waiting for ${count(tickets, "outcome")}${age}`;
}

/** The ages that a column of waiting tickets stands for. */
export function ages(edges) {
  const names = edges.map(duration);
  const between = names.slice(1).map((name, k) => `${names[k]} to ${name}`);
  return [`under ${names[0]}`, ...between, `over ${names.at(-1)}`];
}
