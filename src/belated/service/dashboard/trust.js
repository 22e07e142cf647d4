// Certified trust: whether the coming round is trusted, and each arm's account against the budget.

import * as charts from "./charts.js";
import { nameOf } from "./estimates.js";
import { number, percent } from "./formatting.js";

/** The part of the axis from the least account, or 0, to the budget or an account above it. */
function span(values, budget) {
  const low = Math.min(0, ...values),
    high = Math.max(budget, ...values);
  return { low, high: high > low ? high : low + 1, mark: budget };
}

/** The account of every arm and the budget; nothing for learners that are not certified. */
export function trust(panels, stats, arms) {
  const known = stats.trust;
  panels.parts["trust-figure"].hidden = known === null;
  if (known === null) return;
  const row = place => {
    const label = nameOf(stats, place);
    if (stats.by_arm[place].removed) return { place, label, value: "–", middle: null };
    const middle = known.account[stats.by_arm[place].arm];
    return { place, label, value: number(middle), middle, low: null, high: null };
  };
  const rows = arms.map(row),
    budget = number(known.budget),
    share = percent(known.rounds === 0 ? 1 : known.trusted_rounds / known.rounds);
  const values = Object.values(known.account);
  const words = rows.map(each => `${each.label} ${each.value}`).join("; ");
  panels.chart("trust", [rows, known.budget], width =>
    charts.intervals(
      width,
      rows,
      span(values, known.budget),
      `The account of each arm: ${words}; the budget is ${budget}`,
    ),
  );
  panels.note(
    "trust",
    `${known.trusted ? "The coming round is trusted." : "The fallback plays the coming round."} ` +
      `${share} of ${number(known.rounds)} rounds were trusted so far. ` +
      `A round is trusted while no arm’s account is above the budget, ${budget}, the upright line. ` +
      "What the trusted rounds cost against an arm is at most its account, in expectation.",
  );
  panels.table(
    "trust",
    "Certified trust",
    ["Arm", "Account", "Budget", "Left"],
    stats.by_arm
      .filter(({ removed }) => !removed)
      .map(({ arm }) => [
        arm,
        number(known.account[arm]),
        budget,
        number(known.budget - known.account[arm]),
      ]),
  );
}
