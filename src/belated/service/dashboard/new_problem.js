// The form that creates a problem.

import { html } from "./elements.js";
import { choice, Field, Form, input, numberIn } from "./forms.js";
import { call } from "./service.js";
import { termFields } from "./terms.js";

const KINDS = [
  ["bandit", "one arm is played, and its outcome is told"],
  ["experts", "all arms are weighed, and all outcomes are told"],
];

/** Options of a learner as JSON; as text if it is none, so that the service says what is wrong. */
function optionsIn(text) {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The two ends of the range of losses; undefined if none is given. */
function rangeIn(low, high) {
  const ends = [numberIn(low.value), numberIn(high.value)];
  if (ends.every(end => end === undefined)) return undefined;
  return ends.map(end => end ?? "");
}

function rare(field) {
  field.isRare = true;
  return field;
}

/** The fields of a new problem. */
function fields() {
  const arms = html("textarea", { rows: 4, spellcheck: "false" });
  const low = input({ inputmode: "decimal", placeholder: "0" });
  const high = input({ inputmode: "decimal", placeholder: "1", "aria-label": "to" });
  const learner = input({ placeholder: "practical-bandit" });
  const options = html("textarea", { rows: 2, spellcheck: "false", placeholder: "{}" });
  const share = input({ inputmode: "decimal" });
  return [
    new Field("name", "Name", input(), {
      hint: "Letters, digits, dots, dashes and underscores.",
      words: "name|names are unique",
    }),
    new Field("arms", "Arms", arms, {
      hint: "What is chosen from: a name on each line.",
      words: "arms?",
      read: () => arms.value.split("\n").map(line => line.trim()).filter(line => line !== ""),
    }),
    new Field("kind", "Kind", choice(KINDS)),
    new Field("loss_range", "Losses or rewards from", low, {
      hint: "The least and the largest outcome, in your units, such as 0 and 15 for a price.",
      read: () => rangeIn(low, high),
      beside: [html("span", {}, "to"), high],
    }),
    ...termFields(),
    rare(
      new Field("learner", "Learner", learner, {
        hint: "“belated learners” lists them. Empty: the one that is advised for this kind.",
      }),
    ),
    rare(
      new Field("options", "Options of the learner", options, {
        hint: "As a JSON object, such as {\"certified\": true}.",
        read: () => optionsIn(options.value),
      }),
    ),
    rare(
      new Field("holdout", "Share of a control group", share, {
        hint: "Such as 0.1: so many decisions are drawn uniformly, for comparison. Bandits only.",
        read: () => {
          const given = numberIn(share.value);
          return given === undefined ? undefined : { share: given };
        },
      }),
    ),
  ];
}

/** The form; `done` is called with the name of the problem that was made. */
export function newProblem(done) {
  const form = new Form(
    fields(),
    "Create the problem",
    async given => {
      const { name } = await call("POST", "/v1/problems", { arms: [], name: "", ...given });
      done(name);
    },
    () => history.back(),
  );
  const made = html("section", { class: "form", "aria-labelledby": "new-title" });
  made.append(html("h2", { id: "new-title", tabindex: -1 }, "New problem"), form.element);
  return made;
}
