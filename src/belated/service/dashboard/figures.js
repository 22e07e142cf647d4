// The figures of a problem: each fills its chart, its legend, its note and its table.

import * as charts from "./charts.js";
import { fill, html, table } from "./elements.js";
import { asTold, cells, domain, largest, nameOf, told, weightOf } from "./estimates.js";
import {
  ages,
  count,
  duration,
  moment,
  number,
  percent,
  short,
} from "./formatting.js";

const MOST_TIMES = 6; // columns of the table of weights
const KINDS = {
  decided: "Decided",
  told: "Told",
  expired: "Expired",
  cancelled: "Cancelled",
  late: "Told too late",
  paused: "Paused",
  resumed: "Resumed",
  archived: "Archived",
  created: "Created",
  arms: "Arms changed",
  terms: "Terms changed",
};

/** Weight on every arm over time. */
export function weights(panels, stats, arms) {
  const { at, weights } = stats.weights_over_time;
  const now = stats.by_arm.map((_, place) => weightOf(stats, place));
  const rows = [...weights, now],
    times = [...at, Math.max(stats.at, at.at(-1) ?? 0)];
  if (times.length === 1) {
    rows.unshift(now);
    times.unshift(Math.min(stats.range.since, times[0] - 1));
  }
  const series = arms.map(place => ({ place, values: rows.map(row => row[place]) }));
  if (arms.length < stats.by_arm.length) {
    const kept = k => series.reduce((sum, each) => sum + each.values[k], 0);
    series.push({ place: null, values: rows.map((_, k) => Math.max(0, 1 - kept(k))) });
  }
  const name = place =>
    place === null
      ? count(stats.by_arm.length - arms.length, "other arm")
      : nameOf(stats, place);
  const legend = series.map(({ place, values }) => [place, name(place), percent(values.at(-1))]);
  const about = `Lines over time; now ${legend.map(([, arm, share]) => `${arm} ${share}`).join(", ")}`;
  panels.chart("weights", [times, series], width => charts.lines(width, times, series, about));
  fill(panels.parts["weights-legend"], legend, () =>
    legend.map(([place, arm, share]) =>
      html(
        "li",
        {},
        charts.sample(place),
        html("span", { title: arm }, short(arm, 40)),
        html("strong", {}, share),
      ),
    ),
  );
  panels.note(
    "weights",
    meaningOfWeights(stats, panels.reasons.beliefs),
  );
  const step = Math.max(1, Math.floor((times.length - 1) / (MOST_TIMES - 1)));
  const picked = times.map((_, k) => k).filter(k => (times.length - 1 - k) % step === 0);
  panels.table(
    "weights",
    "Weights",
    ["Arm", ...picked.map(k => moment(times[k]))],
    now.map((_, place) => [nameOf(stats, place), ...picked.map(k => percent(rows[k][place]))]),
  );
}

function meaningOfWeights({ kind }, beliefs) {
  if (kind !== "bandit") return "How much each expert counts now, and did at earlier times.";
  return beliefs?.arms
    ? "How likely each arm would be drawn without a context, now and at earlier times. With one it may be quite different."
    : "How likely each arm is to be drawn next, and was at earlier times.";
}

/** What is waited for, by arm and age. */
export function waits(panels, stats) {
  const { age_seconds: edges, by_arm: found, oldest_seconds: oldest } = stats.waiting;
  const names = ages(edges),
    total = numbers => numbers.reduce((sum, each) => sum + each, 0);
  const counts = name => (Object.hasOwn(found, name) ? found[name] : names.map(() => 0));
  const row = (label, name) => {
    const numbers = counts(name);
    const age = Object.hasOwn(oldest, name) ? `, oldest ${duration(oldest[name])}` : "";
    const parts = numbers.map((number_, k) => ({
      count: number_,
      kind: `age${k}`,
      title: `${label}: ${number(number_)}, ${names[k]}`,
    }));
    return { label, value: number(total(numbers)) + age, parts };
  };
  const unanswered = place => {
    const { decided, told, expired, cancelled } = stats.by_arm[place];
    return Math.max(0, decided - told - expired - cancelled);
  };
  const plain = place => {
    const label = nameOf(stats, place),
      parts = [{ count: unanswered(place), kind: "others", title: label }];
    return { label, value: number(unanswered(place)), parts };
  };
  const arms = largest(stats, unanswered);
  const rows =
    stats.kind === "bandit"
      ? arms.map(place => row(nameOf(stats, place), stats.by_arm[place].arm))
      : [row("Tickets not fully told", ""), ...arms.map(plain)];
  const about = `Bars: ${rows.map(each => `${each.label} ${each.value}`).join("; ")}`;
  panels.chart("waits", rows, width => charts.bars(width, rows, about));
  fill(panels.parts["waits-legend"], names, () =>
    names.map((name, k) => html("li", {}, html("i", { class: `age${k}` }), html("span", {}, name))),
  );
  panels.note("waits", "Decisions without an outcome so far.");
  const listed =
    stats.kind === "bandit"
      ? stats.by_arm.map(({ arm }, place) => [nameOf(stats, place), arm])
      : [["all", ""]];
  panels.table(
    "waits",
    "Tickets that wait",
    ["Arm", "All", "Oldest", ...names],
    listed.map(([label, arm]) => {
      const numbers = counts(arm);
      return [
        label,
        number(total(numbers)),
        Object.hasOwn(oldest, arm) ? duration(oldest[arm]) : "–",
        ...numbers.map(number),
      ];
    }),
  );
}

/** Median delays with their intervals. */
export function delays(panels, stats, arms) {
  const shown = ({ delay_seconds: delay }) => ({
    middle: delay.median,
    low: delay.median_low,
    high: delay.median_high,
  });
  const words = ({ delay_seconds: delay }) => {
    if (delay.told === 0) return "nothing told yet";
    if (delay.median === null)
      return `fewer than half: ${percent(delay.told_share)} within ${duration(delay.watched)}`;
    return `half within ${duration(delay.median)}, ${percent(delay.told_share)} within ${duration(delay.watched)}`;
  };
  const rows = arms.map(place => {
    const arm = stats.by_arm[place];
    return { place, label: nameOf(stats, place), value: words(arm), ...shown(arm) };
  });
  const range = { ...domain(rows, 0, Infinity), low: 0, isTime: true };
  panels.chart("delays", rows, width =>
    charts.intervals(width, rows, range, told("Median delays", rows)),
  );
  panels.note(
    "delays",
    "Time within which half of all plays are told, with its 95 % confidence interval. " +
      "Outstanding and expired plays count for the time they waited (Kaplan-Meier), so slow arms do not look fast. " +
      "Of all decisions.",
  );
  const shares = ["0.25", "0.5", "0.75", "0.9"];
  const time = seconds => (seconds === null ? "–" : duration(seconds));
  panels.table(
    "delays",
    "Delays: the time within which so many of all plays are told",
    [
      "Arm",
      ...shares.map(share => percent(Number(share))),
      "95 % interval of half",
      "Told at most",
      "Within",
      "Mean rounds of those told",
    ],
    stats.by_arm.map((arm, place) => {
      const delay = arm.delay_seconds;
      return [
        nameOf(stats, place),
        ...shares.map(share => time(delay.quantiles[share])),
        cells(shown(arm), duration)[1],
        delay.told_share === null ? "–" : percent(delay.told_share),
        time(delay.watched),
        arm.delay_rounds.mean === null ? "–" : number(arm.delay_rounds.mean),
      ];
    }),
  );
}

/** Decisions of the last minute. */
export function tempo(panels, stats) {
  const counts = stats.decisions_of_last_minute,
    rate = number(stats.decisions_per_second);
  panels.chart("tempo", counts, width =>
    charts.tempo(width, counts, `Bars; ${rate} decisions a second on average`),
  );
  panels.note("tempo", `${rate} a second over the last minute.`);
  const rows = Array.from({ length: 6 }, (_, k) => [
    `${60 - 10 * k} to ${50 - 10 * k} s ago`,
    number(counts.slice(10 * k, 10 * k + 10).reduce((sum, each) => sum + each, 0)),
  ]);
  panels.table("tempo", "Decisions of the last minute", ["When", "Decisions"], rows);
}

/** The last events. */
export function events(panels, stats) {
  const { word, of } = asTold(stats);
  const value = ({ probability, loss, reward }) => {
    if (probability !== null) return `probability ${number(probability)}`;
    if (loss === null) return "";
    return reward !== null ? `reward ${number(reward)}` : `${word} ${number(of(loss))}`;
  };
  const rows = stats.events.map(event => [
    moment(event.at),
    KINDS[event.kind] ?? event.kind,
    event.arm ?? "",
    value(event),
    event.ticket,
  ]);
  fill(panels.parts.events, rows, () =>
    rows.length === 0
      ? html("p", {}, "Nothing has happened yet.")
      : table("The latest first", ["Time", "What", "Arm", "Value", "Ticket"], rows),
  );
}
