// One problem on the page: its parts are made once, then only what has changed is put into them.

import { fill, html, table } from "./elements.js";
import { showBeliefs, showCalibration, showSegments } from "./beliefs.js";
import { asTold, largest, weightOf } from "./estimates.js";
import * as figures from "./figures.js";
import { Manage } from "./manage.js";
import { showMoves } from "./moves.js";
import { trust } from "./trust.js";
import { showUplift } from "./uplift.js";
import { totals, values } from "./values.js";
import { clock, count, duration, moment, number, waiting } from "./formatting.js";

const RANGES = [
  ["hour", "Last hour"],
  ["day", "Last day"],
  ["week", "Last week"],
  ["all", "All time"],
];

/** The parts of a problem's page; `chosen` is the range of time, `choose` is told another. */
export class Panels {
  constructor(article, name, { changed, chosen, choose }) {
    this.parts = {};
    this.reasons = { moves: null, beliefs: null, uplift: null };
    this.manage = new Manage(name, changed);
    article.replaceChildren(
      html("h2", {}, this.part("span", "name"), " ", this.part("small", "state")),
      this.part("p", "lead"),
      this.part("p", "facts"),
      this.manage.element,
      this.ranges(chosen, choose),
      this.part("dl", "tiles"),
      html(
        "div",
        { class: "figures" },
        this.figure("weights", "Weight on every arm"),
        this.figure("waits", "Outstanding, by age"),
        this.figure("values", "Value"),
        this.figure("delays", "Delay"),
        this.figure("uplift", "Uplift over the control"),
        this.figure("trust", "Certified trust"),
        this.figure("segments", "Weights by segment"),
        this.figure("calibration", "Predicted and true rewards"),
        this.figure("beliefs", "What the learner believes about each feature"),
        this.figure("tempo", "Decisions per second"),
      ),
      html(
        "section",
        { "aria-labelledby": "moves-title" },
        html("h3", { id: "moves-title" }, "Why the weights moved"),
        this.part("div", "moves-list"),
      ),
      html(
        "section",
        { "aria-labelledby": "events-title" },
        html("h3", { id: "events-title" }, "Last events"),
        this.scrolling("events", "Last events"),
      ),
    );
  }

  /** The choice of a range of time. */
  ranges(chosen, choose) {
    const made = html("fieldset", { class: "ranges" }, html("legend", {}, "Range of time"));
    for (const [value, words] of RANGES) {
      const radio = html("input", { type: "radio", name: "range", value });
      radio.checked = value === chosen;
      radio.addEventListener("change", () => choose(value));
      made.append(html("label", {}, radio, words));
    }
    return made;
  }

  part(tag, name) {
    this.parts[name] = html(tag, { class: name });
    return this.parts[name];
  }

  scrolling(name, label) {
    const about = { class: `${name} scroll`, role: "region", "aria-label": label, tabindex: 0 };
    this.parts[name] = html("div", about);
    return this.parts[name];
  }

  figure(name, title) {
    const made = html(
      "figure",
      { class: `figure-${name}` },
      this.part("h3", `${name}-title`),
      this.part("div", `${name}-chart`),
      this.part("ul", `${name}-legend`),
      this.part("figcaption", `${name}-note`),
      html(
        "details",
        {},
        html("summary", {}, "As a table", html("span", { class: "hidden" }, `: ${title}`)),
        this.scrolling(`${name}-table`, `${title}, as a table`),
      ),
    );
    this.title(name, title);
    this.parts[`${name}-figure`] = made;
    return made;
  }

  /** Show what was known at the last look, at another width. */
  again() {
    this.show(this.stats, this.isAllowed);
  }

  /** Show what is known now, and what a key may change of it. */
  show(stats, isAllowed) {
    [this.stats, this.isAllowed] = [stats, isAllowed];
    this.manage.show(stats, isAllowed);
    const arms = largest(stats, place => weightOf(stats, place));
    this.about(stats);
    figures.weights(this, stats, arms);
    figures.waits(this, stats);
    values(this, stats, arms);
    figures.delays(this, stats, arms);
    trust(this, stats, arms);
    figures.tempo(this, stats);
    figures.events(this, stats);
    this.explain(this.reasons);
  }

  /** Show why the weights moved, what a contextual learner believes, and the uplift. */
  explain(reasons) {
    this.reasons = reasons;
    showMoves(this.parts["moves-list"], reasons.moves, this.stats);
    showBeliefs(this, reasons.beliefs, this.stats);
    showSegments(this, reasons.beliefs, this.stats);
    showCalibration(this, reasons.beliefs, this.stats);
    showUplift(this, reasons.uplift);
  }

  chart(name, what, draw) {
    const place = this.parts[`${name}-chart`],
      width = Math.floor(place.clientWidth);
    if (width > 0) fill(place, [width, what], () => draw(width));
  }

  title(name, words) {
    fill(this.parts[`${name}-title`], words, made => made);
  }

  note(name, words) {
    fill(this.parts[`${name}-note`], words, made => made);
  }

  table(name, caption, head, rows) {
    fill(this.parts[`${name}-table`], [caption, head, rows], () => table(caption, head, rows));
  }

  about(stats) {
    const sum = field => stats.range.by_arm.reduce((total, arm) => total + arm[field], 0);
    const oldest = Object.values(stats.waiting.oldest_seconds);
    const age = oldest.length ? Math.max(...oldest) : null;
    fill(this.parts.name, stats.name, name => name);
    fill(this.parts.state, stats.status, status => (status === "active" ? "" : status));
    fill(this.parts.lead, `${waiting(stats.pending, age)}.`, words => words);
    fill(this.parts.facts, facts(stats), words => words);
    const isAll = stats.range.name === "all";
    const decided = isAll || stats.kind === "experts" ? stats.round : sum("decided");
    const since = isAll ? "so far" : `since ${moment(stats.range.since)}`;
    const earned = totals(stats);
    const tiles = [
      ["Decisions", number(decided), stats.kind === "experts" ? "so far" : since],
      ...(earned === null ? [] : [earned]),
      ["Per second", number(stats.decisions_per_second), "over the last minute"],
      ["Told", number(sum("told")), "outcomes reported so far"],
      ["Expired", number(sum("expired")), "counted with the default loss"],
      ["Too late", number(stats.late_reports), "told after they had expired, of all time"],
      ["Repeated", number(stats.repeated_reports), "told again since the start; counted once"],
      ["Cancelled", number(sum("cancelled")), "decisions that were not used"],
    ];
    if (stats.retained) {
      const folded = "closed tickets that are only in a checkpoint";
      tiles.push(["Retained", number(stats.retained.tickets), folded]);
    }
    fill(this.parts.tiles, tiles, () =>
      tiles.map(([name, value, note]) =>
        html(
          "div",
          {},
          html("dt", {}, name),
          html("dd", {}, html("strong", {}, value), html("small", {}, note)),
        ),
      ),
    );
  }
}

function facts(stats) {
  const [low, high] = stats.loss_range,
    told = asTold(stats),
    given = [];
  if (stats.expire_after !== null) given.push(count(stats.expire_after, "round"));
  if (stats.expire_seconds !== null) given.push(duration(stats.expire_seconds));
  const silent =
    stats.default_loss === null
      ? ""
      : `, silence means ${told.word} ${number(told.of(stats.default_loss))}`;
  const expiry =
    given.length === 0
      ? `Nothing expires${silent}`
      : `Given up after ${given.join(" or ")} with ${told.word} ${number(told.of(stats.default_loss))}`;
  const what =
    stats.kind === "bandit" ? count(stats.arms.length, "arm") : count(stats.arms.length, "expert");
  const removed = stats.by_arm.length - stats.arms.length;
  return (
    `${what}${removed > 0 ? ` and ${number(removed)} removed` : ""}, learner ${stats.learner}, ${told.word === "loss" ? "losses" : "rewards"} from ${number(low)} to ${number(high)}. ${expiry}. ` +
    `Since ${clock(stats.created, 86400)}, ${clock(stats.created)}.` +
    (stats.concern === null ? "" : ` Note: ${stats.concern}.`)
  );
}
