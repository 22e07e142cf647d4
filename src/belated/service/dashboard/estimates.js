// Which arms are drawn, and estimates with their intervals, made ready for chart and table.

const MOST_DRAWN = 12;

/** The name of an arm, of those that there are and those that were removed. */
export function nameOf(stats, place) {
  const { arm, removed } = stats.by_arm[place];
  return removed ? `${arm} (removed)` : arm;
}

/** The weight of an arm now. */
export function weightOf(stats, place) {
  const { arm, removed } = stats.by_arm[place];
  return removed ? 0 : stats.weights[arm];
}

/** How outcomes are told: their name, and the number that a loss stands for. */
export function asTold(stats) {
  const [low, high] = stats.loss_range;
  return stats.told_as === "reward"
    ? { word: "reward", name: "Reward", of: loss => low + high - loss }
    : { word: "loss", name: "Loss", of: loss => loss };
}

/** The places of the arms that are drawn: all, or those of which something is largest. */
export function largest(stats, size) {
  const places = stats.by_arm.map((_, place) => place);
  if (places.length <= MOST_DRAWN) return places;
  return places
    .sort((a, b) => size(b) - size(a))
    .slice(0, MOST_DRAWN)
    .sort((a, b) => a - b);
}

/** An estimate as two cells of a table; what has no end yet is open. */
export function cells({ middle, low, high }, words) {
  if (middle === null) return ["–", "–"];
  if (low === null) return [words(middle), "–"];
  return [words(middle), high === null ? `from ${words(low)}` : `${words(low)} to ${words(high)}`];
}

/** A sentence for those who do not see the chart. */
export function told(what, rows) {
  return `${what} with intervals: ${rows.map(row => `${row.label} ${row.value}`).join("; ")}`;
}

/** The part of the axis that the intervals need, within its ends. */
export function domain(rows, least, most) {
  const known = rows.filter(row => row.middle !== null);
  if (known.length === 0)
    return { low: Number.isFinite(least) ? least : 0, high: Number.isFinite(most) ? most : 1 };
  let low = Math.min(...known.map(row => row.low ?? row.middle));
  let high = Math.max(...known.map(row => row.high ?? row.middle));
  const room = 0.08 * (high - low) || 0.05 * Math.abs(high) || 0.5;
  ((low = Math.max(least, low - room)), (high = Math.min(most, high + room)));
  return high > low
    ? { low, high }
    : { low: least, high: Number.isFinite(most) ? most : least + 1 };
}
