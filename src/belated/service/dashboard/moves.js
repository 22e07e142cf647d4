// Why the weights moved: the largest changes, and what happened meanwhile.

import { fill, html } from "./elements.js";
import { asTold } from "./estimates.js";
import { clock, count, moment, number, percent } from "./formatting.js";

const MOST_REASONS = 3;
const CHANGES = {
  arms: note => `arms changed: ${note.what}`,
  terms: note => `the terms became ${note.what}`,
  paused: () => "the problem was paused",
  resumed: () => "the problem was resumed",
  archived: () => "the problem was archived",
};

/** How far the outcomes of an arm differed from its usual ones, times how many there were. */
function surprise({ told, told_mean: mean, expired, expired_mean: silent, usual_mean: usual }) {
  if (usual === null) return 0;
  return Math.abs((told ? told * (mean - usual) : 0) + (expired ? expired * (silent - usual) : 0));
}

/** What came of an arm, in words. */
function outcomes(arm, { word, of }) {
  const parts = [];
  if (arm.told > 0)
    parts.push(`${count(arm.told, "outcome")} with mean ${word} ${number(of(arm.told_mean))}`);
  if (arm.expired > 0)
    parts.push(`${number(arm.expired)} given up with ${word} ${number(of(arm.expired_mean))}`);
  const usual = arm.usual_mean === null ? "" : ` (usually ${number(of(arm.usual_mean))})`;
  return `${arm.arm}: ${parts.join(" and ")}${usual}`;
}

/** From where to where the weights of the arms went that changed most. */
function shifts(arms) {
  const change = arm => arm.after - arm.before;
  const rising = arms.reduce((best, arm) => (change(arm) > change(best) ? arm : best));
  const falling = arms.reduce((best, arm) => (change(arm) < change(best) ? arm : best));
  const words = arm => `${arm.arm} went from ${percent(arm.before)} to ${percent(arm.after)}`;
  return [rising, falling].filter((arm, k) => k === 0 || arm !== rising).map(words).join(", ");
}

/** The time of a move, as exactly as is needed. */
function span({ begin, end }) {
  const [first, last] = [moment(begin), moment(end)];
  const isSameDay = clock(begin, 86400) === clock(end, 86400);
  return `${first} to ${isSameDay && first.includes(",") ? clock(end) : last}`;
}

function reasons(move, told) {
  const found = move.notes.map(note => (CHANGES[note.kind] ?? (each => each.kind))(note));
  const arms = move.arms.filter(arm => arm.told + arm.expired > 0);
  arms.sort((a, b) => surprise(b) - surprise(a));
  found.push(...arms.slice(0, MOST_REASONS).map(arm => outcomes(arm, told)));
  if (found.length === 0) found.push("no outcome arrived; outstanding plays grew older");
  if (!move.complete) found.push("only the first of many events were read");
  return found;
}

/** The list of moves; `found` is null until they are known. */
export function showMoves(element, found, stats) {
  if (found === null) return;
  const told = asTold(stats);
  fill(element, [found, told.word], () =>
    found.length === 0
      ? html("p", {}, "No weight has changed much in this time.")
      : html(
          "ol",
          { class: "moves" },
          ...found.map(move =>
            html(
              "li",
              {},
              html("strong", {}, `${span(move)}: ${shifts(move.arms)}.`),
              html("ul", {}, ...reasons(move, told).map(words => html("li", {}, words))),
            ),
          ),
        ),
  );
}
