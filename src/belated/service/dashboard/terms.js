// The fields about expiry, which a new problem and a change of terms have both.

import { choice, Field, input, numberIn } from "./forms.js";

const UNITS = [
  ["1", "seconds"],
  ["60", "minutes"],
  ["3600", "hours"],
  ["86400", "days"],
];

/** The largest unit in which so many seconds are a whole number. */
function unitOf(seconds) {
  return [...UNITS].reverse().find(([size]) => seconds % Number(size) === 0)?.[0] ?? "1";
}

/** The three fields; with terms that are in force, they show these. */
export function termFields(terms = {}) {
  const unit = choice(UNITS, { "aria-label": "Unit of the time" });
  const seconds = input({ inputmode: "decimal" });
  if (terms.expire_seconds !== undefined && terms.expire_seconds !== null) {
    unit.value = unitOf(terms.expire_seconds);
    seconds.value = terms.expire_seconds / Number(unit.value);
  }
  const rounds = input({ inputmode: "numeric", value: terms.expire_after ?? "" });
  const loss = input({ inputmode: "decimal", value: terms.default_loss ?? "" });
  const time = () => {
    const found = numberIn(seconds.value);
    return typeof found === "number" ? found * Number(unit.value) : found;
  };
  return [
    new Field("expire_seconds", "Expire after a time", seconds, {
      hint: "Tickets without an outcome by then expire. Empty: they do not.",
      read: time,
      beside: [unit],
    }),
    new Field("expire_after", "Expire after a number of decisions", rounds, {
      hint: "Counted from the ticket’s own decision. Empty: no such number.",
      read: () => numberIn(rounds.value),
    }),
    new Field("default_loss", "Loss without an outcome", loss, {
      hint: "In the problem’s units. The reward that it stands for is low + high − loss.",
      read: () => numberIn(loss.value),
    }),
  ];
}
