// What a contextual learner believes of each feature, for each arm.

import * as charts from "./charts.js";
import { asTold, cells, domain, nameOf } from "./estimates.js";
import { count, number, percent, spread } from "./formatting.js";

const MOST_DRAWN = 8,
  LEAST_SEEN = 0.002; // a smaller share has no width

/** An interval in what outcomes are told as; an effect has no zero to move. */
function turned({ effect, low, high }, isLoss) {
  return isLoss ? { middle: -effect, low: -high, high: -low } : { middle: effect, low, high };
}

/** The part of the axis that all intervals need, with zero in it. */
function axis(rows) {
  const low = Math.min(0, ...rows.map(row => row.low)),
    high = Math.max(0, ...rows.map(row => row.high));
  const room = 0.06 * (high - low) || 0.5;
  return { low: low - room, high: high + room, mark: 0 };
}

/** Predicted and true rewards of plays; nothing for learners that predict none. */
export function showCalibration(panels, found, stats) {
  const bins = found?.calibration ?? [];
  panels.parts["calibration-figure"].hidden = bins.length === 0;
  if (bins.length === 0) return;
  const { word } = asTold(stats),
    [least, most] = stats.loss_range;
  const of = reward => (word === "loss" ? least + most - reward : reward);
  const rows = bins.map(({ foretold, reward, low, high, plays }) => {
    const ends = low === null ? [null, null] : [of(low), of(high)].sort((a, b) => a - b);
    const label = `predicted ${number(of(foretold))}`,
      value = `was ${number(of(reward))}, ${count(plays, "play")}`;
    return { place: 0, label, value, plays, middle: of(reward), low: ends[0], high: ends[1] };
  });
  const words = rows.map(row => `${row.label} ${row.value}`).join("; ");
  panels.chart("calibration", rows, width =>
    charts.intervals(width, rows, domain(rows, least, most), `Predicted and true ${word}: ${words}`),
  );
  panels.note(
    "calibration",
    `The ${word} that the learner predicted for plays when it made the decisions, and their mean ${word} with its 95 % interval. ` +
      "Only plays that are told or expired count; the two should be close.",
  );
  panels.table(
    "calibration",
    `Predicted and true ${word}`,
    ["Predicted", "True", "95 % interval", "Plays"],
    rows.map(row => [row.label.slice(10), ...cells(row, number), number(row.plays)]),
  );
}

/** What would be drawn for each segment; nothing for other learners. */
export function showSegments(panels, found, stats) {
  const all = found?.segments ?? [];
  panels.parts["segments-figure"].hidden = all.length === 0;
  if (all.length === 0) return;
  const places = stats.by_arm.map((_, place) => place).filter(place => !stats.by_arm[place].removed);
  const share = (weights, place) => {
    const { arm } = stats.by_arm[place];
    return Object.hasOwn(weights, arm) ? weights[arm] : 0;
  };
  const rows = all.map(({ segment, weights }) => {
    const first = [...places].sort((a, b) => share(weights, b) - share(weights, a))[0];
    const parts = places
      .map(place => [place, share(weights, place)])
      .filter(([, drawn]) => drawn >= LEAST_SEEN)
      .map(([place, drawn]) => {
        const title = `${segment}: ${nameOf(stats, place)} ${percent(drawn)}`;
        return { count: drawn, kind: charts.look(place), title };
      });
    return { label: segment, value: `${nameOf(stats, first)} ${percent(share(weights, first))}`, parts };
  });
  const drawn = rows.slice(0, MOST_DRAWN),
    words = drawn.map(row => `${row.label} ${row.value}`).join("; ");
  panels.chart("segments", drawn, width => charts.bars(width, drawn, `Most likely arms: ${words}`));
  panels.note(
    "segments",
    "How likely each arm would be drawn now, in its colour, if only this were known of a decision. " +
      "A number is low or high if it is one standard deviation below or above its mean. " +
      `${drawn.length < rows.length ? "The table has more of them." : "The table has all arms."}`,
  );
  panels.table(
    "segments",
    "Weights by segment",
    ["Segment", ...places.map(place => nameOf(stats, place))],
    all.map(({ segment, weights }) => [
      segment,
      ...places.map(place => percent(share(weights, place))),
    ]),
  );
}

/** The effects that are surest, drawn; all of them in the table. Nothing for other learners. */
export function showBeliefs(panels, found, stats) {
  panels.parts["beliefs-figure"].hidden = !found?.arms;
  if (!found?.arms) return;
  const { word } = asTold(stats),
    isLoss = word === "loss";
  const place = name => stats.by_arm.findIndex(({ arm }) => arm === name);
  const rows = found.arms.flatMap(({ arm, effects }) =>
    effects.map(effect => {
      const shown = turned(effect, isLoss);
      const value = spread(shown.middle, (shown.high - shown.low) / 2);
      return { arm, place: place(arm), label: `${effect.feature}, ${arm}`, value, ...shown };
    }),
  );
  const surety = row => Math.abs(row.middle) / Math.max(1e-12, row.high - row.low);
  const drawn = [...rows].sort((a, b) => surety(b) - surety(a)).slice(0, MOST_DRAWN);
  const words = drawn.map(row => `${row.label} ${row.value}`).join("; ");
  panels.chart("beliefs", drawn, width =>
    charts.intervals(width, drawn, axis(drawn), `Effects on the ${word}: ${words}`),
  );
  const more = found.features > (found.arms[0]?.effects.length ?? 0);
  panels.note(
    "beliefs",
    `How much the ${word} of an arm changes if a number is one standard deviation larger, or if a category is present, with a 95 % interval. ` +
      "If an interval contains zero, the upright line, the effect is not certain yet. " +
      `These are the ${number(drawn.length)} surest; the table has ${more ? "more" : "all"} of them.`,
  );
  panels.table(
    "beliefs",
    `Effects on the ${word}`,
    ["Feature", "Arm", "Effect", "95 % interval"],
    rows.map(row => [row.label.slice(0, -row.arm.length - 2), row.arm, ...cells(row, number)]),
  );
}
