// What each arm brings in the end, with what is still awaited allowed for.

import * as charts from "./charts.js";
import { asTold, cells, domain, nameOf, told } from "./estimates.js";
import { count, number, RANGES } from "./formatting.js";

const LETTER = 6.8, // px
  LABEL = 14; // letters of an arm that must have room beside what an estimate rests on

/** The value of an arm with its interval, in what outcomes are told as. */
function valueOf({ value: { mean, low, high } }, of) {
  if (mean === null) return { middle: null, low: null, high: null };
  if (low === null) return { middle: of(mean), low: null, high: null };
  const ends = [of(low), of(high)];
  return { middle: of(mean), low: Math.min(...ends), high: Math.max(...ends) };
}

/** How many outcomes an estimate rests on. */
function basis({ told, expired, waiting }) {
  const parts = [`${number(told)} told`];
  if (expired > 0) parts.push(`${number(expired)} expired`);
  if (waiting > 0) parts.push(`${number(Math.round(waiting))} outstanding`);
  return parts.join(", ");
}

/** An estimate with its interval, as short as a phone needs it. */
function inWords({ middle, low, high }) {
  if (middle === null) return "nothing told yet";
  if (low === null) return number(middle);
  return `${number(middle)} (${low === high ? "all alike" : `${number(low)} to ${number(high)}`})`;
}

function hasRoom(rows, width) {
  return rows.every(
    ({ label, value }) => LETTER * (Math.min(LABEL, label.length) + value.length) + 30 < width,
  );
}

/** The value of every arm, drawn and told in words. */
export function values(panels, stats, arms) {
  const [low, high] = stats.loss_range,
    { word, name, of } = asTold(stats),
    all = stats.range.by_arm;
  const rows = arms.map(place => {
    const found = valueOf(all[place], of);
    return { place, label: nameOf(stats, place), value: inWords(found), ...found };
  });
  const full = rows.map(row => ({ ...row, value: `${row.value}, ${basis(all[row.place])}` }));
  panels.title("values", `${name} of a play, in the end`);
  panels.chart("values", full, width =>
    charts.intervals(
      width,
      hasRoom(full, width) ? full : rows,
      domain(rows, low, high),
      told(`${name} in the end`, full),
    ),
  );
  panels.note("values", `${meaning(stats, word, of)} ${RANGES[stats.range.name]}`);
  const isAll = stats.range.name === "all";
  const rare = isAll ? ["Their mean", "Told too late", "Their mean"] : [];
  panels.table(
    "values",
    `${name} in the end`,
    ["Arm", "In the end", "95 % interval", "Of those closed", "Awaited", "Expired", "Told", ...rare],
    stats.by_arm.map((arm, place) => {
      const here = all[place],
        mean = loss => (loss === null ? "–" : number(of(loss)));
      const late = isAll
        ? [mean(arm.told_loss.mean), number(arm.late_loss.count), mean(arm.late_loss.mean)]
        : [];
      return [
        nameOf(stats, place),
        ...cells(valueOf(here, of), number),
        mean(here.closed_mean),
        number(Math.round(here.waiting)),
        number(here.expired),
        number(here.told),
        ...late,
      ];
    }),
  );
}

/** What the numbers mean, in words. */
function meaning(stats, word, of) {
  const silent =
    stats.default_loss === null
      ? "plays that are never told count like those that are"
      : `silence counts as ${word} ${number(of(stats.default_loss))}`;
  return (
    `The mean ${word} of a play once its outcome is known, with its 95 % interval. ` +
    `An outstanding play counts as plays of its age have turned out so far (Kaplan-Meier); ${silent}. ` +
    "So an arm is not judged by its fast outcomes alone." +
    outside(stats)
  );
}

/** How many outcomes lay out of a soft range, if any did. */
function outside(stats) {
  const found = clipped(stats, "count");
  if (found === 0) return "";
  return ` ${count(found, "outcome")} of all time lay out of the soft range and count as its end.`;
}

/** What was earned or lost so far, and with what is awaited; null for experts. */
export function totals(stats) {
  if (stats.kind !== "bandit") return null;
  const { name, of } = asTold(stats);
  let closed = 0,
    end = 0,
    awaited = 0;
  for (const arm of stats.range.by_arm) {
    const finished = arm.told + arm.expired;
    if (finished > 0) closed += finished * of(arm.closed_mean);
    if (arm.value.mean !== null) end += (finished + arm.waiting) * of(arm.value.mean);
    awaited += arm.waiting;
  }
  if (stats.range.name === "all") {
    const excess = clipped(stats, "above") + clipped(stats, "below");
    closed += excess; // the true sum, also of what lay out of a soft range
    end += excess;
  }
  const more = `about ${number(round(end))} with ${count(awaited, "play")} outstanding`;
  return [`${name}s`, number(round(closed)), awaited > 0 ? more : "of all plays told or expired"];
}

/** What was told out of a soft range, of all arms: "count", or the sums "above" and "below". */
function clipped(stats, field) {
  return stats.by_arm.reduce((total, arm) => total + arm.clipped[field], 0);
}

function round(value) {
  return Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4));
}

