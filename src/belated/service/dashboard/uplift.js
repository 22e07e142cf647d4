// What the learner has earned more than the control of a holdout, valid at every look.

import * as charts from "./charts.js";
import { cells } from "./estimates.js";
import { count, duration, number, percent } from "./formatting.js";

const MOST_DAYS = 7; // that are drawn; the table has all

const shown = ({ value, low, high }) => ({ middle: value, low, high });

function inWords({ value, low, high }) {
  if (value === null) return "nothing counts yet";
  return low === null ? number(value) : `${number(value)} (${number(low)} to ${number(high)})`;
}

/** The part of the axis that all intervals need, with zero in it. */
function axis(rows) {
  const ends = rows.flatMap(row => [row.low ?? 0, row.high ?? 0, row.middle ?? 0]);
  const low = Math.min(0, ...ends),
    high = Math.max(0, ...ends),
    room = 0.06 * (high - low) || 0.5;
  return { low: low - room, high: high + room, mark: 0 };
}

/** The uplift in all and by day; nothing for problems without a holdout. */
export function showUplift(panels, found) {
  panels.parts["uplift-figure"].hidden = found === null;
  if (found === null) return;
  const { uplift, days, treatment, control } = found;
  const all = { place: 0, label: "All decisions", value: inWords(uplift), ...shown(uplift) };
  const byDay = days.slice(-MOST_DAYS).map(each => {
    return { place: null, label: each.day, value: inWords(each), ...shown(each) };
  });
  const rows = byDay.length > 1 ? [all, ...byDay] : [all];
  panels.chart("uplift", rows, width =>
    charts.intervals(
      width,
      rows,
      axis(rows),
      `Uplift: ${rows.map(row => `${row.label} ${row.value}`).join("; ")}`,
    ),
  );
  panels.note("uplift", `${verdict(found)} ${basis(found)}`);
  const mean = value => (value === null ? "–" : number(value));
  panels.table(
    "uplift",
    "Uplift by day",
    ["Day", "Uplift", "95 % interval", "Learner’s mean", "Control’s mean", "Decisions"],
    [
      ["All", ...cells(shown(uplift), number), mean(treatment.mean), mean(control.mean), number(found.decisions)],
      ...days.map(each => [
        each.day,
        ...cells(shown(each), number),
        mean(each.treatment),
        mean(each.control),
        number(each.decisions),
      ]),
    ],
  );
}

/** What can be said now, in a sentence. */
function verdict({ uplift: { value, low, high, relative }, control_arm: arm, control_weights: weights }) {
  const how = weights === null ? "which draws uniformly" : "which draws by fixed weights";
  const against = `the control, ${arm ?? how}`;
  if (value === null || low === null) return `Nothing can be said yet against ${against}.`;
  if (low <= 0 && high >= 0) return `It is not certain yet whether the learner earns more than ${against}.`;
  const part = relative === null ? "" : `, which is ${percent(Math.abs(relative))} of what the control earns`;
  return `The learner earns ${number(Math.abs(value))} a decision ${value > 0 ? "more" : "less"} than ${against}${part}.`;
}

/** What the numbers rest on. */
function basis({ share, decisions, waiting, within, level }) {
  const silence = within === null ? "when its ticket expires" : `${duration(within)} after it was made`;
  return (
    `The control draws ${percent(share)} of the decisions. The intervals hold with ${percent(level)} at every look. ` +
    `${count(decisions, "decision")} ${decisions === 1 ? "counts" : "count"}, ${number(waiting)} not yet; one that is not told counts as silent ${silence}. Of all time.`
  );
}
